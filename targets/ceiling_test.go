package targets

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/priors"
)

// TestCeilings: a certified maximum is no less than the function on a fine grid,
// and no more than the stated share above it, over sixteen decades of β − 1. The
// grids are of the logit, so that they see probabilities of every size.
func TestCeilings(t *testing.T) {
	for _, b := range []float64{1e-15, 1e-8, 1e-3, 0.1, 0.33, 1, 2.5, 30} {
		families := map[string]func(p, q float64) float64{
			"logistic": func(p, q float64) float64 { return math.Pow(p, b)*q*q + p*math.Pow(q, 1+b) },
			"sums":     func(p, q float64) float64 { return math.Pow(q, 1+b)*p + q*ownPower(min(p, b/(1+b)), b) },
		}
		claims := map[string]float64{"logistic": logisticCeiling(b), "sums": categorical{loss{b}}.slopeSums(3)}
		for name, f := range families {
			best := 0.0
			for k := -40000; k <= 40000; k++ {
				e := math.Exp(-math.Abs(float64(k)) / 1000)
				p, q := 1/(1+e), e/(1+e)
				if k < 0 {
					p, q = q, p
				}
				best = max(best, f(p, q))
			}
			if claim := claims[name]; !(best <= claim && claim <= best*(1+3e-6)) {
				t.Errorf("%s, b = %v: the certificate is %v, a grid reaches %v", name, b, claim, best)
			}
		}
	}
}

func ownPower(p, b float64) float64 { return math.Pow(p, b) * (1 - p) }

// TestCeilingRestsOnItsBounds: the search finds a peak that no grid would, and
// stops at bounds that do not shrink.
func TestCeilingRestsOnItsBounds(t *testing.T) {
	const at, height = 0.7320508, 3.0
	peak := func(x float64) float64 { return height / (1 + 1e12*(x-at)*(x-at)) }
	got := ceiling(1e-3, 0, 1, func(lo, hi float64) float64 { return peak(max(lo, min(hi, at))) })
	if !(got >= height && got <= height*1.0011) {
		t.Errorf("the ceiling of a narrow peak of %v is %v", height, got)
	}
	loose := ceiling(1e-3, 0, 1, func(lo, hi float64) float64 {
		if lo <= 0.3 && 0.3 <= hi && lo < hi {
			return 5
		}
		return 1
	})
	if loose < 5 {
		t.Errorf("the ceiling is %v where one bound is 5 however short the interval", loose)
	}
}

// TestSlopeSumsBoundEverySet: no set of classes has slopes that sum to more, for
// up to five classes, probabilities of every size and every observed class; with
// masses spread thin over many classes the bound is nearly attained.
func TestSlopeSumsBoundEverySet(t *testing.T) {
	rng := newRNG()
	for _, b := range []float64{0, 0.05, 0.1, 0.5, 1, 2.5} {
		for _, classes := range []int{2, 3, 5} {
			c := categorical{loss{b}}
			limit, norm := c.slopeSums(classes), c.lipschitz(classes)
			for range 20000 {
				logp := make([]float64, classes)
				for k := range logp {
					logp[k] = 8 * rng.NormFloat64() * rng.Float64()
				}
				logProbs(logp)
				c.slopes(logp, float64(rng.IntN(classes)))
				var positive, square float64
				for _, s := range logp {
					positive += max(0, s)
					square += s * s
				}
				if positive > limit || math.Sqrt(square) > norm {
					t.Fatalf("b = %v, %d classes: a sum of %v above %v, or a norm of %v above %v", b, classes, positive, limit,
						math.Sqrt(square), norm)
				}
			}
		}
	}
}

// TestCountBoundsAreBounds: on small boxes the bounds of masses and scores hold
// for every count and η inside, and the closed bounds used beyond the search, or
// instead of it, are not below what the slope attains.
func TestCountBoundsAreBounds(t *testing.T) {
	rng := newRNG()
	for _, law := range []countLaw{poisson{}, negBinomial{0.4, math.Log(0.4)}, negBinomial{1.7, math.Log(1.7)},
		negBinomial{30, math.Log(30)}} {
		for range 3000 {
			low := 6*rng.Float64() - 3
			eta := [2]float64{low, low + 2*rng.Float64()*rng.Float64()}
			first := math.Floor(math.Exp(5 * rng.Float64()))
			y := [2]float64{first - 1, first - 1 + float64(rng.IntN(4))}
			at, count := eta[0]+(eta[1]-eta[0])*rng.Float64(), y[0]+float64(rng.IntN(int(y[1]-y[0])+1))
			if m, bound := law.logMass(at, count), law.massOver(eta, y); m > bound+1e-12*(1+math.Abs(m)) {
				t.Fatalf("%T: log mass %v of %v at %v; the bound over %v and %v is %v", law, m, count, at, eta, y, bound)
			}
			u, least := law.score(at, count), 1e-12*(1+math.Abs(count))
			if lo, hi := law.scoreOver(eta, y); u < lo-least || u > hi+least {
				t.Fatalf("%T: score %v of %v at %v; the range over %v and %v is [%v, %v]", law, u, count, at, eta, y, lo, hi)
			}
		}
	}
	for _, b := range []float64{1, 2.5} {
		f := must[*counts](t)(newCounts("", loss{b}, poisson{}))
		claim := poisson{}.slopeCeiling(f)
		for _, eta := range []float64{4.6, 7, 12} {
			for z := -8.0; z <= 8; z += 0.25 {
				if s := math.Abs(f.slope(eta, math.Floor(math.Exp(eta)+z*math.Exp(eta/2)))); s > claim {
					t.Errorf("Poisson, b = %v: slope %v at η = %v above %v", b, s, eta, claim)
				}
			}
		}
	}
}

// TestNegativeBinomialClosedBound: below b = 0.02/min(1, r) the bound is a closed
// form; slopes at large counts come near it where r ≤ 1.
func TestNegativeBinomialClosedBound(t *testing.T) {
	for _, r := range []float64{0.5, 1, 5} {
		const b = 1e-3
		m := must[*Regression](t)(New(RegressionConfig{Family: "negative-binomial", Features: 1, Loss: Loss{Beta: 1 + b},
			Prior: priors.Gaussian{SD: 1}, Dispersion: r}))
		best := 0.0
		for eta := 0.0; eta < 12; eta += 0.5 {
			for x := 0.1; x < 20/b; x *= 1.1 {
				s := []float64{eta}
				m.SlopeAt(s, s, []float64{math.Floor(x * (1 + math.Exp(eta)/r))})
				best = max(best, math.Abs(s[0]))
			}
		}
		if l := m.PredictorLipschitz(); !(best <= l && best > 0.7*l) {
			t.Errorf("r = %v: the bound is %v, a grid reaches %v", r, l, best)
		}
	}
}
