package planted

import "slices"

// subtle are families, and single defects, whose effect is too small for Quick.
var subtleFamilies = []string{"invariance of walks", "invariance of Langevin steps", "reach",
	"steps against Transition"}

// unseenSubtle are those of the defects written unseen.
var unseenSubtle = []string{"gradient clipped in each coordinate", "prior's gradient twice far out",
	"both coordinates share the noise's size", "noise of the drift's sign", "temperature of uphill moves",
	"autoregressive, no correction", "wider above the median", "scale follows the last answer", "swaps the coordinates",
	"log prior of the last chain's state", "clamped to a box", "draws with heavier tails",
	"prior's support smaller than its draws", "normals from ten-bit uniforms, additive",
	"a release in 10⁴ without noise for one data set, not additive",
	"noise correlated with the 217th before, not additive", "noise of period 65 536, additive",
	"every 50th bit is certain", "sign by a biased coin, additive", "NaN for a total of zero, not additive",
	"noise too small at even seeds, additive", "bits of a probit", "multiplied by a lognormal, no Jacobian",
	"Jacobian for positive values only", "prior ratio clamped",

	// Of the fresh ones.
	"θ′ is copied over θ for a while", "every 100th prior draw repeats the one before", "prior draws share their scale",
	"now and then a draw of the prior, uncorrected", "scale adapts for ever",
	"prior ratio too small for long moves", "shifted at every seventh iteration", "Jacobian of a stretch halved far out",
	"drift too strong where it is negative", "noise of Student's law of the same sd", "says refused, and moves a little",
	"the second noise has the first one's sign now and then", "the state's low bits from step 3000 on",
	"the record itself at 1/1000, far out, not additive", "rounded to a fine grid that the data set, not additive",
	"coordinates share their scale, of three numbers", "the first release of a call has half the noise, additive",
	"the scale follows the sign before, not additive", "each third sign is the product of the two before, additive",
	"noise correlated with the 20 000th before, additive",

	// Of the second and third ones.
	"refuses to leave a corner", "long moves upwards turn round", "one noise by the other's state",
	"noise too small at even iterations", "steps upwards too long, downwards too short",
	"wide steps now and then, by the state's sign", "noise grows with the total, not additive",
	"the third number follows the first, two back, of three numbers",
	"tails drawn again, not additive", "after five ones comes a zero", "seeds in pairs, additive",
	"the second number without noise now and then, of two numbers",
	"a call for one release has half the noise, additive", "noise in single precision, not additive",
	"half the noise now and then, not additive", "less noise with many records, additive",
	"certain one time in 300", "the record itself, far out, not additive",

	// Of the fourth and fifth ones.
	"predictors in a buffer of the target", "noise of the ratio not corrected for", "one noise for all coordinates",
	"Laplace noise for the Euclidean norm", "sample and noise from one seed",
	"the threshold's noise is drawn once a call", "the fullest bin and its count for one price",
	"gradient of the prior where the trajectory began", "the step's scale and the test from one number",
	"goes to a draw of the prior", "proposals of the law, corrected for a narrower one",
	"half the noise in the eighth of ten numbers", "two of ten numbers share their noise",
	"counts one gradient for four", "a median by its rank without the half",
	"a clip of twice the median", "the answer for a sum that came before",
	"the sign of small noise follows the record, not additive", "momentum not reversed after a refusal",

	// Of the sixth ones.
	"the 37th of 50 prior draws", "prior draws more often positive", "a parameter that is 0 stays 0",
	"half the noise of the ratio corrected for", "the seventh of ten noises is small",
	"noise is small along one direction", "neighbours share the coin of a sample",
	"one side of Laplace noise is small",

	// Of the seventh ones.
	"less noise when records are equal, not additive", "noise in waves of 100 releases, additive",
	"samples more than it says", "a lie repeats the last one", "a little noise after accepted moves",
	"kinetic energy of larger masses", "the third of ten moves too long upwards", "noise of one length",
	"the 150th of 200 gradients for small features",
}

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
	return slices.Contains(subtleFamilies, c.Family) || slices.Contains(subtle, c.Name) ||
		slices.Contains(unseenSubtle, c.Name)
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

	"autoregressive, no correction":   "a pull of 2% of the distance on the moves that are accepted: 0.6% of it a step",
	"wider above the median":          "1% more moves from one half of the law than back",
	"θ′ is copied over θ for a while": "on one core it shows only where the scheduler switches in between",
	"swaps the coordinates":           "the law is symmetric in them: what is left is 0.0013 sd a step",
	"sign by a biased coin, additive": "half a percent of the body, most of which a shift of the whole explains, " +
		"and a claim that is met but for it",
	"half the noise now and then, not additive": "its δ exceeds the claim's by 6·10⁻⁴ at ε = 0, " +
		"and nowhere beyond ε = 1.5",
	"less noise with many records, additive": "the number of records is public under substitution, and the pair has " +
		"two: a mechanism is tested at the size that it is used at",
	"wide steps now and then, by the state's sign": "1% of all proposals, most of which are refused",
	"certain one time in 300":                      "0.13% of one bit: below what a million releases make suspicious",
	"the record itself, far out, not additive":     "3 in 100 000, whose absence from B takes 10⁸ releases to show",
	"the sign of small noise follows the record, not additive": "0.2% of all releases, in parts of two cells: below " +
		"what a million releases make suspicious",
	"a release in 10⁴ without noise for one data set, not additive": "now and then too few of them in the first part to " +
		"raise a suspicion",
	"a little noise after accepted moves":   "one variance is 0.3% too large after a step, and 0.5% after many",
	"first half step is short":              "one variance is 0.5% off after a step, the other 0.2%",
	"predictors in a buffer of the target":  "on one core it shows only where the scheduler switches in between",
	"an empty batch":                        "the curator shows a user's target single records, so a right one may panic",
	"counts one gradient for four":          "no check knows which releases are gradients, a count for observers",
	"NaN for a total of zero, not additive": "3 in 10 000 releases, as many as the claim's δ lets differ at any ε",
}

// explained fills in why a defect may pass.
func explained(all []Case) []Case {
	for i, c := range all {
		all[i].Survivor = survivors[c.Name]
	}
	return all
}
