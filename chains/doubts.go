package chains

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpmcmc/dpmcmc/anchors"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Doubt is why intervals are not to be taken as they are. It follows from released values
// and public ones alone.
type Doubt struct {
	// Headline is the verdict that it leads to.
	Headline string `json:"headline"`
	// Reason is what was seen, Advice what to do.
	Reason string `json:"reason"`
	Advice string `json:"advice"`
	// Known is what can be used all the same, if that was looked at.
	Known string `json:"known,omitempty"`
	// Conditional says that intervals can be used on the headline's condition.
	Conditional bool `json:"conditional,omitempty"`
}

// Gravest is the doubt that decides a verdict: the first without a condition, or else the
// last, whose headline then has the conditions of all; nil for none.
func Gravest(doubts []Doubt) *Doubt {
	if i := slices.IndexFunc(doubts, func(d Doubt) bool { return !d.Conditional }); i >= 0 {
		return &doubts[i]
	}
	if len(doubts) == 0 {
		return nil
	}
	last := doubts[len(doubts)-1]
	last.Headline = together(doubts)
	return &last
}

// together is one headline of doubts with conditions, the gravest first: what comes before their colons,
// without what is said after, where they are several.
func together(doubts []Doubt) string {
	var conditions []string
	for _, d := range slices.Backward(doubts) {
		if condition, _, _ := strings.Cut(d.Headline, ":"); !slices.Contains(conditions, condition) {
			conditions = append(conditions, condition)
		}
	}
	if len(conditions) == 1 {
		return doubts[len(doubts)-1].Headline
	}
	for i := range conditions[1:] {
		conditions[i+1] = strings.TrimPrefix(conditions[i+1], "Usable ")
	}
	n := len(conditions) - 1
	return strings.Join(conditions[:n], ", ") + " and " + conditions[n] + "."
}

// First-order intervals are too short where less of the information is left than
// leastKept, and off by what the approximations are apart (docs/anchored-figures.md, "Aims, and what each part
// does").
const (
	leastKept = 0.6
	mostApart = 1.0
)

// mostLeft is by how many standard deviations tails may move a coefficient of counts. Anchors came
// nearer by the same law, so what it would move at the last one is a part of what it did.
const mostLeft = 0.2

// mostOut is by how many standard deviations rows that are left out may move the score.
const mostOut = 1

// doubts are those about anchored chains after a release, the gravest one last.
func (r *Plan) doubts(release anchors.Release) []Doubt {
	aim := aims[r.Settings.Aim]
	if aim == anchors.Sums {
		return slices.Concat(lightDoubts(release.Light), r.linearDoubts(release.Linear), r.cutDoubts(release.Cut),
			residualDoubts(release.Residuals))
	}
	if anchors.Order(r.Problem.Target) == 1 && aim == anchors.Score {
		return slices.Concat(r.tailDoubts(release), r.classDoubts(release), r.spreadDoubts(release.Prior))
	}
	if anchors.Order(r.Problem.Target) == 1 {
		return r.firstDoubts(release)
	}
	doubts := append(r.variedDoubts(release), r.telling(r.scoreDoubts(release), release.Prior)...)
	if release.Curved {
		doubts = append(doubts, r.tailDoubts(release)...)
	} else {
		doubts = append(r.tailDoubts(release), doubts...)
	}
	return append(doubts, slices.Concat(r.spreadDoubts(release.Prior), leftDoubts(release.Left))...)
}

// leastOrder is the correlation from which the order of records counts as known.
const leastOrder = 0.9

