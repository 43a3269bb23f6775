package curator

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// TestDepartureCoversTheGrid compares the exact δ(ε) of discrete Gaussian noise, summed
// over its grid, with what is charged: never more, where the trade-off of continuous
// noise alone would be too little.
func TestDepartureCoversTheGrid(t *testing.T) {
	broken := 0
	for _, sd := range []float64{8, 20, 300} {
		for _, shift := range []float64{1, 5, 13, 40} {
			plain, err1 := accountant.Gaussian(accountant.Substitute, sd/shift)
			charged, err2 := accountant.GridGaussian{NoiseMultiplier: sd / shift, Coordinates: 1, Steps: sd}.
				Event(accountant.Substitute)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			for eps := 0.0; eps < 6*shift/sd; eps += 0.1 * shift / sd {
				got := gridDelta(sd, shift, eps)
				if got < 1e-12 { // below what the sum holds
					break
				}
				exact := func(e accountant.Event) float64 {
					g, err := e.Delta(eps)
					if err != nil {
						t.Fatal(err)
					}
					return g.Alternatives["gaussian-exact"]
				}
				if got > exact(charged) {
					t.Errorf("σ %v, shift %v, ε %v: δ is %v, charged %v", sd, shift, eps, got, exact(charged))
				}
				if got > exact(plain)*(1+1e-9) {
					broken++
				}
			}
		}
	}
	if broken == 0 {
		t.Error("the continuous trade-off is never too little: the test shows nothing")
	}
}

// gridDelta is δ(ε) of discrete Gaussian noise of parameter sd for a shift.
func gridDelta(sd, shift, eps float64) float64 {
	density := func(x float64) float64 { return math.Exp(-x * x / (2 * sd * sd)) }
	total, delta := 0.0, 0.0
	for k := -math.Ceil(12 * sd); k <= 12*sd; k++ {
		total += density(k)
	}
	for k := -math.Ceil(12*sd) - shift; k <= 12*sd+shift; k++ {
		delta += max(0, density(k-shift)-math.Exp(eps)*density(k))
	}
	return delta / total
}

// TestGaussianReleasesChargeTheirGrid: what is charged for a release is that of a grid,
// for every coordinate, and hardly more than the continuous trade-off.
func TestGaussianReleasesChargeTheirGrid(t *testing.T) {
	f := Facts{Records: 100, Features: 8, Radius: 1, RowsPerPerson: 2, Adjacency: accountant.Substitute}
	event, err := NoisyGradient{Target: newToy(8), NoiseMultiplier: 4}.Event(f)
	if err != nil {
		t.Fatal(err)
	}
	m := event.Mechanisms()[0]
	sd := math.Ldexp(4, 31)
	if want := 8 * ((64+2.0/4)*(64+2.0/4) + 1) / (4 * sd * sd); m.Kind != "grid_gaussian" ||
		math.Abs(m.Params["departure"]/want-1) > 1e-6 {
		t.Errorf("charged %+v, want a departure of %v", m, want)
	}
	if m.Params["departure"] > 1e-14 || m.Params["departure"] < 8*64*64/(8*sd*sd) {
		t.Errorf("a departure of %v", m.Params["departure"])
	}
}
