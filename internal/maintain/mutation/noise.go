package main

var (
	inNoise = []string{"./internal/core/noise"}
	inBatch = []string{"./internal/batch"}
)

var noiseDefects = []defect{
	{file: "internal/core/noise/uniform.go", old: "for surplus := -n % n; lo < surplus; {",
		new: "for surplus := uint64(0); lo < surplus; {", tests: inNoise},
	{file: "internal/core/noise/uniform.go", old: "return u < digits", new: "return u <= digits", tests: inNoise},
	{file: "internal/core/noise/uniform.go", old: "return e / (1 + e), u >= 0", new: "return e / (2 + e), u >= 0",
		tests: inNoise},
	{file: "internal/batch/subset.go", old: "s.marked[i>>6] = 0", new: "s.marked[i>>7] = 0", tests: inBatch},
	{file: "internal/batch/subset.go", old: "k == m || *word&bit != 0", new: "k == m", tests: inBatch},
	{file: "internal/batch/subset.go", old: "low >= -n%n", new: "low >= 0", tests: inBatch},
	{file: "internal/core/noise/source.go", old: "return newSource(expand(s.key, " +
		"\"child\"+string(binary.BigEndian.AppendUint64(nil, label))), s.insecure)",
		new: "_ = binary.BigEndian\n\treturn newSource(expand(s.key, \"child\"), s.insecure)", tests: inNoise},
	{file: "internal/core/noise/source.go",
		old: "func NewInsecure(seed [32]byte) *Source { return newSource(seed, true) }",
		new: "func NewInsecure(seed [32]byte) *Source { return newSource(seed, false) }", tests: inNoise},
	{file: "internal/core/noise/gaussian.go", old: "case !below || x == 0 && negative: // zero has one sign only",
		new: "case !below:", tests: inNoise},
	{file: "internal/core/noise/gaussian.go", old: "upper: min(g.density(start)+g.slack, one)}",
		new: "upper: min(last+g.slack, one)}", tests: inNoise},
	{file: "internal/core/noise/gaussian.go", old: "uint(183-2*g.shift)", new: "uint(184-2*g.shift)", tests: inNoise},
	{file: "internal/core/noise/gaussian.go", old: "return x, g.decide(src, height, uint(k)+1, x)",
		new: "return x, g.decide(src, height, uint(k), x)", tests: inNoise},
	{file: "internal/batch/binomial.go", old: "if b.cumulative[mid].atMost(u) {", new: "if !b.cumulative[mid].atMost(u) {",
		tests: inBatch},
	{file: "internal/batch/binomial.go", old: "ratio.SetInt64(m.n - k)", new: "ratio.SetInt64(m.n - k + 1)",
		tests: inBatch},
	{file: "internal/batch/binomial.go", old: "if u.beyond(below) && above.beyond(u) || b.constant() {",
		new: "if true || above.beyond(below) {", tests: inBatch},
	{file: "internal/batch/binomial.go", old: "known.Lsh(known, 64)", new: "known.Lsh(known, 63)", tests: inBatch},
	{file: "internal/core/noise/expneg.go", old: "if i%2 == 1 {\n\t\t\tsum.Sub",
		new:   "if i%2 == 1 || i > 8 {\n\t\t\tsum.Sub",
		tests: inNoise},
}
