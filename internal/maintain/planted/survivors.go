package planted

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
	"wide steps now and then, by the state's sign": "1% of all proposals, most of which are refused",
	"certain one time in 300":                      "0.13% of one bit: below what a million releases make suspicious",
	"the record itself, far out, not additive":     "3 in 100 000, whose absence from B takes 10⁸ releases to show",
	"the sign of small noise follows the record, not additive": "0.2% of all releases, in parts of two cells: below " +
		"what a million releases make suspicious",
	"a release in 10⁴ without noise for one data set, not additive": "now and then too few of them in the first part to " +
		"raise a suspicion",
	"a little noise after accepted moves":            "one variance is 0.3% too large after a step, and 0.5% after many",
	"drift of one parameter has some of the other's": "a correlation of one hundredth",
	"all of ten moves wider above zero of the third": "less than 1% more moves from one side than back",
	"the first of five moves too long where the last is large": "one move in three, and less than 1% more of them " +
		"than back",
	"the price of a selection too low": "δ is exceeded by 6·10⁻⁴ among ten records, and 6·10⁷ releases show it",
	"a loss depends on the clock":      "one millisecond of every second, which calls may miss",
	"StepSize by the clock":            "one millisecond of every second, which calls may miss",
	"a kept scale adapts ever less":    "one variance is 0.14% too small after five steps, and 1.2% after sixty",
	"a ratio of densities that vanish far away": "from 38 prior sd on the chain never moves, and right ones may refuse " +
		"every move there",
	"the only parameter goes a little farther up": "the mean is off by 0.002 sd after five steps, and by 0.003 in the end",
	"the kept log prior is renewed after long moves only": "a mean is off by 0.003 sd after 20 steps, and by 0.005 " +
		"after 200, by simulation",
	"drift by the gradient's sign where it is small": "a variance is off by 0.01%, by quadrature",
	"a refusal reverses one momentum of two":         "no variance is 0.5% off after 200 steps, by simulation",
	"first half step is short":                       "one variance is 0.5% off after a step, the other 0.2%",
	"an empty batch": "the curator shows a user's target single records, so a right one " +
		"may panic",
	"the number that is reported is chosen by size": "ε is 1.06 for 1 between the farthest records, and 1 between A " +
		"and B; found in seconds where A and B are the former, or where the choice varies by 30%",
	"clipped at bounds a tenth wider than the noise's": "ε is 1.04 for 1 between few neighbours, and its sets exceed " +
		"δ by half a percent",
	"batches are neighbours from a random place on": "few tables have other records that tell the batches apart; " +
		"found on one stream of the mechanism's and not on another",
	"two queries pass for the price of one": "δ is exceeded by a thousandth at most, and at most tables by nothing",
	"the classical normal noise for an ε of 12": "its set has 4·10⁻⁸ of B, and 10⁹ releases show it; at a smaller ε the " +
		"claim allows nearly all",
	"the classical normal noise by another logarithm": "δ is exceeded by 2.6·10⁻⁴ at one ε, and nowhere else: ten " +
		"million releases show it",
	"noise of three thousand releases is in strata, additive": "sums of 4096 in a row are half as large: ten million " +
		"releases show it",
	"the scale adapts by every step, for ever": "no variance is 0.6% off after 200 steps, by simulation",
	"effects are drawn within 3.5 of their scale": "2 in 10 000 draws on either side, given the scale, for which a " +
		"quadrature is not exact enough",
	"a layer of Laplace noise is level, additive": "a layer with 6% of the noise, whose density is 2.5% off at most",
	"NaN for a total of zero, not additive":       "3 in 10 000 releases, as many as the claim's δ lets differ at any ε",
}
