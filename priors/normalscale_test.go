package priors

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func normalScale(t *testing.T, c NormalScaleConfig) *NormalScale {
	t.Helper()
	p, err := NewNormalScale(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func horseshoe(t *testing.T, c HorseshoeConfig) *Horseshoe {
	t.Helper()
	p, err := NewHorseshoe(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestHierarchicalGradients(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	priors := map[string]Prior{
		"scale": normalScale(t, NormalScaleConfig{Groups: []int{-1, 0, 0, 1, 1}, FixedSD: 3,
			Scale: HalfCauchy{Scale: 1}}),
		"means":     normalScale(t, NormalScaleConfig{Groups: []int{0, 0, 0, 1, 1}, MeanSD: 2, Scale: HalfNormal{SD: 0.5}}),
		"horseshoe": horseshoe(t, HorseshoeConfig{Groups: []int{-1, 0, 0, 0, 0}, FixedSD: 3, Scale: HalfCauchy{Scale: 0.3}}),
	}
	for name, p := range priors {
		if err := p.Check(5); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			theta, grad := make([]float64, 5), make([]float64, 5)
			for j := range theta {
				theta[j] = math.Exp(2*rng.NormFloat64()) * float64(1-2*rng.IntN(2))
			}
			p.Grad(grad, theta)
			for j, x := range theta {
				h := 1e-5 * math.Abs(x)
				theta[j] = x + h
				up := p.LogDensity(theta)
				theta[j] = x - h
				down := p.LogDensity(theta)
				theta[j] = x
				if want := (up - down) / (2 * h); math.Abs(grad[j]-want) > 1e-5*(1+math.Abs(want)) {
					t.Errorf("%s: gradient %d at %v is %v, differences say %v", name, j, theta, grad[j], want)
				}
			}
		}
	}
}

// TestNormalScaleIntegral compares ratios of densities with an independent integral
// over τ, Simpson's rule in τ/(1+τ), for a prior without mass near 0.
func TestNormalScaleIntegral(t *testing.T) {
	scale := InverseGamma{Shape: 3, Scale: 2}
	p := normalScale(t, NormalScaleConfig{Groups: []int{0, 0, 0}, MeanSD: 0.7, Scale: scale})
	direct := func(theta []float64) float64 {
		sum := 0.0
		const n = 20000
		for i := 1; i < n; i++ {
			s := float64(i) / n
			tau := s / (1 - s)
			// The covariance τ²I + m²11ᵀ is inverted by Sherman and Morrison.
			var total, squares float64
			for _, x := range theta {
				total += x
				squares += x * x
			}
			m2, t2 := 0.49, tau*tau
			quadratic := squares/t2 - m2*total*total/(t2*(t2+3*m2))
			log := scale.LogDensity(tau) - quadratic/2 - math.Log(t2*t2*(t2+3*m2))/2
			sum += math.Exp(log) / ((1 - s) * (1 - s)) * float64(2+2*(i%2))
		}
		return math.Log(sum)
	}
	a, b := []float64{0.3, -0.2, 0.5}, []float64{2, 1.5, -0.1}
	got, want := p.LogDensity(a)-p.LogDensity(b), direct(a)-direct(b)
	if math.Abs(got-want) > 1e-6 {
		t.Errorf("log density ratio %v; the integral says %v", got, want)
	}
}

// TestScaledE1 has the values of Abramowitz and Stegun, tables 5.1 and 5.2.
func TestScaledE1(t *testing.T) {
	for z, want := range map[float64]float64{
		0.5: 0.5597735947761608 * math.Exp(0.5), 1: 0.2193839343955203 * math.E, 2: 0.04890051070806112 * math.Exp(2),
		10: 4.156968929685324e-6 * math.Exp(10),
	} {
		if got := scaledE1(z); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("e^z·E₁(z) at %v is %v; want %v", z, got, want)
		}
	}
}

// TestHyper simulates (τ, θ) from the joint prior and draws τ given θ: the rank of
// the true τ among the draws is uniform. A mutant that ignores θ has ranks that
// are uniform too, so the draws must follow θ: their medians rise with its size.
// The count of 1500 draws is within 5.5 standard errors but for one run in 10⁷.
func TestHyper(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const runs = 1500
	groups := []int{0, 0, 0, 0}
	p := normalScale(t, NormalScaleConfig{Groups: groups, Scale: HalfNormal{SD: 1}})
	h := horseshoe(t, HorseshoeConfig{Groups: groups, Scale: HalfNormal{SD: 1}})
	var below, belowShoe, follow float64
	theta := make([]float64, 4)
	for range runs {
		tau := HalfNormal{SD: 1}.Sample(rng)
		size := 0.0
		for j := range theta {
			theta[j] = tau * rng.NormFloat64()
			size += theta[j] * theta[j] / 4
		}
		scales, _ := p.Hyper(theta, rng)
		if scales[0] < tau {
			below++
		}
		follow += math.Log(scales[0]) * math.Log(size) / runs
		for j := range theta {
			theta[j] = tau * HalfCauchy{Scale: 1}.Sample(rng) * rng.NormFloat64()
		}
		if h.Hyper(theta, rng) < tau {
			belowShoe++
		}
	}
	limit := 5.5 * math.Sqrt(runs/4)
	for name, got := range map[string]float64{"normal-scale": below, "horseshoe": belowShoe} {
		if math.Abs(got-runs/2) > limit {
			t.Errorf("%s: %v of %v draws of τ are below the truth; half of them should be", name, got, runs)
		}
	}
	if follow < 1 {
		t.Errorf("the draws of τ do not follow the coefficients: mean product of logarithms %v", follow)
	}
}

// TestHierarchicalSamples compares draws with the density, in one coefficient: the
// share within 1 is that of the integral. 5.5 standard errors: 10⁻⁷.
func TestHierarchicalSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for name, p := range map[string]Prior{
		"scale":     normalScale(t, NormalScaleConfig{Groups: []int{0}, MeanSD: 1, Scale: HalfNormal{SD: 1}}),
		"horseshoe": horseshoe(t, HorseshoeConfig{Groups: []int{0}, Scale: HalfNormal{SD: 1}}),
	} {
		inside, all := 0.0, 0.0
		for u := -25.0; u < 25; u += 0.002 { // ∫ p(θ) dθ in log θ
			v := math.Exp(p.LogDensity([]float64{math.Exp(u)}) + u)
			all += v
			if u < 0 {
				inside += v
			}
		}
		const draws = 20000
		count, theta := 0.0, make([]float64, 1)
		for range draws {
			if p.Sample(theta, rng); math.Abs(theta[0]) < 1 {
				count++
			}
		}
		want := inside / all
		if math.Abs(count/draws-want) > 5.5*math.Sqrt(want*(1-want)/draws) {
			t.Errorf("%s: %v of the draws are within 1; the density says %v", name, count/draws, want)
		}
	}
}

func TestHierarchicalErrors(t *testing.T) {
	for want, make := range map[string]func() error{
		"Groups is empty": func() error { _, err := NewNormalScale(NormalScaleConfig{}); return err },
		"Groups[1] = -2":  func() error { _, err := NewNormalScale(NormalScaleConfig{Groups: []int{0, -2}}); return err },
		"no Scale":        func() error { _, err := NewNormalScale(NormalScaleConfig{Groups: []int{0}}); return err },
		"FixedSD = 0":     func() error { _, err := NewNormalScale(NormalScaleConfig{Groups: []int{-1}}); return err },
		"MeanSD = -1": func() error {
			_, err := NewNormalScale(NormalScaleConfig{Groups: []int{0}, Scale: HalfCauchy{1}, MeanSD: -1})
			return err
		},
		"largest of Groups is 1": func() error {
			_, err := NewHorseshoe(HorseshoeConfig{Groups: []int{0, 1}, Scale: HalfCauchy{1}})
			return err
		},
		"1 groups for 2": func() error {
			p, err := NewNormalScale(NormalScaleConfig{Groups: []int{0}, Scale: HalfCauchy{1}})
			if err != nil {
				return err
			}
			return p.Check(2)
		},
		"made by NewHorseshoe": func() error { return (*Horseshoe)(nil).Check(1) },
	} {
		if err := make(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v; want one that says %q", err, want)
		}
	}
}
