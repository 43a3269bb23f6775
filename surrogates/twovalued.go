package surrogates

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// TwoValued says that a combination of features is Lower or Upper in every record.
type TwoValued struct {
	Along        []float64 // what it has of each feature
	Lower, Upper float64
	beside       []int // features that do not vary where it is Upper: other levels of the category
	body         bool  // no two values: most records may be at a bound, and the others spread from it
}

// A normal law has no rare level. Where one has a strong effect the mean slope of its records is not that under a
// normal law with the same second moments. So where that would move a coefficient the law of features is a mixture
// of normal ones, one for each value (docs/proofs/anchored.md).
const (
	splitFrom  = 0.1 // posterior standard deviations by which it would
	mostSplit  = 6   // columns of two values
	splitShare = 0.1 // share of the records of a law that is split further
	splitEven  = 0.5 // variance over that of a column with the mean, and the other way, from which it counts as one
)

// portion is a part of a mixture.
type portion struct {
	share float64
	*normal
}

func (c Config) checkTwoValued(d int) error {
	for i, v := range c.TwoValued {
		if len(v.Along) != d || !(v.Lower < v.Upper) || math.IsInf(v.Upper-v.Lower, 0) {
			return fmt.Errorf("surrogates: Config.TwoValued[%d] combines %d of %d features and has values %v and %v; it "+
				"must combine all, and its values be finite, the lower first", i, len(v.Along), d, v.Lower, v.Upper)
		}
	}
	return nil
}

// twoValued are the columns of two values: levels, numbers that are likely to be at their bounds, and what
// is said beside. So are other numbers with bounds, which may be at one of them in most records.
func (c Config) twoValued() []TwoValued {
	all, columns := slices.Clone(c.TwoValued), c.Statistics.Columns
	for j, column := range columns {
		if column.Lower < column.Upper && (column.Kind == Level || column.Kind == Number) {
			v := TwoValued{Along: make([]float64, len(columns)), Lower: column.Lower, Upper: column.Upper,
				body: column.Kind == Number && !column.Ends}
			v.Along[j] = 1
			for k, other := range columns {
				if column.Kind == Level && other.Kind == Level && other.Group == column.Group && k != j {
					v.beside = append(v.beside, k)
				}
			}
			all = append(all, v)
		}
	}
	return all
}

// splitAll splits laws by the columns of two values that would move a coefficient, until none does: moved says by how
// much each would, and split splits by those that do.
func splitAll(open []TwoValued, moved func([]TwoValued) ([]float64, error), split func([]TwoValued) error) error {
	for left := mostSplit; len(open) > 0 && left > 0; {
		by, err := moved(open)
		if err != nil {
			return err
		}
		order := make([]int, len(open))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(by[b], by[a]) })
		var stay, chosen []TwoValued
		for _, i := range order {
			if len(chosen) < left && by[i] >= splitFrom {
				chosen = append(chosen, open[i])
			} else {
				stay = append(stay, open[i])
			}
		}
		if len(chosen) == 0 {
			return nil
		}
		if err := split(chosen); err != nil {
			return err
		}
		open, left = stay, left-len(chosen)
	}
	return nil
}

// split splits the laws of features by columns of two values. A law of which only the curvature was released stays as
// it is.
func (p *Score) split(m *moments) error {
	if p.config.Statistics.Weighted && m.plain == nil {
		return nil
	}
	return splitAll(p.config.twoValued(), p.movedBySplits, func(by []TwoValued) error {
		for k := range p.imputations {
			im := &p.imputations[k]
			law := im.unturned().splitBy(by)
			p.config.imputeLaw(im, im.turned(law, p.config.Link))
			if im.plain != nil {
				im.plain = law
			}
			if p.looked != nil {
				im.score, _ = p.config.joint(p.looked, im.features.normal)
			}
		}
		return p.settle(m)
	})
}

