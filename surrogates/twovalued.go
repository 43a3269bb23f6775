package surrogates

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// TwoValued says that a combination of features is Lower or Upper in every record.
type TwoValued struct {
	Along        []float64 // what it has of each feature
	Lower, Upper float64
}

// A normal law has no rare level: where one has a strong effect the mean slope of its records is not that of a normal
// law with the same variance. So of columns of two values that move the score the law of features is a mixture of
// two normal laws, one for each value, with the same second moments (docs/proofs/anchored.md).
const (
	splitFrom  = 0.1 // posterior standard deviations by which this moves a coefficient
	mostSplit  = 6   // columns
	splitShare = 0.1 // records of a law that is split further, at least
	splitEven  = 0.5 // variance of a column of two values, over that of its mean, either way
	splitTries = 3   // rounds, since the centre moves
)

// portion is a part of a mixture.
type portion struct {
	share float64
	*normal
}

func (c Config) checkTwoValued(d int) error {
	for i, v := range c.TwoValued {
		if len(v.Along) != d || !(v.Lower < v.Upper) || math.IsInf(v.Upper-v.Lower, 0) {
			return fmt.Errorf("surrogates: Config.TwoValued[%d] is of %d features between %v and %v; it must be of %d, "+
				"between finite values, the lower first", i, len(v.Along), v.Lower, v.Upper, d)
		}
	}
	return nil
}

// twoValued are the columns of two values: levels, and numbers that are likely to be at their bounds.
func (c Config) twoValued() []TwoValued {
	all := slices.Clone(c.TwoValued)
	for j, column := range c.Statistics.Columns {
		if column.Lower < column.Upper && (column.Kind == Level || column.Kind == Number && column.Ends) {
			v := TwoValued{make([]float64, len(c.Statistics.Columns)), column.Lower, column.Upper}
			v.Along[j] = 1
			all = append(all, v)
		}
	}
	return all
}

// split splits the laws of features by columns of two values that move the centre, and settles again.
func (p *Score) split(m *moments) error {
	if p.config.Statistics.Weighted {
		return nil // the curvature is that of rows of levels
	}
	open := p.config.twoValued()
	for left := mostSplit; len(open) > 0 && left > 0; {
		type moving struct {
			by TwoValued
			at float64
		}
		var all []moving
		for _, v := range open {
			at, err := p.movedBySplit(v)
			if err != nil {
				return err
			}
			all = append(all, moving{v, at})
		}
		slices.SortStableFunc(all, func(a, b moving) int { return cmp.Compare(b.at, a.at) })
		open = open[:0]
		moved := false
		for _, v := range all {
			if left == 0 || v.at < splitFrom {
				open = append(open, v.by)
				continue
			}
			left--
			moved = true
			for k := range p.imputations {
				im := &p.imputations[k]
				im.features = newFeatures(im.features.split(v.by), p.config.Link)
			}
		}
		if !moved {
			return nil
		}
		for k := range p.imputations {
			p.imputations[k].log = p.config.determinant(p.imputations[k].features)
		}
		if err := p.settle(m); err != nil {
			return err
		}
	}
	return nil
}

// movedBySplit is by how many of its posterior standard deviations a coefficient would move, at most, if laws
// of features were split by a column of two values.
func (p *Score) movedBySplit(v TwoValued) (float64, error) {
	apart, one := make([]float64, p.dim), make([]float64, p.dim)
	for i := range p.imputations {
		whole := p.imputations[i].features.normal
		split := whole.split(v)
		if split == whole {
			continue
		}
		for _, look := range p.seen() {
			for sign, n := range map[float64]*normal{-1: whole, 1: split} {
				if p.looked != nil {
					n = n.from(look.Anchor)
				}
				newFeatures(n, p.config.Link).scores().law(one, nil, p.mean, p.config.Statistics.size())
				floats.AddScaled(apart, look.share*sign/float64(len(p.imputations)), one)
			}
		}
	}
	return p.moved(apart)
}

// split is the law as a mixture by a column of two values, or as it is where that does not vary as such.
func (n *normal) split(v TwoValued) *normal {
	d := len(n.mean)
	with := make([]float64, d)
	mean, variance := dot(n.mean, v.Along), 0.0
	for j := range d {
		with[j] = dot(n.spread[j*d:(j+1)*d], v.Along)
		variance += with[j] * v.Along[j]
	}
	most := (v.Upper - mean) * (mean - v.Lower)
	if !(most > 0) || variance < splitEven*most || variance*splitEven > most {
		return n
	}
	parts := n.parts
	if parts == nil {
		parts = []portion{{1, n}}
	}
	out := *n
	out.parts = nil
	for _, part := range parts {
		if part.share < splitShare {
			out.parts = append(out.parts, part)
			continue
		}
		out.parts = append(out.parts, part.halves(v)...)
	}
	return &out
}

// halves is a normal law as a mixture of two by a column of two values, of which the rarer is as rare as the variance says.
func (p portion) halves(v TwoValued) []portion {
	d := len(p.mean)
	with := make([]float64, d)
	variance := 0.0
	for j := range d {
		with[j] = dot(p.spread[j*d:(j+1)*d], v.Along)
		variance += with[j] * v.Along[j]
	}
	width := v.Upper - v.Lower
	if !(variance > 1e-12*width*width) {
		return []portion{p}
	}
	// Shares p and 1 − p with p(1 − p)·width² the variance: the rarer value is farther from the mean.
	rare := (1 - math.Sqrt(max(0, 1-4*variance/(width*width)))) / 2
	apart := math.Sqrt(variance / (rare * (1 - rare)))
	if 2*dot(p.mean, v.Along) > v.Lower+v.Upper {
		apart = -apart
	}
	var out []portion
	for _, half := range []struct{ share, at float64 }{{1 - rare, -rare * apart}, {rare, (1 - rare) * apart}} {
		n := &normal{mean: slices.Clone(p.mean), spread: slices.Clone(p.spread), anchor: p.anchor}
		for j := range d {
			n.mean[j] += with[j] * half.at / variance
			for k := range d {
				n.spread[j*d+k] -= with[j] * with[k] / variance
			}
		}
		out = append(out, portion{p.share * half.share, n.from(p.anchor)})
	}
	return out
}

// determinant is the log of what an optimum's density has of the law of features.
func (c Config) determinant(f *features) float64 {
	s := c.Statistics
	if s.Ridge == 0 {
		return 0
	}
	d := len(s.Anchor)
	h := mat.NewSymDense(d, nil)
	h.ScaleSym(s.size(), f.information(s.Anchor))
	for j := range d {
		h.SetSym(j, j, h.At(j, j)+s.Ridge)
	}
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return 0
	}
	return chol.LogDet()
}
