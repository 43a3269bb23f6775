package accountant

// Proof: docs/proofs/tunamh.md.

import (
	"math"

	"github.com/dpmcmc/dpmcmc/accountant/internal/normal"
)

// thinnedIsotropicBit is an isotropic bit whose contribution grows faster than
// the move.
type thinnedIsotropicBit struct{ scale, growth, most float64 }

func (m thinnedIsotropicBit) kind() string { return "thinned_isotropic_bit" }
func (m thinnedIsotropicBit) fields() []field {
	return []field{{"scale", m.scale}, {"growth", m.growth}, {"most", m.most}}
}
func (m thinnedIsotropicBit) memory(name string) memory { return recall(name) }

// contribution is that of a record at |Z| = z.
func (m thinnedIsotropicBit) contribution(z float64) float64 {
	b := min(m.scale*z, m.most)
	return b * (1 + m.growth*b)
}

// rdp uses that the moment is convex in the contribution, which is convex in |Z|
// as far as the cap.
func (m thinnedIsotropicBit) rdp(adj Adjacency, order float64) float64 {
	linear := acceptanceBit{m.scale * (1 + m.growth*m.most)}.spread(adj) // times |Z|, is never less
	switch {
	case linear == 0:
		return 0
	case math.IsInf(order, 1):
		return acceptanceBit{m.contribution(math.Inf(1))}.spread(adj)
	}
	moment := func(z float64) float64 {
		return logExpm1((order - 1) * boundedRangeRDP(order, acceptanceBit{m.contribution(z)}.spread(adj)))
	}
	end, logTail := halfNormalRange(order, linear)
	if reach := m.most / m.scale; reach < end {
		end, logTail = reach, math.Log(2*normal.Tail(reach))+moment(reach)
	}
	const cells = 512
	excess := newLogSum()
	excess.add(logTail)
	last := math.Inf(-1)
	for i := range cells {
		a, b := end*float64(i)/cells, end*float64(i+1)/cells
		next := moment(b)
		addChord(&excess, a, b, last, next, math.Inf(-1))
		last = next
	}
	return fromExcess(order, excess.log()+quadratureMargin)
}
