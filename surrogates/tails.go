package surrogates

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Features with tails are a mixture of two normal laws that has the moments of one: tailShare of
// records are tailReach times as far from the mean, where bounds allow for it. Where bounds are
// nearer than shortReach standard deviations tails are shorter than normal ones. A uniform law's
// fourth moment is off by 2/5 as much, the other way.
const (
	tailShare  = 0.1
	tailReach  = 2
	shortReach = 2.25
	shortShare = 0.4
)

// Tails is by how many of its posterior standard deviations a coefficient would move, at most, if
// features had longer tails than the normal law that stands for them, with the same second
// moments, or shorter ones where columns' bounds cut those of a normal law. It is to first order,
// and 0 where bounds leave room for a normal law and no more.
func (p *Score) Tails() (float64, error) {
	apart, one := make([]float64, p.dim), make([]float64, p.dim)
	for i := range p.imputations {
		n := p.imputations[i].features.normal
		far, weight := p.room(n), 1/float64(len(p.imputations))
		if far < shortReach/3 {
			far, weight = tailReach, shortShare*weight
		}
		far = max(1, far)
		near := math.Sqrt((1 - tailShare*far*far) / (1 - tailShare))
		for _, part := range []struct{ share, scale float64 }{{-1, 1}, {1 - tailShare, near}, {tailShare, far}} {
			wide := n.spreadOut(part.scale)
			for _, look := range p.seen() {
				at := wide
				if p.looked != nil {
					at = wide.from(look.Anchor)
				}
				meanScore(one, at, p.config.Link, p.mean, p.config.Statistics.size())
				floats.AddScaled(apart, look.share*part.share*weight, one)
			}
		}
	}
	return p.moved(apart)
}

// moved is by how many of its posterior standard deviations a coefficient would move, at most and to
// first order, if the mean score were so far off.
func (p *Score) moved(apart []float64) (float64, error) {
	h := p.slope(p.mean)
	noisy, err := p.factorized(p.mean, h)
	if err != nil {
		return 0, err
	}
	var shift, u mat.VecDense
	if err := noisy.SolveVecTo(&u, mat.NewVecDense(p.dim, apart)); err != nil {
		return 0, err
	}
	shift.MulVec(h, &u)
	factor, most := mat.NewDense(p.dim, p.dim, p.factor), 0.0
	var whole, along mat.VecDense
	whole.MulVec(factor.T(), &shift)
	for j := range p.dim { // the covariance's row times the shift of the gradient
		along.MulVec(factor.T(), p.combination(j))
		most = max(most, math.Abs(mat.Dot(&along, &whole))/mat.Norm(&along, 2))
	}
	return most, nil
}

// seen are the scores.
func (p *Score) seen() []sharedLook {
	if p.looked != nil {
		return p.looked
	}
	s := p.config.Statistics
	return []sharedLook{{Look{s.Anchor, s.Score, s.ScoreSD}, 1, s.ScoreSD}}
}

// room is how many times as far as three standard deviations of a normal law a column's bounds
// are, for the column of the widest, up to tailReach and with a typical row within the radius. It
// is 1 where no column is a number.
func (p *Score) room(n *normal) float64 {
	s := p.config.Statistics
	far, mean, variance := 0.0, 0.0, 0.0
	for j := range p.dim {
		m, v := n.moments(j)
		mean, variance = mean+m*m, variance+v
		if v <= 0 || s.Columns != nil && s.Columns[j].Kind != Number {
			continue
		}
		reach := math.Inf(1)
		if s.Columns != nil && s.Columns[j].Lower < s.Columns[j].Upper {
			reach = max(s.Columns[j].Upper-m, m-s.Columns[j].Lower)
		}
		far = max(far, reach/(3*math.Sqrt(v)))
	}
	if far == 0 {
		return 1
	}
	return min(far, tailReach, max(1, math.Sqrt(max(0, s.Radius*s.Radius-mean)/variance)))
}

// spreadOut is the law with the same mean and so many times the standard deviations.
func (n *normal) spreadOut(by float64) *normal {
	out := *n
	out.spread, out.along = make([]float64, len(n.spread)), make([]float64, len(n.along))
	floats.ScaleTo(out.spread, by*by, n.spread)
	floats.ScaleTo(out.along, by*by, n.along)
	out.width *= by * by
	out.parts = n.each(func(part *normal) *normal { return part.spreadOut(by) })
	return &out
}

// from is the law beside predictors at another anchor.
func (n *normal) from(anchor []float64) *normal {
	d, out := len(anchor), *n
	out.anchor, out.along = anchor, make([]float64, d)
	for j := range d {
		out.along[j] = dot(out.spread[j*d:(j+1)*d], anchor)
	}
	out.at, out.width = dot(out.mean, anchor), max(0, dot(out.along, anchor))
	out.parts = n.each(func(part *normal) *normal { return part.from(anchor) })
	return &out
}
