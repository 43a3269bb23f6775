package targets

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/core/dense"
	"github.com/dpmcmc/dpmcmc/priors"
)

// bigExp is e^x with 300 bits.
func bigExp(x *big.Float) *big.Float {
	v := new(big.Float).SetPrec(300).Set(x)
	v.SetMantExp(v, -16)
	sum, term := new(big.Float).SetPrec(300).SetInt64(1), new(big.Float).SetPrec(300).SetInt64(1)
	for k := int64(1); k < 40; k++ {
		term.Mul(term, v).Quo(term, new(big.Float).SetInt64(k))
		sum.Add(sum, term)
	}
	for range 16 {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigLog1p is log(1 + z) with 300 bits for |z| well below 1.
func bigLog1p(z *big.Float) *big.Float {
	x := new(big.Float).Quo(z, new(big.Float).SetPrec(300).Add(big.NewFloat(2), z))
	square := new(big.Float).Mul(x, x)
	sum, power := new(big.Float).SetPrec(300), new(big.Float).SetPrec(300).Set(x)
	for k := int64(1); k < 400; k += 2 {
		sum.Add(sum, new(big.Float).Quo(power, new(big.Float).SetPrec(300).SetInt64(k)))
		power.Mul(power, square)
	}
	return sum.Mul(sum, big.NewFloat(2))
}

// bigRemainder is the remainder of the logistic loss of y = 0, or of Poisson's, at
// linear predictor eta for a move of t.
func bigRemainder(poisson bool, order int, eta, t float64) float64 {
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	mul := func(a, b *big.Float) *big.Float { return new(big.Float).Mul(a, b) }
	e, one := bigExp(exact(eta)), exact(1)
	rise := new(big.Float).Sub(bigExp(exact(t)), one)
	slope, curve, value := e, e, mul(e, rise)
	if !poisson {
		slope = new(big.Float).Quo(e, new(big.Float).Add(one, e))
		curve = mul(slope, new(big.Float).Sub(one, slope))
		value = bigLog1p(mul(slope, rise))
	}
	value.Sub(value, mul(slope, exact(t)))
	if order == 2 {
		value.Sub(value, mul(mul(curve, exact(t)), exact(t/2)))
	}
	v, _ := value.Float64()
	return v
}

func remainderOf(t *testing.T, target Target, order int, limits Cap) *Remainder {
	t.Helper()
	cfg := RemainderConfig{Target: target, Order: order}
	if r, ok := target.(*Regression); ok && r.loss.isLog() {
		cfg.Loss = must[ConvexLoss](t)(r.Convex(limits))
	}
	return must[*Remainder](t)(New(cfg))
}

// TestRemaindersAgainstArbitraryPrecision: from moves of 10⁻⁶ to 3 remainders of both
// orders have a relative error below 10⁻¹⁰ + 10⁻¹⁴/|t|; the plain difference of losses has none of
// its digits right where they are small, which the test sees.
func TestRemaindersAgainstArbitraryPrecision(t *testing.T) {
	logistic := must[*Regression](t)(New(RegressionConfig{Features: 1, Prior: priors.Gaussian{SD: 1}}))
	poisson := must[*Regression](t)(New(RegressionConfig{Family: "poisson", Features: 1, Prior: priors.Gaussian{SD: 1}}))
	plainWorst := 0.0
	for _, order := range []int{1, 2} {
		for _, c := range []struct {
			target *Regression
			limits Cap
		}{{logistic, Cap{}}, {poisson, Cap{Slope: 1e5, Count: 10}}} {
			r := remainderOf(t, c.target, order, c.limits)
			for _, eta := range []float64{-6, -1.3, -0.2, 0.4, 2.2, 5} {
				for _, size := range []float64{1e-6, 1e-4, 3e-3, 0.1, 0.2499, 0.2501, 0.7} {
					for _, move := range []float64{size, -size} {
						want := bigRemainder(c.target == poisson, order, eta, move)
						got := r.remainder(eta, move, 0)
						if math.Abs(got-want) > (1e-10+1e-14/size)*math.Abs(want) {
							t.Errorf("%s, order %d, η = %v, t = %v: %v, exact %v", c.target.name, order, eta, move, got, want)
						}
						l := r.cfg.Loss
						plain := l.Value(eta+move, 0) - l.Value(eta, 0) - move*l.Slope(eta, 0)
						if order == 2 {
							plain -= move * move * l.Curvature(eta, 0) / 2
						}
						plainWorst = max(plainWorst, math.Abs(plain/want-1))
					}
				}
			}
		}
	}
	if plainWorst < 1 {
		t.Errorf("the plain difference is right to %v, so the test proves nothing", plainWorst)
	}
}

// TestRemainderIsWhatThePolynomialLeaves: loss at θ less loss, slope and curvature at
// the anchor, in every family, near the anchor, far from it and beyond caps.
func TestRemainderIsWhatThePolynomialLeaves(t *testing.T) {
	cfg := RegressionConfig{Features: 2, Prior: priors.Gaussian{SD: 1}}
	of := func(family string) *Regression {
		cfg := cfg
		if cfg.Family = family; family == "negative-binomial" {
			cfg.Dispersion = 2
		}
		return must[*Regression](t)(New(cfg))
	}
	for _, c := range []struct {
		target *Regression
		limits Cap
	}{
		{must[*Regression](t)(New(cfg)), Cap{}}, {of("probit"), Cap{Slope: 2}},
		{of("cloglog"), Cap{Slope: 2}}, {of("loglog"), Cap{Slope: 2}},
		{of("poisson"), Cap{Slope: 3, Count: 5}},
		{of("negative-binomial"), Cap{Count: 5}},
	} {
		rows := Rows{X: []float64{1, 0.5, -1, 0.3, 0.2, 1, 2, 2, 1, 1}, P: 2, Y: []float64{0, 1, 1, 0, math.NaN()}}
		anchor := []float64{0.4, -0.3}
		for order := 1; order <= 2; order++ {
			r := remainderOf(t, c.target, order, c.limits)
			if err := r.Anchor(anchor, 0.5, c.target.LogPrior); err != nil {
				t.Fatal(err)
			}
			l := r.cfg.Loss
			for _, theta := range [][]float64{{0.5, -0.2}, {0.41, -0.3}, {2, 1}, {-3, 4}, {0.4, -0.3}} {
				got := make([]float64, 5)
				r.Loss(got, theta, rows)
				for i, y := range rows.Y {
					want := 0.0
					if !l.Absent(y) {
						eta, to := dense.Dot(anchor, rows.Row(i)), dense.Dot(theta, rows.Row(i))
						want = l.Value(to, y) - l.Value(eta, y) - (to-eta)*l.Slope(eta, y)
						if order == 2 {
							want -= (to - eta) * (to - eta) * l.Curvature(eta, y) / 2
						}
					}
					if math.Abs(got[i]-0.5*want) > 1e-13*(1+math.Abs(want)) {
						t.Errorf("%s, order %d, record %d at %v: %v, want %v", c.target.name, order, i, theta, got[i], 0.5*want)
					}
				}
				checkRatio(t, r, theta, []float64{0.6, 0.1}, rows)
			}
		}
	}
}

func checkRatio(t *testing.T, r *Remainder, theta, next []float64, rows Rows) {
	t.Helper()
	n := rows.Len()
	ratio, a, b := make([]float64, n), make([]float64, n), make([]float64, n)
	r.LossRatio(ratio, theta, next, rows)
	r.Loss(a, theta, rows)
	r.Loss(b, next, rows)
	for i := range ratio {
		if off := math.Abs(ratio[i] - (a[i] - b[i])); off > 1e-15*(1+math.Abs(a[i])+math.Abs(b[i])) {
			t.Errorf("record %d: ratio %v, losses %v and %v", i, ratio[i], a[i], b[i])
		}
	}
}

// TestFirstOrderRemainders of targets with gradients: a loss of one linear predictor
// that is not convex, and one with two parts. Where the released gradient was cut
// nothing is left.
func TestFirstOrderRemainders(t *testing.T) {
	beta := must[*Regression](t)(New(RegressionConfig{Features: 2, Prior: priors.Gaussian{SD: 1},
		Loss: betaLoss(t, 1.5)}))
	linear := must[*Linear](t)(New(LinearConfig{Features: 2, Prior: priors.Gaussian{SD: 1}, MinScale: 0.1,
		ScalePrior: priors.HalfCauchy{Scale: 1}, Loss: betaLoss(t, 1.5)}))
	rows := Rows{X: []float64{1, 0.5, -1, 0.3, 0.2, 1}, P: 2, Y: []float64{0, 1, 1}}
	for _, target := range []GradTarget{beta, linear} {
		d := target.Dim()
		anchor, theta := []float64{0.4, -0.3, 0.2}[:d], []float64{0.5, -0.1, 0.1}[:d]
		gradient, at, to := make([]float64, 3*d), make([]float64, 3), make([]float64, 3)
		target.LossGrad(gradient, anchor, rows)
		target.Loss(at, anchor, rows)
		target.Loss(to, theta, rows)
		for _, bound := range []float64{0, 0.3} {
			r := must[*Remainder](t)(New(RemainderConfig{Target: target, Order: 1}))
			if bound > 0 {
				if err := r.CutTangents(bound); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Anchor(anchor, 1, target.LogPrior); err != nil {
				t.Fatal(err)
			}
			got := make([]float64, 3)
			r.Loss(got, theta, rows)
			for i := range got {
				g := gradient[i*d : (i+1)*d]
				want := to[i] - at[i]
				for j := range g {
					want -= g[j] * (theta[j] - anchor[j])
				}
				if bound > 0 && length(g) > bound {
					want = 0
				}
				if math.Abs(got[i]-want) > 1e-15 {
					t.Errorf("%T, bound %v, record %d: %v, want %v", target, bound, i, got[i], want)
				}
			}
			checkRatio(t, r, theta, anchor, rows)
		}
	}
}

// TestRemaindersAllocateNothing and have no density before their anchor.
func TestRemaindersAllocateNothing(t *testing.T) {
	model := must[*Regression](t)(New(RegressionConfig{Features: 3, Prior: priors.Gaussian{SD: 1}}))
	r := remainderOf(t, model, 2, Cap{})
	theta, next := []float64{0.1, 0.2, 0.3}, []float64{0, 0, 1}
	if !math.IsInf(r.LogPrior(theta), -1) {
		t.Error("a remainder without an anchor has a density")
	}
	if err := r.Anchor([]float64{0, 0, 0}, 1, model.LogPrior); err != nil {
		t.Fatal(err)
	}
	rows := Rows{X: make([]float64, 3*1000), P: 3, Y: make([]float64, 1000)}
	dst := make([]float64, 1000)
	if n := testing.AllocsPerRun(20, func() { r.LossRatio(dst, theta, next, rows); r.Loss(dst, theta, rows) }); n > 0 {
		t.Errorf("%v allocations a call", n)
	}
}

func TestRemainderRefusals(t *testing.T) {
	logistic := must[*Regression](t)(New(RegressionConfig{Features: 1, Prior: priors.Gaussian{SD: 1}}))
	beta := must[*Regression](t)(New(RegressionConfig{Features: 1, Prior: priors.Gaussian{SD: 1},
		Loss: betaLoss(t, 1.5)}))
	loss := must[ConvexLoss](t)(logistic.Convex(Cap{}))
	if _, err := beta.Convex(Cap{}); err == nil || !strings.Contains(err.Error(), "not convex") {
		t.Errorf("a β loss was taken for convex: %v", err)
	}
	for words, cfg := range map[string]RemainderConfig{
		"Target is not set": {Order: 1}, "Order is 0": {Target: logistic}, "Order is 3": {Target: logistic, Order: 3},
		"order 2 needs a Loss": {Target: beta, Order: 2}, "not a *Regression": {Target: &Linear{}, Order: 1, Loss: loss},
		"Weight": {Target: beta, Order: 1, Weight: math.NaN()},
	} {
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("want %q, got %v", words, err)
		}
	}
	r := remainderOf(t, logistic, 2, Cap{})
	for name, err := range map[string]error{
		"too long": r.Anchor([]float64{1, 2}, 1, logistic.LogPrior),
		"NaN":      r.Anchor([]float64{math.NaN()}, 1, logistic.LogPrior),
		"cut":      r.CutTangents(math.NaN()),
		"share":    r.Anchor([]float64{1}, 1.1, logistic.LogPrior), "density": r.Anchor([]float64{1}, 1, nil),
	} {
		if err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func BenchmarkRemainder(b *testing.B) {
	model, _ := New(RegressionConfig{Features: 10, Prior: priors.Gaussian{SD: 1}})
	loss, _ := model.Convex(Cap{})
	r, _ := New(RemainderConfig{Target: model, Order: 2, Loss: loss})
	const n = 10_000
	rng := newRNG()
	rows := Rows{X: make([]float64, 10*n), P: 10, Y: make([]float64, n)}
	for i := range rows.X {
		rows.X[i] = rng.Float64() - 0.5
	}
	theta, dst := make([]float64, 10), make([]float64, n)
	for j := range theta {
		theta[j] = 0.01
	}
	_ = r.Anchor(make([]float64, 10), 1, model.LogPrior)
	b.ReportAllocs()
	for b.Loop() {
		r.Loss(dst, theta, rows)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
}

// guest is a target that is not this package's own, for embedding one.
type guest struct{ *Regression }

// TestGuestsAreWrappedToTheSameAnswers: the remainder and the tangent of a user's target,
// which is asked on copies, are those of the library's own, bit for bit.
func TestGuestsAreWrappedToTheSameAnswers(t *testing.T) {
	model, err := New(RegressionConfig{Features: 2, Prior: priors.Gaussian{SD: 1}})
	if err != nil {
		t.Fatal(err)
	}
	rows := Rows{X: []float64{0.3, -0.2, 0.5, 0.1, -0.9, 0.4}, P: 2, Y: []float64{1, 0, 1}}
	theta, next := []float64{0.4, -1.1}, []float64{0.2, 0.7}
	answers := func(base GradTarget) (all []float64) {
		r, err := New(RemainderConfig{Target: base, Order: 1})
		if err == nil {
			err = r.Anchor([]float64{0.1, 0.2}, 0.75, func([]float64) float64 { return 0 })
		}
		if err != nil {
			t.Fatal(err)
		}
		v, err := New(TangentConfig{Target: base, Weight: 0.5, Radius: 0})
		if err == nil {
			err = v.At([]float64{0.1, 0.2}, Lengths{Score: 0.3, Products: 0.2})
		}
		if err != nil {
			t.Fatal(err)
		}
		losses, ratios, gradients := make([]float64, 3), make([]float64, 3), make([]float64, 3*v.Dim())
		r.Loss(losses, theta, rows)
		r.LossRatio(ratios, theta, next, rows)
		v.LossGrad(gradients, make([]float64, v.Dim()), rows)
		return slices.Concat(losses, ratios, gradients)
	}
	ours, theirs := answers(model), answers(guest{model})
	if Ours(guest{model}) || !slices.Equal(ours, theirs) || slices.Max(ours) == 0 {
		t.Errorf("%v of a user's target, want %v", theirs, ours)
	}
}
