package surrogates

import (
	"math"

	"github.com/dpmcmc/dpmcmc/diag"
)

// LinearCut is what cutting responses to their public range is predicted to have done,
// if they are normal as the model says: their law at the draws' means is cut. That law
// is itself one of cut responses, so the prediction is low. It follows from released
// values and costs nothing. A few responses that are far out leave no trace in sums.
type LinearCut struct {
	// Share is that of responses beyond the range.
	Share float64
	// Shift is how far the parameter that moves most is from where it would be without
	// the cut, in its standard deviations; Parameter is its index.
	Shift     float64
	Parameter int
}

// Cut predicts what a cut of responses to [lower, upper] did. Uncut and jointly normal
// with the features, their slopes are as much larger as responses are rarely cut (Stein).
func (l *Linear) Cut(d Draws, lower, upper float64) LinearCut {
	return l.cut(d, nil, lower, upper)
}

// WholeCut is Cut of responses as they are, but for the unit, where the sums are of residuals.
func (l *Linear) WholeCut(d Draws, lower, upper float64) LinearCut {
	if l.config.seen == nil {
		return l.cut(d, nil, lower, upper)
	}
	return l.cut(d, l.config.seen.centre, lower, upper)
}

func (l *Linear) cut(d Draws, offset []float64, lower, upper float64) LinearCut {
	beta, widths := make([]float64, l.dim), make([]float64, l.dim+1)
	for j := range widths {
		s := diag.Summarize(d.Column(j))
		widths[j] = s.SD
		if j < l.dim {
			if beta[j] = s.Mean; offset != nil {
				beta[j] += offset[j]
			}
		}
	}
	sigma := l.config.MinScale + math.Exp(diag.Summarize(d.Column(l.dim)).Mean)
	mean, explained := l.predictor(beta)
	law := cutNormal(mean, math.Sqrt(explained+sigma*sigma), lower, upper)
	c := LinearCut{Share: law.share}
	see := func(j int, shift float64) {
		if s := math.Abs(shift) / widths[j]; s > c.Shift {
			c.Shift, c.Parameter = s, j
		}
	}
	constant := ConstantOf(l.config.Sums.Columns)
	for j, b := range beta {
		if j != constant {
			see(j, law.share*b)
		} else {
			see(j, (law.mean-mean)/l.config.Sums.Columns[j].Upper)
		}
	}
	kept := 1 - law.share
	left := max(0, law.variance-kept*kept*explained)
	see(l.dim, (left/(sigma*sigma)-1)/2)
	return c
}

// predictor is the mean and the variance of the linear predictor over records.
func (l *Linear) predictor(beta []float64) (mean, variance float64) {
	n, along := l.records(), make([]float64, l.dim)
	for j := range along {
		along[j] = dot(l.square[j*l.dim:(j+1)*l.dim], beta) / n
	}
	if j := ConstantOf(l.config.Sums.Columns); j >= 0 {
		mean = along[j] / l.config.Sums.Columns[j].Upper
	}
	return mean, max(0, dot(beta, along)-mean*mean)
}

// cutLaw is the law of a normal variable that is cut to a range: moved to the nearer end.
type cutLaw struct{ share, mean, variance float64 }

func cutNormal(mean, sd, lower, upper float64) cutLaw {
	a, b := (lower-mean)/sd, (upper-mean)/sd
	below, above := math.Erfc(-a/math.Sqrt2)/2, math.Erfc(b/math.Sqrt2)/2
	density := func(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
	share := below + above
	first := a*below + b*above + density(a) - density(b)
	second := a*a*below + b*b*above + (1 - share) + a*density(a) - b*density(b)
	return cutLaw{share: share, mean: mean + sd*first, variance: sd * sd * (second - first*first)}
}
