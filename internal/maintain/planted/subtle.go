package planted

import "slices"

// subtle are families, and single defects, whose effect is too small for Quick.
var subtleFamilies = []string{"invariance of walks", "invariance of Langevin steps", "reach", "steps against Transition"}

var subtle = []string{
	"SamplePrior too wide", "SamplePrior shifted", "SamplePrior cut off", "SamplePrior correlated",
	"noise too small, on a grid", "noise too small, of three numbers", "noise too small, not additive",
	"sum of twelve uniforms, additive", "tails cut off, additive", "tails cut off, of three numbers", "one tail folded, on a grid",
	"a mixture of two sds, additive", "noise repeated every 100th release, not additive", "noise correlated with the last, not additive",
	"noise shrinks late, not additive", "log-odds too steep", "allocates rarely",
}

// Subtle reports whether Quick is not asked to find a defect.
func (c Case) Subtle() bool {
	return slices.Contains(subtleFamilies, c.Family) || slices.Contains(subtle, c.Name)
}