// telling adds to doubts what is known whatever the prior's width.
func (r *Plan) telling(doubts []Doubt, p surrogates.PriorCheck) []Doubt {
	var signs []string
	for j, sign := range p.Signs {
		if sign == 0 || r.intercept(j%r.Problem.Facts.Features) {
			continue
		}
		name := r.coefficient(j % r.Problem.Facts.Features)
		if shape := r.Problem.Shape; shape != nil && shape.Classes() > 2 {
			name += ", " + shape.Labels[j/r.Problem.Facts.Features]
		}
		signs = append(signs, fmt.Sprintf("%s (%s)", name, map[bool]string{true: "+", false: "−"}[sign > 0]))
	}
	for i := range doubts {
		switch {
		case p.Signs == nil:
		case len(signs) == 0:
			doubts[i].Known = "Under priors up to four times as wide no sign of a coefficient is known."
		default:
			doubts[i].Known = "Known under priors up to four times as wide: the signs of " + listed(signs)
			if p.Order >= leastOrder {
				doubts[i].Known += fmt.Sprintf("; the order in which predictions put records, to a correlation of %.2f",
					math.Floor(100*p.Order)/100)
			}
			doubts[i].Known += "."
		}
	}
	return doubts
}

// intercept reports whether a feature is the constant one.
func (r *Plan) intercept(j int) bool {
	return r.Problem.Shape != nil && j < len(r.Problem.Shape.Terms) && r.Problem.Shape.Terms[j].Name == data.Intercept
}

// scoreDoubts are those about a posterior given a score, and about remainders beside one.
func (r *Plan) scoreDoubts(release anchors.Release) []Doubt {
	aim := aims[r.Settings.Aim]
	switch {
	case aim != anchors.Score && aim != anchors.Remainder:
	case release.Prior.Conflict():
		return []Doubt{r.conflict(release.Prior)}
	case release.Prior.Separable():
		return []Doubt{{
			Headline: "Not usable as it stands: the release shows coefficients and does not bound their size.",
			Reason: "Coefficients of twice the size explain the release about as well, and an intercept alone far worse. " +
				"Classes that are nearly separable look like this.",
			Advice: "Use the signs of coefficients and predictions. For their size state the prior's width (prior-sd) from " +
				"what was known beforehand, or spend more; either is a new release.",
		}}
	case len(release.Prior.Narrow) > 0:
		return []Doubt{{
			Headline: "Not usable as it stands: the prior leaves out ordinary coefficients that the release cannot show.",
			Reason: fmt.Sprintf("One prior standard deviation moves the linear predictor by less than %v for a typical "+
				"record, and noise hides larger coefficients: %s.", surrogates.LeastEffect, r.coefficients(release.Prior.Narrow)),
			Advice: "Take the prior that follows how far columns spread (--prior standardized). Or state bounds, or a center " +
				"and a scale, that are nearer to the values of these columns, a wider prior (prior-sd), or spend more. Each " +
				"is a new release.",
		}}
	case len(release.Prior.Faint) > 0:
		return []Doubt{{
			Headline: "Not usable as it stands: noise hides how far columns spread within their bounds.",
			Reason: "What moves the linear predictor is the spread of a column. Together these spread less than a fifth of " +
				"what their bounds allow for, and the release does not show how much less: " +
				r.coefficients(release.Prior.Faint) + ".",
			Advice: "State bounds, or a center and a scale, that are nearer to the values of these columns, or spend more. " +
				"Each is a new release.",
		}}
	case aim == anchors.Remainder && (release.Kept < leastKept || release.Apart > mostApart):
		return []Doubt{{
			Headline: "Not usable as it stands: the first order of the release is not enough.",
			Reason: fmt.Sprintf("The noise left %.2g of the information, and the posterior given the release is %.2g of its "+
				"standard deviations from the approximation that aim remainder rests on. %v at least and %v at most are right.",
				release.Kept, release.Apart, leastKept, mostApart),
			Advice: "Fit again with aim score, which is a new release. Classes that are nearly separable look like this.",
		}}
	case len(release.Prior.Hidden) > 0:
		return []Doubt{r.hidden(release.Prior.Hidden, "a third")}
	case release.Prior.Unbounded():
		return []Doubt{{
			Headline: "Usable if the prior is believed: it, and not the release, bounds the size of coefficients.",
			Reason: "Coefficients of twice the size would explain the release about as well, or one would move by its " +
				"standard deviation under a prior twice as wide.",
			Advice: "State the prior's width (prior-sd) from what was known beforehand, spend more, or use fewer columns. " +
				"Classes that are nearly separable look like this too.",
			Conditional: true,
		}}
	}
	return nil
}