// movedBySplits are by how many of its posterior standard deviations a coefficient would move, at most and to first
// order, if laws of features were split by each of some columns.
func (p *Score) movedBySplits(by []TwoValued) ([]float64, error) {
	apart, one := make([][]float64, len(by)), make([]float64, p.dim)
	for i := range apart {
		apart[i] = make([]float64, p.dim)
	}
	for k := range p.imputations {
		im := &p.imputations[k]
		whole := im.unturned()
		for _, look := range p.seen() {
			mean := func(law *normal) []float64 {
				law = im.turned(law, p.config.Link)
				if p.looked != nil {
					law = law.from(look.Anchor)
				}
				meanScore(one, law, p.config.Link, p.mean, p.config.Statistics.size())
				return one
			}
			before, weight := slices.Clone(mean(whole)), look.share/float64(len(p.imputations))
			for i, v := range by {
				if split := whole.split(v); split != whole {
					floats.AddScaled(apart[i], weight, mean(split))
					floats.AddScaled(apart[i], -weight, before)
				}
			}
		}
	}
	moved := make([]float64, len(by))
	for i := range moved {
		var err error
		if moved[i], err = p.moved(apart[i]); err != nil {
			return nil, err
		}
	}
	return moved, nil
}

// combined are a combination's mean, its variance and its covariance with the features.
func (n *normal) combined(along []float64) (mean, variance float64, with []float64) {
	d := len(along)
	with = make([]float64, d)
	for j := range d {
		with[j] = dot(n.spread[j*d:(j+1)*d], along)
	}
	return dot(n.mean, along), dot(with, along), with
}

// split is the law as a mixture by a column of two values, or of a number at a bound, with the same second moments, or
// as it is where the column does not vary as one.
func (n *normal) split(by TwoValued) *normal {
	mean, variance, _ := n.combined(by.Along)
	most := (by.Upper - mean) * (mean - by.Lower)
	two := variance >= splitEven*most
	if !(most > 0) || variance*splitEven > most || !by.body && !two {
		return n
	}
	by.body = by.body && !two
	parts := n.parts
	if parts == nil {
		parts = []portion{{1, n}}
	}
	out := *n
	out.parts = nil
	for _, part := range parts {
		out.parts = append(out.parts, part.halves(by)...)
	}
	if len(out.parts) == len(parts) {
		return n
	}
	return &out
}

// splitBy is the law split by each of some columns.
func (n *normal) splitBy(all []TwoValued) *normal {
	for _, by := range all {
		n = n.split(by)
	}
	return n
}

// halves are the laws given each value of a column, whose variance says how rare the rarer is, or the law itself where
// it stands for few records or has one value.
func (p portion) halves(by TwoValued) []portion {
	mean, variance, with := p.combined(by.Along)
	width := by.Upper - by.Lower
	if p.share < splitShare || !(variance > 1e-9*width*width) {
		return []portion{p}
	}
	if by.body {
		return p.body(by)
	}
	share := (1 - math.Sqrt(max(0, 1-4*variance/(width*width)))) / 2 // of the rarer
	apart := math.Sqrt(variance / (share * (1 - share)))             // the width, but for noise
	if 2*mean > by.Lower+by.Upper {
		share = 1 - share
	}
	d := len(p.mean)
	lower, least := slices.Clone(p.spread), 1e-12*floats.Max(p.spread)
	condition(lower, with, variance)
	upper := slices.Clone(lower)
	for _, j := range by.beside {
		if variance := upper[j*(d+1)]; variance > least { // less is rounding
			condition(upper, slices.Clone(upper[j*d:(j+1)*d]), variance)
		}
	}
	floats.AddScaled(lower, -share, upper) // together they have what is left
	floats.Scale(1/(1-share), lower)
	return []portion{p.given(1-share, -share*apart/variance, with, lower),
		p.given(share, (1-share)*apart/variance, with, upper)}
}

// given is a share of a law, so many times with off its mean.
func (p portion) given(share, off float64, with, spread []float64) portion {
	n := &normal{mean: slices.Clone(p.mean), spread: spread}
	floats.AddScaled(n.mean, off, with)
	return portion{p.share * share, n.from(p.anchor)}
}

// condition takes from a covariance what a combination of features explains, given its variance and its covariance with
// them.
func condition(spread, with []float64, variance float64) {
	d := len(with)
	for j, c := range with {
		floats.AddScaled(spread[j*d:(j+1)*d], -c/variance, with)
	}
}
