package surrogates

import (
	"math"
	"slices"
)

// Amounts such as capital gains are 0 in most records, and large in a few. No normal law has such a column, and where
// it has a strong effect the few decide what the score says. Moments show it: a column that is never below a bound, and
// spreads farther than its mean is from there. So the law is a mixture there too (docs/proofs/anchored.md).

// bodyOf is how far a column's mean is from the bound that is nearer, negative if that is Upper, and how far from it
// records are that are not at it. These have that standard deviation too, as the exponential law has. It is so where
// the column spreads farther than its mean is from the bound, as no normal one can. A part of a mixture may have a mean
// beyond bounds, and says nothing then.
func (v TwoValued) bodyOf(mean, variance float64) (off, far float64, ok bool) {
	off = mean - v.Lower
	if v.Upper-mean < off {
		off = mean - v.Upper
	}
	far = (variance + off*off) / (2 * off)
	return off, far, v.Lower < mean && mean < v.Upper && variance > off*off
}

// body are the laws at a column's bound and off it, or the law itself where that may be normal.
func (p portion) body(by TwoValued) []portion {
	mean, variance, with := p.combined(by.Along)
	off, far, ok := by.bodyOf(mean, variance)
	if !ok {
		return []portion{p}
	}
	share := off / far
	at := slices.Clone(p.spread)
	condition(at, with, variance)
	parts := []portion{p.given(1-share, -off/variance, with, at)}
	for _, part := range exponential {
		own := part.sd * far / variance
		beyond := slices.Clone(at)
		condition(beyond, with, -1/(own*own))
		parts = append(parts, p.given(share*part.share, (far*part.mean-off)/variance, with, beyond))
	}
	return parts
}

// exponential are two normal laws that together have about the exponential law of mean 1, and its moments.
var exponential = func() [2]struct{ share, mean, sd float64 } {
	const share, mean, sd = 0.65, 0.43, 0.28 // of the smaller
	far := (1 - share*mean) / (1 - share)
	square := (2 - share*(mean*mean+sd*sd)) / (1 - share)
	return [2]struct{ share, mean, sd float64 }{{share, mean, sd}, {1 - share, far, math.Sqrt(square - far*far)}}
}()
