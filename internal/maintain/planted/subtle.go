package planted

import "slices"

// subtle are families, and single defects, whose effect is too small for Quick.
var subtleFamilies = []string{"invariance of walks", "invariance of Langevin steps", "reach",
	"steps against Transition"}

var subtle = []string{
	"SamplePrior too wide", "SamplePrior shifted", "SamplePrior cut off", "SamplePrior correlated",
	"noise too small, on a grid", "noise too small, of three numbers", "noise too small, not additive",
	"sum of twelve uniforms, additive", "tails cut off, additive", "tails cut off, of three numbers",
	"one tail folded, on a grid",
	"a mixture of two sds, additive", "noise repeated every 100th release, not additive",
	"noise correlated with the last, not additive",
	"noise shrinks late, not additive", "log-odds too steep", "allocates rarely",
}

// Subtle reports whether Quick is not asked to find a defect.
func (c Case) Subtle() bool {
	return slices.Contains(subtleFamilies, c.Family) || slices.Contains(subtle, c.Name)
}

// survivors may pass at Standard: why, by name.
var survivors = map[string]string{
	"extra refusals upwards":      "1% of the upward moves that are accepted, at the edge of what shows",
	"drift":                       "0.004 sd a step: at the edge of what half a million chains of five steps show",
	"jumps upwards":               "0.0024 sd a step",
	"shrinks towards the center":  "0.2% a step of one variance",
	"couples the coordinates":     "a correlation below one hundredth",
	"drift from iteration 100 on": "0.008 sd a step, of the two chains in five that start so late",
	"scale below two sd":          "2.3% of the law, and the moves there that are accepted",
}

// explained fills in why a defect may pass.
func explained(all []Case) []Case {
	for i, c := range all {
		all[i].Survivor = survivors[c.Name]
	}
	return all
}
