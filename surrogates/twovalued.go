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
// is said beside.
func (c Config) twoValued() []TwoValued {
	all := slices.Clone(c.TwoValued)
	for j, column := range c.Statistics.Columns {
		if column.Lower < column.Upper && (column.Kind == Level || column.Ends) {
			v := TwoValued{make([]float64, len(c.Statistics.Columns)), column.Lower, column.Upper}
			v.Along[j] = 1
			all = append(all, v)
		}
	}
	return all
}

// split splits the laws of features by the columns of two values that would move a coefficient, until none does.
// A law of which only the curvature was released stays as it is.
func (p *Score) split(m *moments) error {
	open := p.config.twoValued()
	if p.config.Statistics.Weighted && m.plain == nil {
		return nil
	}
	for left := mostSplit; len(open) > 0 && left > 0; {
		moved, err := p.movedBySplits(open)
		if err != nil {
			return err
		}
		order := make([]int, len(open))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(moved[b], moved[a]) })
		var stay []TwoValued
		split := 0
		for _, i := range order {
			if split == left || !(moved[i] >= splitFrom) {
				stay = append(stay, open[i])
				continue
			}
			split++
			for k := range p.imputations {
				im := &p.imputations[k]
				law := im.unturned().split(open[i])
				p.config.imputeLaw(im, im.turned(law, p.config.Link))
				if im.plain != nil {
					im.plain = law
				}
			}
		}
		if split == 0 {
			return nil
		}
		open, left = stay, left-split
		if p.looked != nil {
			for k := range p.imputations {
				im := &p.imputations[k]
				im.score, _ = p.config.joint(p.looked, im.features.normal)
			}
		}
		if err := p.settle(m); err != nil {
			return err
		}
	}
	return nil
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
				newFeatures(law, p.config.Link).scores().law(one, nil, p.mean, p.config.Statistics.size())
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

// split is the law as a mixture by a column of two values, with the same second moments, or as it is where the column
// does not vary as one.
func (n *normal) split(by TwoValued) *normal {
	mean, variance, _ := n.combined(by.Along)
	most := (by.Upper - mean) * (mean - by.Lower)
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
		out.parts = append(out.parts, part.halves(by)...)
	}
	return &out
}

// halves are the laws given each value of a column, whose variance says how rare the rarer is, or the law itself where
// it stands for few records or has one value.
func (p portion) halves(by TwoValued) []portion {
	mean, variance, with := p.combined(by.Along)
	width := by.Upper - by.Lower
	if p.share < splitShare || !(variance > 1e-9*width*width) {
		return []portion{p}
	}
	rare := (1 - math.Sqrt(max(0, 1-4*variance/(width*width)))) / 2
	apart := math.Sqrt(variance / (rare * (1 - rare))) // the width, but for noise
	if 2*mean > by.Lower+by.Upper {
		apart = -apart
	}
	d := len(p.mean)
	given := func(share, off float64) portion {
		n := &normal{mean: slices.Clone(p.mean), spread: slices.Clone(p.spread)}
		for j, c := range with {
			n.mean[j] += c * off / variance
			floats.AddScaled(n.spread[j*d:(j+1)*d], -c/variance, with)
		}
		return portion{p.share * share, n.from(p.anchor)}
	}
	return []portion{given(1-rare, -rare*apart), given(rare, (1-rare)*apart)}
}
