package proptest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestRoundedLossesAreNoViolations: a loss of a small residual of large numbers is a staircase, whose
// differences show no derivative. Its gradient is right; one that is 1% off is still caught where
// numbers are of usual sizes.
func TestRoundedLossesAreNoViolations(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 47))
	wrap := func(d float64) float64 { return d - 2*math.Pi*math.Round(d/(2*math.Pi)) }
	softplus := func(v float64) float64 { return max(v, 0) + math.Log1p(math.Exp(-math.Abs(v))) }
	caught := 0
	for i := range 20_000 {
		theta, x, size := 2*rng.NormFloat64(), rng.NormFloat64(), math.Exp(25*rng.Float64())
		angle := func(by float64) float64 { r := wrap((theta+by)*x - size); return r * r / 2 }
		slope := wrap(theta*x-size) * x
		y := math.Floor(math.Exp(5.5 * rng.Float64()))
		count := func(by float64) float64 {
			eta := (theta + by) * 20 * x
			return (y+2)*softplus(eta-math.Ln2) - y*eta
		}
		rise := ((y+2)/(1+math.Exp(math.Ln2-theta*20*x)) - y) * 20 * x
		for _, c := range []struct {
			f   line
			got float64
		}{{angle, slope}, {count, rise}} {
			if want, wrong := wrongSlope(c.f, theta, c.got, 1e-12*(1+20*math.Abs(x))); wrong {
				t.Fatalf("case %d: the derivative %v is rejected, differences give %v ± %v (θ %v, x %v, y %v or %v)", i, c.got,
					want.value, want.off, theta, x, size, y)
			}
		}
		if size < 100 && math.Abs(slope) > 0.1 && math.Abs(math.Abs(slope/x)-math.Pi) > 0.5 {
			if _, wrong := wrongSlope(angle, theta, 1.01*slope, 1e-12); !wrong {
				t.Fatalf("case %d: a derivative 1%% off passes (θ %v, x %v, y %v)", i, theta, x, size)
			}
			caught++
		}
	}
	if caught < 1000 {
		t.Errorf("%d wrong derivatives were tried", caught)
	}
}

// steeper is a target whose slope in the predictor is a thousandth too large.
type steeper struct{ targets.LinearTarget }

func (s steeper) SlopeAt(dst, eta, y []float64) {
	s.LinearTarget.SlopeAt(dst, eta, y)
	for i := range dst {
		dst[i] *= 1.001
	}
}

// TestRoundedSlopesAreNoViolations: the slope of a Poisson response that a large predictor fits is
// a small difference of large means, and right. One a thousandth off is caught at usual means.
func TestRoundedSlopesAreNoViolations(t *testing.T) {
	poisson, err := targets.New(targets.RegressionConfig{Features: 1, Family: "poisson", Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		t.Fatal(err)
	}
	said := func(target targets.LinearTarget, eta, y float64) string {
		e := &evaluator{stage: stage{target: target, d: 1}, linear: target, one: make([]float64, 1), onto: make([]float64, 1)}
		return e.predictorAgrees(scene{theta: []float64{eta}, z: targets.Rows{P: 1, X: []float64{1}, Y: []float64{y}}})
	}
	rng := rand.New(rand.NewPCG(3, 51))
	for range 2000 {
		eta := 28 * rng.Float64()
		y := max(0, math.Round(math.Exp(eta)+2*rng.NormFloat64()))
		if wrong := said(poisson, eta, y); wrong != "" {
			t.Fatal(wrong)
		}
	}
	for range 100 {
		eta := 3 * rng.Float64()
		if said(steeper{poisson}, eta, math.Round(math.Exp(eta))+1) == "" {
			t.Fatalf("a slope a thousandth off passes at η = %v", eta)
		}
	}
}

// TestSlopesOfLargeFeatures: a feature of 10¹² makes a small step a long one. A right slope passes all
// the same, and one that is 1% off does not.
func TestSlopesOfLargeFeatures(t *testing.T) {
	flat := lone{log: func(float64) float64 { return 0 }}
	for _, size := range []float64{1, 1e6, 1e9, 1e12, 1e15} {
		for _, by := range []float64{1, 1.01} {
			e := newEvaluator(TargetOptions{}.withDefaults().stage(steep{flat, by}, 1))
			z := targets.Rows{X: []float64{size, 0}, P: 2}
			said := e.gradientAgrees(scene{theta: []float64{0, 0}, next: []float64{0, 0}, z: z})
			if (said != "") != (by > 1) {
				t.Errorf("a slope of %v for %v: %q", by*size, size, said)
			}
		}
	}
}

// steep is a Huber loss of x·θ₁ − 1, whose slope is by times what it should be.
type steep struct {
	lone
	by float64
}

func (steep) Shape() (int, bool) { return 2, false }

func (steep) Loss(dst, theta []float64, rows targets.Rows) {
	for i := range dst {
		if r := math.Abs(rows.X[2*i]*theta[0] - 1); r < 1.5 {
			dst[i] = r * r / 2
		} else {
			dst[i] = 1.5 * (r - 0.75)
		}
	}
}

func (s steep) LossGrad(dst, theta []float64, rows targets.Rows) {
	for i := range rows.Len() {
		x := rows.X[2*i]
		dst[2*i], dst[2*i+1] = s.by*x*max(-1.5, min(x*theta[0]-1, 1.5)), 0
	}
}

func (steep) GradLogPrior(dst, _ []float64) { clear(dst) }
