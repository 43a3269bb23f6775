package main

var (
	inLaws    = []string{"./internal/laws"}
	inAccept  = []string{"./internal/accept", "./curator"}
	inKernels = []string{"./kernels", "./internal/laws"}
)

var samplerDefects = []defect{
	{file: "kernels/walk.go", old: "return w.target.LogPrior(next) - w.prior",
		new: "return w.prior - w.target.LogPrior(next)", tests: inLaws},
	{file: "kernels/walk.go", old: "w.theta, w.prior = s.Theta, w.target.LogPrior(s.Theta)",
		new: "w.theta = s.Theta\n\tif s.Iteration == 0 {\n\t\tw.prior = w.target.LogPrior(s.Theta)\n\t}", tests: inLaws},
	{file: "kernels/walk.go", old: "if accepted {\n\t\tcopy(s.Theta, w.next)",
		new: "if !accepted {\n\t\tcopy(s.Theta, w.next)", tests: inLaws},
	{file: "barker/barker.go", old: "Target: c.Target, Temperature: c.Temperature, Proposal: c.Proposal",
		new: "Target: c.Target, Proposal: c.Proposal", tests: inLaws},
	{file: "kernels/kernel.go", old: "Theta: slices.Clone(theta)", new: "Theta: slices.Clip(theta)", tests: inKernels},
	{file: "curator/proposal.go", old: "step[from.IntN(len(step))] = p.Scale * from.NormFloat64()",
		new: "step[from.IntN(len(step))] = p.Scale * math.Abs(from.NormFloat64())", tests: inCurator},
	{file: "curator/propose.go", old: "if !(math.Sqrt(sum) > p.Radius*(1-1e-12)) {",
		new: "if !(sum > p.Radius*(1-1e-12)) {", tests: inCurator},
	{file: "kernels/run.go", old: "binary.LittleEndian.PutUint64(key[8:], uint64(chain))", new: "_ = chain",
		tests: inKernels},
	{file: "kernels/run.go", old: "if n%o.Thin == 0 {", new: "if n%o.Thin == 1%o.Thin {", tests: inKernels},
	{file: "internal/accept/corrected.go", old: "t.mixture.Tail(math.Abs(u), t.mixture.C-v)",
		new: "t.mixture.Tail(math.Abs(u), t.mixture.C)", tests: inAccept},
	{file: "internal/accept/variance.go", old: "return (1 - q) * squares", new: "return squares", tests: inAccept},
	{file: "internal/accept/variance.go", old: "return spread * (size / (size - 1)) * (float64(n-b) / float64(n))",
		new: "return spread * (float64(n-b) / float64(n))", tests: inAccept},
	{file: "sgnht/sgnht.go", old: "!k.Inside(s.Theta) {", new: "false {", tests: []string{"./sgnht"}},
	{file: "penalty/penalty.go", old: "return k.config.Target.LogPrior(next) - k.prior",
		new: "return k.config.Target.LogPrior(next)", tests: inLaws},
}
