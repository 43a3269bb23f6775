package surrogates

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpmcmc/dpmcmc/priors"
)

// TestSquaresAreCalibrated: of sums of squares drawn from their prior, shares of the posterior below
// them are uniform: their mean is within 5.6 standard errors of ½, which fails by chance for one in
// 10⁷. Under a prior that is flat in the sum, the mutant, it is not.
func TestSquaresAreCalibrated(t *testing.T) {
	const draws, sd, typical, most = 4000, 15.0, 20.0, 2000.0
	rng := rand.New(rand.NewPCG(5, 1))
	ranks := map[bool]float64{}
	for range draws {
		truth := math.Inf(1)
		for z := 0.0; !(truth <= most && math.Abs(z) < farSpread); {
			z = rng.NormFloat64()
			truth = typical * math.Exp(spreadSD*z)
		}
		released := truth + sd*rng.NormFloat64()
		s, below := newSquare(released, sd, typical, most).given(fill{0, spreadSD}), 0.0
		for p := 0.005; p < 1; p += 0.01 {
			if s.quantile(p) < truth {
				below += 0.01
			}
		}
		ranks[true] += below / draws
		none := cdf(-released / sd)
		ranks[false] += (cdf((truth-released)/sd) - none) / (1 - none) / draws
	}
	for known, mean := range ranks {
		off := math.Abs(mean-0.5) / math.Sqrt(1.0/12/draws)
		if off < 5.6 != known {
			t.Errorf("with the prior %v: the mean rank is %.3f, %.1f standard errors off", known, mean, off)
		}
	}
}

// TestSquaresFollowTheRelease: a sum of squares that noise hardly touches is as released, and one that
// noise hides stays within its bounds, whatever was released.
func TestSquaresFollowTheRelease(t *testing.T) {
	if s := newSquare(300, 0.01, 20, 2000).given(fill{0, 1}); math.Abs(s.quantile(0.5)-300) > 0.001 {
		t.Errorf("300 with noise of 0.01 has the median %v", s.quantile(0.5))
	}
	for _, released := range []float64{-1e300, -1e3, 0, 5, 1e3, 1e300} {
		s, last := newSquare(released, 1e3, 20, 2000).given(fill{0, 0.1}), 0.0
		for _, p := range []float64{0, 1e-9, 0.1, 0.5, 0.9, 1} {
			v := s.quantile(p)
			if !(v >= last && v > 0 && v <= 2000*(1+1e-9)) {
				t.Errorf("%v released: quantile %v is %v, and that before %v", released, p, v, last)
			}
			last = v
		}
	}
}

// TestTypicalSquares: columns share the longest rows as their bounds do, and intercept and levels have
// no such prior.
func TestTypicalSquares(t *testing.T) {
	columns := []Column{{Kind: Constant, Upper: 0.5}, {Lower: -1, Upper: 0.5}, {Upper: 0.5}, {Kind: Level, Upper: 1}}
	want := []float64{0, 900.0 / 9 / 2.5, 900.0 / 9 / 10, 0}
	for j, got := range typicalOf(columns, 900, 4) {
		if math.Abs(got-want[j]) > 1e-12 {
			t.Errorf("column %d: a typical sum of squares is %v, not %v", j, got, want[j])
		}
	}
	if got := typicalOf(nil, 900, 4); !slices.Equal(got, []float64{25, 25, 25, 25}) {
		t.Errorf("without columns typical sums of squares are %v", got)
	}
}

// Counts doubt columns whose spread noise hides, as standardized priors do, and others do not.
func TestCountsAreFaint(t *testing.T) {
	for link, want := range map[Link]int{counts{cut: 1, most: 20}: 3, Logistic: 0} {
		s := columnsOf(2000, 20, make([]float64, 3), []float64{0.01, 0.01, 0.01}, rand.New(rand.NewPCG(3, 3)))
		p, err := New(Config{Statistics: s, Link: link, Prior: priors.Gaussian{SD: 3}})
		if err != nil {
			t.Fatal(err)
		}
		check, err := p.CheckPrior(Draws{})
		if err != nil || len(check.Faint) != want {
			t.Errorf("%T: columns %v are faint, %d should be: %v", link, check.Faint, want, err)
		}
	}
}
