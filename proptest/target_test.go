package proptest_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// lifetimes is a target written by a user: exponential lifetimes x with rate
// e^θ, a standard normal prior, and a gradient.
type lifetimes struct{}

func (lifetimes) Dim() int                          { return 1 }
func (lifetimes) Shape() (int, bool)                { return 1, false }
func (lifetimes) LogPrior(theta []float64) float64  { return -theta[0] * theta[0] / 2 }
func (lifetimes) GradLogPrior(dst, theta []float64) { dst[0] = -theta[0] }

func (lifetimes) Loss(dst, theta []float64, rows targets.Rows) {
	for i, x := range rows.X {
		dst[i] = math.Exp(theta[0])*x - theta[0]
	}
}

func (lifetimes) LossGrad(dst, theta []float64, rows targets.Rows) {
	for i, x := range rows.X {
		dst[i] = math.Exp(theta[0])*x - 1
	}
}

// ComplexLoss lets the gradient be held to the complex step.
func (lifetimes) ComplexLoss(dst, theta []complex128, rows targets.Rows) {
	for i, x := range rows.X {
		dst[i] = cmplx.Exp(theta[0])*complex(x, 0) - theta[0]
	}
}

var _ proptest.ComplexTarget = lifetimes{}

// positive lifetimes; the features of a record are its Record's alone.
func lifetimeOptions() proptest.TargetOptions {
	return proptest.TargetOptions{Record: func(rng *rand.Rand, x []float64) float64 {
		x[0] = rng.ExpFloat64()
		return 0
	}}
}

func TestUserTarget(t *testing.T) { proptest.CheckTarget(t, lifetimes{}, lifetimeOptions()) }

// In a test, t is its *testing.T. The last line shows what a wrong claim looks
// like: this user forgot that a lifetime may be as long as it likes.
func ExampleCheckTarget() {
	_, failed := proptest.Try("TestLifetimes", func(t rapid.TB) {
		proptest.CheckTarget(t, lifetimes{}, lifetimeOptions())
	})
	fmt.Println("lifetimes: failed", failed)
	report, failed := proptest.Try("TestLifetimes", func(t rapid.TB) {
		proptest.CheckTarget(t, bounded{}, lifetimeOptions())
	})
	fmt.Println("with a range of 1: failed", failed)
	fmt.Println(strings.Contains(report, "the certificate is violated"),
		strings.Contains(report, "neighbouring data sets"))
	// Output:
	// lifetimes: failed false
	// with a range of 1: failed true
	// true true
}

// bounded claims a range that lifetimes do not have.
type bounded struct{ lifetimes }

func (bounded) LossRange() float64 { return 1 }