// classDoubts are scoreDoubts of a softmax regression, whose coefficients are named by their
// columns.
func (r *Plan) classDoubts(release anchors.Release) []Doubt {
	columns := func(coefficients []int) (out []int) {
		for _, j := range coefficients {
			if j %= r.Problem.Facts.Features; !slices.Contains(out, j) {
				out = append(out, j)
			}
		}
		return out
	}
	p := &release.Prior
	p.Hidden, p.Narrow, p.Coefficient = columns(p.Hidden), columns(p.Narrow), p.Coefficient%r.Problem.Facts.Features
	return r.telling(r.scoreDoubts(release), release.Prior)
}

// tailDoubts are those about features whose tails would move a coefficient, or whose law counts.
func (r *Plan) tailDoubts(release anchors.Release) []Doubt {
	most := mostShift
	counts := []string{"poisson", "negative-binomial"}
	if t, ok := r.Problem.Target.(*targets.Regression); ok && slices.Contains(counts, t.Family()) {
		most = mostLeft
	}
	reason := fmt.Sprintf("With the tails that the bounds allow for, or ask for, a coefficient would move by %.2g of its "+
		"standard deviations.", release.Tails)
	switch {
	case release.Tails > most:
	case release.Curved:
		reason = "Coefficients depend on more of their law than that: labels are told apart well, or two private optima " +
			"do not agree."
	default:
		return nil
	}
	return []Doubt{{
		Headline: "Usable if numbers are about normal: the release does not say of which law columns are.",
		Reason:   "Features are taken for normal with the released second moments. " + reason,
		Advice: "Transform columns with long tails, such as wages to their logarithm, or state bounds that are nearer to " +
			"the values of columns. Either is a new release.",
		Conditional: true,
	}}
}

// variedDoubts are those about counts whose variance is not that of the model.
func (r *Plan) variedDoubts(release anchors.Release) []Doubt {
	if !(release.Varied > mostShift) {
		return nil
	}
	if t, ok := r.Problem.Target.(*targets.Regression); ok && t.Family() == "negative-binomial" {
		return []Doubt{{
			Headline: "Usable if counts vary as the dispersion says: slopes were cut, which else moves coefficients.",
			Reason: fmt.Sprintf("With half or twice the dispersion a coefficient would move by %.2g of its standard "+
				"deviations, most often the intercept.", release.Varied),
			Advice:      "Use other coefficients than the intercept, or state a surer dispersion, which is a new release.",
			Conditional: true,
		}}
	}
	return []Doubt{{
		Headline: "Usable if counts are Poisson's: where people differ more than columns say, coefficients are off.",
		Reason: fmt.Sprintf("Roots of counts were released. If counts of mean m had the variance m + m², and not m, a "+
			"coefficient would move by %.2g of its standard deviations, most often the intercept.", release.Varied),
		Advice: "Counts of people's events often vary more. Fit model negative-binomial with a dispersion that was known " +
			"beforehand, such as 1, which is a new release.",
		Conditional: true,
	}}
}

// conflict is the doubt about a prior that the release speaks against.
func (r *Plan) conflict(p surrogates.PriorCheck) Doubt {
	reason := fmt.Sprintf("The release is %.3g times as likely under a wider prior. With a prior twice as wide the "+
		"coefficient of %s would move by %.2g of its standard deviations.", p.Favoured, r.coefficient(p.Coefficient), p.Moved)
	if p.Tail < surrogates.LeastTail {
		reason = fmt.Sprintf("Coefficients are where the prior has %.2g of its mass. %v at least is right.", p.Tail,
			surrogates.LeastTail)
	}
	return Doubt{
		Headline: "Not usable as it stands: the prior holds back what the release says.",
		Reason:   reason,
		Advice: "Use the signs of coefficients and the order of predictions that are known. If classes are nearly " +
			"separable no prior settles the size of coefficients. Else fit again with a wider prior (prior-sd), or one of " +
			"unknown width (prior_group in the schema), which is a new release.",
	}
}

