package surrogates

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// byCategory turns the posterior of Σ xxᵀ, with its mean and variances, into one of the
// curvature Σ w·xxᵀ at the anchor, where columns are levels of categories: a level has
// a weight of its own, because Σ xxᵀ says what its records are like on average. Linear
// predictors are taken as normal within a level.
func (c Config) byCategory(m *moments) {
	d, n := m.d, float64(c.Statistics.Records)
	columns := c.Statistics.Columns
	theta := c.Statistics.Anchor
	each := mat.NewSymDense(d, nil)
	each.ScaleSym(1/n, m.positive())
	features := newNormal(each, m.constant, theta)
	plain := features.curvature(c.Link)
	plain.ScaleSym(n, plain)
	all, spread, along := features.at, features.width, features.along
	levels := make([]level, d)
	for j, col := range columns {
		if col.Kind == Level && col.Lower == 0 {
			levels[j] = c.level(m, j, col.Upper, all, spread, theta)
		}
	}
	curvature, open := mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
	whole, _ := c.weights(all, spread)
	for j := range d {
		for k := range j + 1 {
			a, b, s := levels[j], levels[k], m.mean.At(j, k)
			v, w := plain.At(j, k), whole
			switch {
			case j == k && a.is, a.is && k == m.constant:
				w = a.weight
				v = s * w
			case b.is && j == m.constant:
				w = b.weight
				v = s * w
			case a.is && b.is:
				w, _ = c.weights(a.mean+b.mean-all, max(a.spread+b.spread-spread, spread/8))
				v = s * w
			case a.is:
				w = a.weight
				v = s*w + a.count*a.upper*a.slope*along[k]
			case b.is:
				w = b.weight
				v = s*w + b.count*b.upper*b.slope*along[j]
			}
			curvature.SetSym(j, k, v)
			doubt := 0.0
			if j != k && (a.is || b.is) {
				doubt = weightDoubt * v
			}
			open.SetSym(j, k, w*w*m.open.At(j, k)+doubt*doubt)
		}
	}
	m.mean, m.open = curvature, open
}

// weightDoubt is the relative standard deviation that the normal law of linear
// predictors within a level leaves to the curvature shared by two columns.
const weightDoubt = 0.3

// level is what is known of the records that have one level of a category.
type level struct {
	is            bool
	upper, count  float64
	mean, spread  float64 // of their linear predictors; spread is a variance
	weight, slope float64 // mean of the weight and of its derivative
}

func (c Config) level(m *moments, j int, upper, all, spread float64, theta []float64) level {
	l := level{is: true, upper: upper, count: m.mean.At(j, j) / (upper * upper)}
	for k, t := range theta {
		l.mean += t * m.mean.At(j, k) / (l.count * upper)
	}
	// Where the count is not known from 0, neither is the mean.
	sure := m.mean.At(j, j) / (m.mean.At(j, j) + math.Sqrt(m.open.At(j, j)))
	l.mean = all + sure*(l.mean-all)
	share := min(0.9, l.count/float64(c.Statistics.Records))
	l.spread = max(spread-share/(1-share)*(l.mean-all)*(l.mean-all), spread/4)
	l.weight, l.slope = c.weights(l.mean, l.spread)
	return l
}

// weights are the means of the loss's second derivative and of its slope, over
// linear predictors that are normal.
func (c Config) weights(mean, variance float64) (weight, slope float64) {
	sd := math.Sqrt(max(variance, 1e-12))
	w := weightsOver(mean, sd, c.Link)
	return w[0][0], w[1][0] / sd // by Stein's identity
}