// logistic is the target that the mutants below are made of: every ability, and
// tight certificates.
func logistic(t testing.TB) *targets.Regression {
	t.Helper()
	loss := targets.Loss{Beta: 1.5}
	m, err := targets.New(targets.RegressionConfig{Features: 2, Loss: loss, Prior: priors.Gaussian{SD: 2}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestBuiltInTarget(t *testing.T) {
	for _, c := range proptest.CheckTarget(t, logistic(t), proptest.TargetOptions{Tightness: 0.95}) {
		if c.Tightness() > 1 || c.Tightness() < 0.95 {
			t.Errorf("%v", c)
		}
	}
}

// mutant is logistic regression with one thing broken.
type mutant struct {
	*targets.Regression
	loss     func(dst, theta []float64, rows targets.Rows)
	ratio    func(dst, theta, next []float64, rows targets.Rows)
	grad     func(dst, theta []float64, rows targets.Rows)
	prior    func(theta []float64) float64
	gradP    func(dst, theta []float64)
	lossAt   func(dst, eta, y []float64)
	slopeAt  func(dst, eta, y []float64)
	sample   func(theta []float64)
	shrinkBy map[string]float64 // factors on claims
}

func (m *mutant) Loss(dst, theta []float64, rows targets.Rows) {
	if m.Regression.Loss(dst, theta, rows); m.loss != nil {
		m.loss(dst, theta, rows)
	}
}

func (m *mutant) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	if m.Regression.LossRatio(dst, theta, next, rows); m.ratio != nil {
		m.ratio(dst, theta, next, rows)
	}
}

func (m *mutant) LossGrad(dst, theta []float64, rows targets.Rows) {
	if m.Regression.LossGrad(dst, theta, rows); m.grad != nil {
		m.grad(dst, theta, rows)
	}
}

func (m *mutant) LogPrior(theta []float64) float64 {
	if m.prior != nil {
		return m.prior(theta)
	}
	return m.Regression.LogPrior(theta)
}

func (m *mutant) GradLogPrior(dst, theta []float64) {
	if m.Regression.GradLogPrior(dst, theta); m.gradP != nil {
		m.gradP(dst, theta)
	}
}

func (m *mutant) LossAt(dst, eta, y []float64) {
	if m.lossAt != nil {
		m.lossAt(dst, eta, y)
		return
	}
	m.Regression.LossAt(dst, eta, y)
}

func (m *mutant) SlopeAt(dst, eta, y []float64) {
	if m.Regression.SlopeAt(dst, eta, y); m.slopeAt != nil {
		m.slopeAt(dst, eta, y)
	}
}

func (m *mutant) SamplePrior(theta []float64, rng *rand.Rand) {
	if m.Regression.SamplePrior(theta, rng); m.sample != nil {
		m.sample(theta)
	}
}

func (m *mutant) factor(name string) float64 {
	if f, ok := m.shrinkBy[name]; ok {
		return f
	}
	return 1
}

func (m *mutant) LossRange() float64 { return m.factor("range") * m.Regression.LossRange() }
func (m *mutant) PredictorLipschitz() float64 {
	return m.factor("Lipschitz") * m.Regression.PredictorLipschitz()
}
func (m *mutant) RatioBound(theta, next []float64, radius float64) float64 {
	return m.factor("ratio") * m.Regression.RatioBound(theta, next, radius)
}
func (m *mutant) GradBound(radius float64) float64 {
	return m.factor("gradient") * m.Regression.GradBound(radius)
}

func scale(dst []float64, by float64) {
	for i := range dst {
		dst[i] *= by
	}
}

func TestBrokenTargetsAreRejected(t *testing.T) {
	type call struct{ theta, x *float64 }
	kept, seen := map[call][]float64{}, 0.0
	for name, c := range map[string]struct {
		words string
		m     mutant
	}{
		"mixes records": {"dst[i] must depend on record i alone", mutant{loss: func(dst, _ []float64, _ targets.Rows) {
			dst[len(dst)-1] += dst[0] * 1e-9
		}}},
		"writes to records": {"writes to its features", mutant{grad: func(_, _ []float64,
			rows targets.Rows) {
			rows.X[0]++
		}}},
		"writes to responses": {"writes to its responses",
			mutant{loss: func(_, _ []float64, rows targets.Rows) { rows.Y[0] = 1 - rows.Y[0] }}},
		"writes to θ": {"writes to its parameters", mutant{ratio: func(_, theta, _ []float64,
			_ targets.Rows) {
			theta[0]++
		}}},
		"appends to θ": {"memory beyond its parameters", mutant{ratio: func(_, theta, _ []float64, _ targets.Rows) {
			scale(append(theta, 1), 1)
		}}},
		"appends to θ in the prior": {"LogPrior writes to memory beyond", mutant{prior: func(theta []float64) float64 {
			scale(append(theta, 1), 1)
			return 0
		}}},
		"keeps θ": {"it keeps an argument", mutant{loss: func(dst, theta []float64, rows targets.Rows) {
			key := call{&theta[0], &rows.X[0]}
			if copy(dst, kept[key]) == 0 {
				kept[key] = slices.Clone(dst)
			}
		}}},
		"panics on NaN": {"Loss panics (no label)", mutant{loss: func(_, _ []float64, rows targets.Rows) {
			for _, y := range rows.Y {
				if math.IsNaN(y) {
					panic("no label")
				}
			}
		}}},
		"not finite": {"of a plausible record", mutant{loss: func(dst, _ []float64,
			_ targets.Rows) {
			scale(dst, math.Inf(1))
		}}},
		"ratio reversed":  {"LossRatio is", mutant{ratio: func(dst, _, _ []float64, _ targets.Rows) { scale(dst, -1) }}},
		"gradient 1% off": {"∂ℓ/∂θ", mutant{grad: func(dst, _ []float64, _ targets.Rows) { scale(dst, 1.01) }}},
		"prior gradient":  {"∂log p₀/∂θ", mutant{gradP: func(dst, _ []float64) { scale(dst, -1) }}},
		"prior sees data": {"depends on data", mutant{loss: func([]float64, []float64, targets.Rows) { seen++ },
			prior: func([]float64) float64 { return seen }}},
		"prior not finite":   {"LogPrior is", mutant{prior: func([]float64) float64 { return math.NaN() }}},
		"draws outside":      {"SamplePrior", mutant{sample: func(theta []float64) { theta[0] = math.NaN() }}},
		"LossAt":             {"LossAt is", mutant{lossAt: func(dst, eta, y []float64) { copy(dst, eta) }}},
		"SlopeAt":            {"∂ℓ/∂η", mutant{slopeAt: func(dst, _, _ []float64) { scale(dst, 0.999) }}},
		"range 1% low":       {"range: found", mutant{shrinkBy: map[string]float64{"range": 0.99}}},
		"Lipschitz 1% low":   {"Lipschitz: found", mutant{shrinkBy: map[string]float64{"Lipschitz": 0.99}}},
		"ratio bound 2% low": {"ratio: found", mutant{shrinkBy: map[string]float64{"ratio": 0.98}}},
		"gradient 2% low":    {"gradient: found", mutant{shrinkBy: map[string]float64{"gradient": 0.98}}},
		"range 10% high":     {"the bound is loose", mutant{shrinkBy: map[string]float64{"range": 1.1}}},
	} {
		t.Run(name, func(t *testing.T) {
			c.m.Regression = logistic(t)
			mustReject(t, c.words, func(t rapid.TB) {
				proptest.CheckTarget(t, &c.m, proptest.TargetOptions{Tightness: 0.95, Effort: proptest.Quick})
			})
		})
	}
}

// unshaped has a shape that no record has.
type unshaped struct{ lifetimes }

func (unshaped) Shape() (int, bool) { return 0, false }

// adder adds to what dst holds.
type adder struct{ lifetimes }

func (adder) Loss(dst, theta []float64, rows targets.Rows) {
	for i, x := range rows.X {
		dst[i] += math.Exp(theta[0])*x - theta[0]
	}
}

// wrongStep has a gradient that differences cannot tell from the right one.
type wrongStep struct{ lifetimes }

func (wrongStep) LossGrad(dst, theta []float64, rows targets.Rows) {
	lifetimes{}.LossGrad(dst, theta, rows)
	scale(dst, 1+1e-8)
}

func TestMoreBrokenTargetsAreRejected(t *testing.T) {
	mustReject(t, "Shape is", func(t rapid.TB) { proptest.CheckTarget(t, unshaped{}, lifetimeOptions()) })
	mustReject(t, "dst[i] must depend on record i alone",
		func(t rapid.TB) { proptest.CheckTarget(t, adder{}, lifetimeOptions()) })
	mustReject(t, "the complex step gives", func(t rapid.TB) { proptest.CheckTarget(t, wrongStep{}, lifetimeOptions()) })
}

// imputes takes a missing number of a record of two for its parameter, of which it may forget one.
type imputes struct{ forgets bool }

func (imputes) Dim() int                              { return 2 }
func (imputes) Shape() (int, bool)                    { return 2, false }
func (imputes) LogPrior(theta []float64) float64      { return -(theta[0]*theta[0] + theta[1]*theta[1]) / 2 }
func (imputes) GradLogPrior(dst, theta []float64)     { dst[0], dst[1] = -theta[0], -theta[1] }
func (imputes) Loss(dst, t []float64, r targets.Rows) { imputes{}.each(dst, nil, t, r) }
func (m imputes) LossGrad(dst, t []float64, r targets.Rows) {
	m.each(make([]float64, r.Len()), dst, t, r)
}

func (m imputes) each(loss, grad, theta []float64, rows targets.Rows) {
	for i := range loss {
		x, sum := slices.Clone(rows.Row(i)), 1.0
		for j, v := range x {
			if math.IsNaN(v) {
				x[j] = theta[j]
			}
			sum += x[j]
		}
		loss[i] = math.Hypot(1, sum)
		for j := range min(len(grad), 2) {
			missing := math.IsNaN(rows.Row(i)[j]) && !(m.forgets && j == 1 && math.IsNaN(rows.Row(i)[0]))
			grad[2*i+j] = map[bool]float64{true: sum / loss[i]}[missing]
		}
	}
}

// TestTwoMissingNumbers: a gradient that is wrong only where both numbers of a record are missing is found.
func TestTwoMissingNumbers(t *testing.T) {
	proptest.CheckTarget(t, imputes{}, proptest.TargetOptions{Effort: proptest.Quick})
	mustReject(t, "LossGrad says that ∂ℓ/∂θ[1] is 0", func(t rapid.TB) {
		proptest.CheckTarget(t, imputes{forgets: true}, proptest.TargetOptions{Effort: proptest.Quick})
	})
}

// late are lifetimes that begin at a parameter: one that ends before has an infinite loss, and one of 77
// stands for a missing number.
type late struct{ ratio, gradient bool }

func (late) Dim() int                          { return 1 }
func (late) Shape() (int, bool)                { return 1, false }
func (late) LogPrior(theta []float64) float64  { return -theta[0] * theta[0] / 2 }
func (late) GradLogPrior(dst, theta []float64) { dst[0] = -theta[0] }
func (late) Loss(dst, t []float64, r targets.Rows) {
	for i, x := range r.X {
		switch {
		case x == 77:
			dst[i] = math.NaN()
		case x < t[0]:
			dst[i] = math.Inf(1)
		default:
			dst[i] = x - t[0]
		}
	}
}

func (m late) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	then := make([]float64, len(dst))
	m.Loss(dst, theta, rows)
	m.Loss(then, next, rows)
	for i := range dst {
		if dst[i] -= then[i]; m.ratio && math.IsInf(dst[i], 0) {
			dst[i] = math.NaN() // so that nothing overflows
		}
	}
}

func (m late) LossGrad(dst, theta []float64, rows targets.Rows) {
	for i, x := range rows.X {
		if dst[i] = -1; x < theta[0] || x == 77 && !m.gradient {
			dst[i] = math.NaN()
		}
	}
}

// TestRecordsCountAlike: a ratio that is no number where one loss is infinite is found, and so is a gradient
// where the loss is no number.
func TestRecordsCountAlike(t *testing.T) {
	o := proptest.TargetOptions{Record: func(rng *rand.Rand, x []float64) float64 {
		x[0] = 6 + rng.ExpFloat64()
		return 0
	}}
	proptest.CheckTarget(t, late{}, o)
	mustReject(t, "it must be infinite, or large", func(t rapid.TB) { proptest.CheckTarget(t, late{ratio: true}, o) })
	mustReject(t, "Loss is no number", func(t rapid.TB) { proptest.CheckTarget(t, late{gradient: true}, o) })
}

// halfOpen steps at a decimal number, which its gradient has on one side.
type halfOpen struct{}

func (halfOpen) Dim() int                          { return 1 }
func (halfOpen) Shape() (int, bool)                { return 1, false }
func (halfOpen) LogPrior(theta []float64) float64  { return -theta[0] * theta[0] / 2 }
func (halfOpen) GradLogPrior(dst, theta []float64) { dst[0] = -theta[0] }

func (halfOpen) Loss(dst, t []float64, r targets.Rows) { halfOpen{}.each(dst, nil, t, r) }
func (halfOpen) LossGrad(dst, t []float64, r targets.Rows) {
	halfOpen{}.each(make([]float64, r.Len()), dst, t, r)
}

func (halfOpen) each(loss, grad, theta []float64, rows targets.Rows) {
	for i, x := range rows.X {
		steps := map[bool]float64{true: 1}
		if loss[i] = math.Hypot(1, theta[0]*steps[x >= 17]); grad != nil {
			grad[i] = theta[0] * steps[x > 17] / loss[i]
		}
	}
}

// TestExactNumbers: a gradient that is wrong for one whole number is found.
func TestExactNumbers(t *testing.T) {
	mustReject(t, "x = (17)", func(t rapid.TB) { proptest.CheckTarget(t, halfOpen{}, lifetimeOptions()) })
}

// chunked are lifetimes in chunks of so many, whose last chunk is forgotten if it is of one record; a sum in
// chunks forgets it too.
type chunked struct {
	lifetimes
	of int
}

func (c chunked) lost(n int) bool { return n > c.of && n%c.of == 1 }

func (c chunked) Loss(dst, theta []float64, rows targets.Rows) {
	if c.lifetimes.Loss(dst, theta, rows); c.lost(len(dst)) {
		dst[len(dst)-1] = 0
	}
}

// summed are lifetimes whose sums alone are chunked.
type summed struct {
	lifetimes
	of int
}

func (s summed) SumLossGrad(grad, theta []float64, rows targets.Rows) (loss float64) {
	n := rows.Len()
	if (chunked{of: s.of}).lost(n) {
		n--
	}
	grad[0] = 0
	for _, x := range rows.X[:n] {
		loss += math.Exp(theta[0])*x - theta[0]
		grad[0] += math.Exp(theta[0])*x - 1
	}
	return loss
}

// turning are lifetimes whose sums begin with the first record or with the last, by turns.
type turning struct {
	lifetimes
	calls *int
}

func (s turning) SumLossGrad(grad, theta []float64, rows targets.Rows) (loss float64) {
	*s.calls++
	grad[0] = 0
	for i, n := 0, rows.Len(); i < n; i++ {
		x := rows.X[i]
		if *s.calls%2 == 0 {
			x = rows.X[n-1-i]
		}
		loss += math.Exp(theta[0])*x - theta[0]
		grad[0] += math.Exp(theta[0])*x - 1
	}
	return loss
}

// TestSumsComeAgain: sums of one batch are the same in every bit.
func TestSumsComeAgain(t *testing.T) {
	mustReject(t, "in one order", func(t rapid.TB) {
		proptest.CheckTarget(t, turning{calls: new(int)}, lifetimeOptions())
	})
}

// TestBatchesOfManyLengths: what is left over after chunks is lost for one length in a thousand, and found.
func TestBatchesOfManyLengths(t *testing.T) {
	for _, of := range []int{37, 333, 1000, 10_000} {
		mustReject(t, "dst[i] must depend on record i alone", func(t rapid.TB) {
			proptest.CheckTarget(t, chunked{of: of}, lifetimeOptions())
		})
	}
	proptest.CheckTarget(t, summed{of: 1 << 40}, lifetimeOptions())
	for _, of := range []int{37, 1000, 5000} {
		mustReject(t, "SumLossGrad", func(t rapid.TB) { proptest.CheckTarget(t, summed{of: of}, lifetimeOptions()) })
	}
}

// TestViolationsAreShrunk: the witness of a false bound is a minimal pair.
func TestViolationsAreShrunk(t *testing.T) {
	for _, c := range proptest.SearchCertificates(bounded{}, lifetimeOptions()) {
		if c.Found <= c.Bound || !strings.Contains(c.Witness, "θ = (0), neighbouring data sets {x = (") {
			t.Errorf("%v: not shrunk to θ = 0", c)
		}
		if len(c.Witness) > 80 {
			t.Errorf("the witness is not plain: %s", c.Witness)
		}
	}
}
