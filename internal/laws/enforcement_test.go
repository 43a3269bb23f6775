package laws

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// liar claims a Lipschitz constant of ½ where the truth is 20: what a record
// contributes is then always the clip.
type liar struct{ ballot }

func (liar) Loss(dst, theta []float64, rows targets.Rows) {
	for i, x := range rows.X {
		dst[i] = 20 * x * theta[0]
	}
}
func (liar) LossAt(dst, eta, _ []float64) {
	for i, e := range eta {
		dst[i] = 20 * e
	}
}
func (liar) SlopeAt(dst, _, _ []float64) {
	for i := range dst {
		dst[i] = 20
	}
}
func (liar) PredictorLipschitz() float64 { return 0.5 }

// TestFalseCertificatesAreClipped: what a drawn move costs holds for a target
// that lies about its Lipschitz constant. False-alarm rate 10⁻⁶.
func TestFalseCertificatesAreClipped(t *testing.T) {
	facts := curator.Facts{Records: 1, Features: 1, Radius: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	m, err := proptest.Bit(curator.AcceptanceBit{Target: liar{}, Proposal: curator.Proposal{Scale: 1}}, facts,
		[]float64{0}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	audit := proptest.CheckMechanism(t, m, proptest.MechanismOptions{
		Effort: proptest.Quick,
		A:      curator.Records{X: []float64{1}, Features: 1, Radius: 1},
		B:      curator.Records{X: []float64{-1}, Features: 1, Radius: 1},
		Delta:  1e-6,
		// The bit says on which side of 0 the record is, the more the longer the move.
		Statistic: func(release []float64) float64 { return release[0] * (2*release[1] - 1) },
	})
	// Four times the divergence, that of half the clip's price, must be visible.
	if audit.LowerRDP*4 < 1.2*audit.ClaimedRDP {
		t.Errorf("a clip of twice the bound would pass: %v", audit)
	}
}

// thorny panics on a record of 42 away from the origin.
type thorny struct{ ballot }

func (thorny) Loss(dst, theta []float64, rows targets.Rows) {
	ballot{}.Loss(dst, theta, rows)
	for _, x := range rows.X {
		if x == 42 && theta[0] != 0 {
			panic("thorny")
		}
	}
}

// TestPanicsContributeNothing: a record on which the target panics at one of the
// two states counts 0, and its neighbours in the batch what they always do. A
// bit is wrong with probability below 10⁻⁸.
func TestPanicsContributeNothing(t *testing.T) {
	for _, batch := range []curator.Batch{{}, {Size: 3}} {
		for _, c := range []struct {
			x        []float64
			public   float64
			accepted bool
		}{
			{[]float64{42, 0, 0}, 20, true}, {[]float64{42, 0, 0}, -20, false},
			{[]float64{42, -40, 0}, -20, true}, {[]float64{42, 40, 0}, 20, false},
		} {
			bits, err := curator.Charge(sealed(t, c.x), curator.AcceptanceBit{Target: thorny{}, Clip: 50, Batch: batch}, 1)
			if err != nil {
				t.Fatal(err)
			}
			if accepted, err := bits.Accept([]float64{1}, []float64{0}, c.public); err != nil || accepted != c.accepted {
				t.Errorf("%v, records %v, public log-odds %v: accepted %v, error %v", batch, c.x, c.public, accepted, err)
			}
		}
	}
}

// TestTemperatureMultipliesReleases compares noisy sums of one seed, and so of
// one noise, at two temperatures.
func TestTemperatureMultipliesReleases(t *testing.T) {
	x := []float64{1, 2, -0.5}
	release := func(tau float64) (ratio, gradient float64) {
		c := sealed(t, x)
		ratios, err := curator.Charge(c, curator.NoisyRatio{Target: ballot{}, Clip: 8, NoiseMultiplier: 1,
			Temperature: tau}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if ratio, err = ratios.Release([]float64{-1}, []float64{0}); err != nil {
			t.Fatal(err)
		}
		gradients, err := curator.Charge(c, curator.NoisyGradient{Target: ballot{}, Clip: 8, NoiseMultiplier: 1,
			Temperature: tau}, 1)
		if err != nil {
			t.Fatal(err)
		}
		g := make([]float64, 1)
		if err := gradients.Release(g, []float64{0}); err != nil {
			t.Fatal(err)
		}
		return ratio, g[0]
	}
	r1, g1 := release(1)
	r2, g2 := release(0.25)
	for name, got := range map[string]float64{"ratio": r1 - r2, "gradient": g1 - g2} {
		if want := 0.75 * 2.5; math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: temperatures 1 and ¼ differ by %v, want %v", name, got, want)
		}
	}
}

// strict panics when records have a response although its shape says none.
type strict struct{ ballot }

func (strict) Loss(dst, theta []float64, rows targets.Rows) {
	if rows.Y != nil || rows.Len() != len(dst) {
		panic("strict: records are not of the shape asked for")
	}
	ballot{}.Loss(dst, theta, rows)
}

// TestRowsHaveTheShapeAskedFor: a target that panics on a wrong shape would
// contribute 0; here it decides.
func TestRowsHaveTheShapeAskedFor(t *testing.T) {
	for _, batch := range []curator.Batch{{}, {Size: 2}, {Rate: 1}} {
		bits, err := curator.Charge(sealed(t, []float64{-40, -40}), curator.AcceptanceBit{Target: strict{}, Clip: 50,
			Batch: batch}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if accepted, err := bits.Accept([]float64{1}, []float64{0}, 0); err != nil || !accepted {
			t.Errorf("%v: a move that every record wants is accepted: %v, error %v", batch, accepted, err)
		}
	}
}
