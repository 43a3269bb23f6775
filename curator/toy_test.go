package curator

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/targets"
)

// toy is a target with loss x·θ: contributions are −x·δ, so a test chooses
// every record's contribution. Its claims are fields, for tests that lie.
type toy struct {
	dim       int
	lipschitz float64
	panicAt   float64 // a first feature that makes Loss panic; NaN for none
}

var _ targets.LinearTarget = toy{}

func newToy(dim int) toy { return toy{dim: dim, lipschitz: 1, panicAt: math.NaN()} }

func (t toy) Dim() int                         { return t.dim }
func (t toy) Shape() (int, bool)               { return t.dim, false }
func (t toy) LogPrior([]float64) float64       { return 0 }
func (t toy) PredictorLipschitz() float64      { return t.lipschitz }
func (t toy) LossAt(dst, eta, _ []float64)     { copy(dst, eta) }
func (t toy) SlopeAt(dst, eta, _ []float64)    { fill(dst, 1) }
func (t toy) GradLogPrior(dst, _ []float64)    { clear(dst) }
func (t toy) GradBound(radius float64) float64 { return radius }

func (t toy) Loss(dst, theta []float64, rows targets.Rows) {
	for i := range dst {
		x := rows.Row(i)
		if x[0] == t.panicAt {
			panic("toy: a record it cannot digest")
		}
		dst[i] = 0
		for j, v := range x {
			dst[i] += v * theta[j]
		}
	}
}

func (t toy) LossGrad(dst, _ []float64, rows targets.Rows) { copy(dst, rows.X) }

func fill(dst []float64, v float64) {
	for i := range dst {
		dst[i] = v
	}
}

// budget is large enough for any test that is not about budgets.
func budget(t testing.TB, adj accountant.Adjacency) *accountant.Budget {
	t.Helper()
	b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1e9, Delta: 1e-6, Adjacency: adj})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func seal(t testing.TB, r Records, opts ...Option) *Curator {
	t.Helper()
	c, err := Seal(r, budget(t, accountant.Substitute), append([]Option{InsecureSeed(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func grantBits(t testing.TB, c *Curator, m AcceptanceBit, count int64) *Bits {
	t.Helper()
	b, err := Charge(c, m, count)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// rdpOfBits is D_α between Bernoulli(p) and Bernoulli(q), the larger direction.
func rdpOfBits(alpha, p, q float64) float64 {
	d := func(p, q float64) float64 {
		return math.Log(math.Pow(p, alpha)*math.Pow(q, 1-alpha)+math.Pow(1-p, alpha)*math.Pow(1-q, 1-alpha)) / (alpha - 1)
	}
	return max(d(p, q), d(q, p))
}

// bitsOver, signsOver and subjectOf are what a grant is built from, over a set that
// nothing was charged for.
func bitsOver(m AcceptanceBit, f Facts, set *record.Set) (*Bits, error) {
	p, err := m.plan(f)
	if err != nil {
		return nil, err
	}
	return newBits(p, set)
}

func signsOver(m GradientSigns, f Facts, set *record.Set) (*Signs, error) {
	p, err := m.plan(f)
	if err != nil {
		return nil, err
	}
	return newSigns(p, set), nil
}

func subjectOf(t testing.TB, target targets.Target) *subject {
	t.Helper()
	features, response := target.Shape()
	s, err := Facts{Features: features, Response: response}.admit(target)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
