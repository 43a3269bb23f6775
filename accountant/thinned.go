package accountant

// Proof: docs/proofs/tunamh.md.

import (
	"math"

	"github.com/dpmcmc/dpmcmc/accountant/internal/normal"
)

// thinnedIsotropicBit is an isotropic bit whose contribution grows faster than
// the move.
type thinnedIsotropicBit struct{ scale, growth, most float64 }

// ThinnedIsotropicBit is one acceptance bit released with a Gaussian move that is
// public and independent of the data, from a thinned batch: with
// b = min(scale·|Z|, most), Z ~ N(0,1), a record moves the log-odds by at most
// b + growth·b². All three are finite and at least 0. The cost averages over Z as
// that of IsotropicBit does, with the same inflation (docs/proofs/tunamh.md, §3).
func ThinnedIsotropicBit(adj Adjacency, scale, growth, most float64) (Event, error) {
	for _, p := range []struct {
		name  string
		value float64
	}{{"scale", scale}, {"growth", growth}, {"most", most}} {
		if err := cost("ThinnedIsotropicBit: "+p.name, p.value); err != nil {
			return Event{}, err
		}
	}
	return newEvent(adj, thinnedIsotropicBit{scale, growth, most})
}

func (m thinnedIsotropicBit) kind() string { return "thinned_isotropic_bit" }
func (m thinnedIsotropicBit) fields() []field {
	return []field{{"scale", m.scale}, {"growth", m.growth}, {"most", m.most}}
}
func (m thinnedIsotropicBit) memory() memory { return newMemo() }

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
