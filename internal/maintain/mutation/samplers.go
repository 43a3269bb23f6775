package main

var (
	inLaws    = []string{"./internal/laws"}
	inAccept  = []string{"./internal/accept", "./curator"}
	inKernels = []string{"./kernels", "./internal/laws"}
)

var samplerDefects = []defect{
	{file: "barker/barker.go", old: "return k.config.Target.LogPrior(next) - k.prior",
		new: "return k.prior - k.config.Target.LogPrior(next)", tests: inLaws},
	{file: "barker/barker.go", old: "k.prior = k.config.Target.LogPrior(s.Theta)",
		new: "if s.Iteration == 0 {\n\t\tk.prior = k.config.Target.LogPrior(s.Theta)\n\t}", tests: inLaws},
	{file: "barker/barker.go", old: "if accepted {\n\t\tcopy(s.Theta, k.next)",
		new: "if !accepted {\n\t\tcopy(s.Theta, k.next)", tests: inLaws},
	{file: "barker/barker.go", old: "Target: c.Target, Temperature: c.Temperature, Move: move",
		new: "Target: c.Target, Move: move", tests: inLaws},
	{file: "kernels/kernel.go", old: "Theta: slices.Clone(theta)", new: "Theta: slices.Clip(theta)", tests: inKernels},
	{file: "kernels/proposal.go", old: "next[rng.IntN(len(next))] += p.scale * rng.NormFloat64()",
		new: "next[rng.IntN(len(next))] += p.scale * rng.ExpFloat64()", tests: inKernels},
	{file: "kernels/proposal.go", old: "if !(math.Sqrt(sum) > p.radius*(1-1e-12)) {",
		new: "if !(sum > p.radius*(1-1e-12)) {", tests: inKernels},
	{file: "kernels/run.go", old: "binary.LittleEndian.PutUint64(key[8:], uint64(chain))", new: "_ = chain",
		tests: inKernels},
	{file: "kernels/run.go", old: "if n%o.Thin == 0 {", new: "if n%o.Thin == 1%o.Thin {", tests: inKernels},
	{file: "internal/accept/corrected.go", old: "t.mixture.Tail(math.Abs(u), t.mixture.C-v)",
		new: "t.mixture.Tail(math.Abs(u), t.mixture.C)", tests: inAccept},
	{file: "internal/accept/variance.go", old: "return (1 - q) * squares", new: "return squares", tests: inAccept},
	{file: "internal/accept/variance.go", old: "return spread * (size / (size - 1)) * (float64(n-b) / float64(n))",
		new: "return spread * (float64(n-b) / float64(n))", tests: inAccept},
	{file: "dpsgld/thermostat.go", old: "!allowed(k.config, s.Theta) {", new: "false {", tests: []string{"./dpsgld"}},
	{file: "penalty/penalty.go", old: "return k.config.Target.LogPrior(next) - k.prior",
		new: "return k.config.Target.LogPrior(next)", tests: inLaws},
}