// linearDoubts are those about a linear regression.
func (r *Plan) linearDoubts(c surrogates.LinearCheck) []Doubt {
	const advice = "State the prior's width (prior-sd) from what was known beforehand, in units of the scaled columns, "
	switch {
	case c.Tail < surrogates.LeastTail:
		return []Doubt{{
			Headline: "Not usable as it stands: the prior holds back what the release says.",
			Reason: fmt.Sprintf("Coefficients are where the prior has %.2g of its mass, %v at least is right. What noise "+
				"hides is drawn from the same prior, so intervals are too short there.",
				c.Tail, surrogates.LeastTail),
			Advice: advice + "or bounds of columns that are nearer to their values; either is a new release.",
		}}
	case len(c.Hidden) > 0:
		return []Doubt{r.hidden(c.Hidden, "half")}
	}
	return nil
}

// hidden is the doubt about coefficients that the release does not bound.
func (r *Plan) hidden(which []int, part string) Doubt {
	return Doubt{
		Headline: "Usable if the prior is believed: it, and not the release, bounds some coefficients.",
		Reason: "Their standard deviations are more than " + part + " of the prior's, so that larger ones would not be " +
			"seen: " + r.coefficients(which) + ".",
		Advice: "State the prior's width (prior-sd) from what was known beforehand, in units of the scaled columns, " +
			"spend more, or leave out columns that nearly follow from others.",
		Conditional: true,
	}
}

// coefficients names features.
func (r *Plan) coefficients(which []int) string {
	var names []string
	for _, j := range which {
		names = append(names, r.coefficient(j))
	}
	return strings.Join(names, ", ")
}

// cutDoubts are those about responses that were moved to their bounds.
func (r *Plan) cutDoubts(c surrogates.LinearCut) []Doubt {
	if !(c.Shift > mostShift) {
		return nil
	}
	what := "the scale of the errors"
	if c.Parameter < r.Problem.Facts.Features {
		what = "the coefficient of " + r.coefficient(c.Parameter)
	}
	return []Doubt{beyondBounds(c.Share, what, c.Shift)}
}

// residualDoubts are those about residuals that were cut, of fitted columns.
func residualDoubts(c surrogates.LinearCut) []Doubt {
	if !(c.Shift > mostShift) {
		return nil
	}
	return []Doubt{{
		Headline: "Usable if errors are about normal: the largest residuals were cut.",
		Reason: fmt.Sprintf("If responses follow the model, %.2g%% of them or more were cut, which moves a parameter by "+
			"about %.2g of its standard deviations.", 100*c.Share, c.Shift),
		Advice: "Fit again with anchor-fit no, which is a new release.", Conditional: true,
	}}
}

// mostLight is by how many times what errors and noise leave open rows that weigh less than usual may move sums.
const mostLight = 0.5

// mostHidden is the same of such rows as noise may hide. Where bounds leave less room than that, intervals held.
const mostHidden = 1.2

// lightDoubts are those about long rows, which weigh less in fitted columns.
func lightDoubts(c surrogates.LinearLight) []Doubt {
	const off = "rows so long that errors there, off by a tenth of their standard deviation, move what was released by " +
		"%.2g of its own."
	reason := ""
	switch {
	case c.Shift > mostLight:
		reason = fmt.Sprintf("%.2g%% of the records' weight is missing, more than normal columns make. Bounds allow for "+
			off, 100*c.Share, c.Shift)
	case c.Hidden > mostHidden:
		reason = fmt.Sprintf("Noise hides how many rows weigh less, and bounds allow for "+off, c.Hidden)
	default:
		return nil
	}
	return []Doubt{{
		Headline: "Usable if the model nearly holds for rows far from most others: they weigh less.",
		Reason:   reason,
		Advice: "Transform columns with long tails, such as wages to their logarithm, or add powers of columns. Either is " +
			"a new release.",
		Conditional: true,
	}}
}

// spreadDoubts are those about numbers whose spread noise hides.
func (r *Plan) spreadDoubts(p surrogates.PriorCheck) []Doubt {
	if len(p.Unseen) == 0 || len(p.Faint) > 0 {
		return nil
	}
	return []Doubt{{
		Headline: "Usable if columns spread as their bounds lead to expect: noise hides how far some do.",
		Reason: "They are taken to fill their bounds as other numbers do, or by a third, to a factor of three: " +
			r.coefficients(p.Unseen) + ".",
		Advice: "State bounds, or a center and a scale, that are nearer to the values of these columns, or spend more. " +
			"Each is a new release.",
		Conditional: true,
	}}
}

// leftDoubts are those about rows that are left out of fitted columns.
func leftDoubts(c anchors.LeftOut) []Doubt {
	if !(c.Shift > mostOut) {
		return nil
	}
	return []Doubt{{
		Headline: "Usable if the model nearly holds for rows far from most others: they are left out.",
		Reason: fmt.Sprintf("%.2g%% of the records are left out, or may be as far as noise shows. If slopes are off by a "+
			"tenth of their standard deviation there, what was released moves by %.2g of its own.", 100*c.Share, c.Shift),
		Advice: "Transform columns with long tails, such as wages to their logarithm, or state bounds that are nearer to " +
			"the values of columns. Either is a new release.",
		Conditional: true,
	}}
}

// beyondBounds is the doubt about a share of responses that moves a parameter by so many
// standard deviations.
func beyondBounds(share float64, what string, shift float64) Doubt {
	return Doubt{
		Headline: "Usable if responses stay within the schema's bounds: beyond, they count as the bound.",
		Reason: fmt.Sprintf("If responses follow the model, %.2g%% of them or more are beyond their bounds. Moving them "+
			"there moves %s by about %.2g of its standard deviations.", 100*share, what, shift),
		Advice: `If no response can be beyond its bounds say so (outside = "refuse" in the schema). Otherwise state wider ` +
			"ones, which is a new release.",
		Conditional: true,
	}
}

// coefficient names a feature.
func (r *Plan) coefficient(j int) string {
	if r.Problem.Shape == nil || j >= len(r.Problem.Shape.Terms) {
		return fmt.Sprintf("feature %d", j+1)
	}
	return r.Problem.Shape.Terms[j].Name
}

// firstDoubts are those about anchors of order 1.
func (r *Plan) firstDoubts(release anchors.Release) []Doubt {
	switch {
	case release.Hidden > 0:
		return []Doubt{{
			Headline: "Not usable as it stands: noise hides how curved the log-likelihood is.",
			Reason: fmt.Sprintf("The released curvature is within its noise in %d of %d directions, so that the anchor may be "+
				"far from the posterior and intervals too short.", release.Hidden, r.Problem.Target.Dim()),
			Advice: "Spend more, fit fewer parameters, or tighten the bounds of columns. Each is a new release.",
		}}
	case r.modes():
		return []Doubt{{
			Headline: "Usable for one mode: the draws are of that at the anchor, and the model has others.",
			Reason: "Chains that start at an anchor do not leave its mode. Exchanging the components, or units, gives another " +
				"that explains the records as well.",
			Advice:      "Use what does not depend on the order of the components, such as predictions.",
			Conditional: true,
		}}
	case len(release.Bound) > 0:
		return []Doubt{{
			Headline: "Usable if the prior is believed: it, and not the release, bounds some parameters.",
			Reason: fmt.Sprintf("The standard deviations of %d parameters are more than a third of the prior's, so that "+
				"larger ones would not be seen.", len(release.Bound)),
			Advice:      "State the prior's width (prior-sd) from what was known beforehand, spend more, or use fewer columns.",
			Conditional: true,
		}}
	case release.Shortened:
		return []Doubt{{
			Headline: "Usable if the model is believed: records that it does not expect are cut.",
			Reason: "Gradients are cut at the length of one in a thousand simulated records. If more of the real ones are " +
				"longer, such as outliers, nothing shows it.",
			Advice:      "A loss with a certificate (--loss beta --beta 1.5) bounds every record.",
			Conditional: true,
		}}
	}
	return nil
}

// modes reports whether the model's posterior is known to have several modes.
func (r *Plan) modes() bool {
	switch r.Problem.Target.(type) {
	case *targets.Mixture, *targets.Network:
		return true
	}
	return false
}
