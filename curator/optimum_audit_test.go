package curator_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// optimum is a private optimum with a claim that mutants make too small.
type optimum struct {
	m     curator.Optimum
	claim accountant.Event
}

func (o optimum) Claim() accountant.Event { return o.claim }

func (o optimum) Release(r curator.Records, seed uint64, count int) ([][]float64, error) {
	c, err := sealed(r, o.claim.Adjacency(), seed)
	if err != nil {
		return nil, err
	}
	grant, err := curator.Charge(c, o.m, int64(count))
	if err != nil {
		return nil, err
	}
	all := make([][]float64, count)
	for i := range all {
		all[i] = make([]float64, r.Features)
		if err := grant.Release(all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func sealed(r curator.Records, adj accountant.Adjacency, seed uint64) (*curator.Curator, error) {
	b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1e9, Delta: 1e-6, Adjacency: adj})
	if err != nil {
		return nil, err
	}
	return curator.Seal(r, b, curator.InsecureSeed(seed))
}

func facts(r curator.Records, adj accountant.Adjacency) curator.Facts {
	return curator.Facts{Records: int64(len(r.Y)), Features: r.Features, Response: true, Radius: r.Radius,
		RowsPerPerson: 1, Adjacency: adj}
}

// surprised is a table in which everybody agrees with a strong slope but the
// first person, whose gradient is then near its bound.
func surprised(others int) (with, without curator.Records) {
	with = curator.Records{Features: 1, Radius: 1, X: []float64{1}, Y: []float64{0}}
	for range others {
		with.X, with.Y = append(with.X, 1), append(with.Y, 1)
	}
	without = with
	without.X, without.Y = with.X[1:], with.Y[1:]
	return with, without
}

// TestOptimumCostsWhatItClaims: a distinguisher finds no more in releases than is
// charged, and finds noise of 0.6 times. False-alarm rate 10⁻⁶ each.
func TestOptimumCostsWhatItClaims(t *testing.T) {
	with, without := surprised(25)
	m := curator.Optimum{Ridge: 1.25, NoiseMultiplier: 0.5} // σ = 1, the sensitivity
	claim, err := m.Event(facts(with, accountant.AddRemove))
	if err != nil {
		t.Fatal(err)
	}
	options := proptest.MechanismOptions{A: with, B: without, Delta: 1e-6, Releases: 12_000, Effort: proptest.Quick}
	proptest.CheckMechanism(t, optimum{m, claim}, options)
	m.NoiseMultiplier *= 0.6
	mustReject(t, "noise × 0.6", optimum{m, claim}, options)
}

// TestOptimumPaysForItsDeterminant: with a small ridge a record's curvature
// shows, which a price for the linear term alone does not cover. False-alarm rate
// 10⁻⁶ each.
func TestOptimumPaysForItsDeterminant(t *testing.T) {
	curved := curator.Records{Features: 1, Radius: 1, X: []float64{1}, Y: []float64{1}}
	flat := curator.Records{Features: 1, Radius: 1, X: []float64{0}, Y: []float64{1}}
	m := curator.Optimum{Ridge: 0.05, NoiseMultiplier: 3.3}
	claim, err := m.Event(facts(curved, accountant.Substitute))
	if err != nil {
		t.Fatal(err)
	}
	// The record's curvature is where the optimum is near 0.
	near := func(release []float64) float64 { return -math.Abs(release[0]) }
	options := proptest.MechanismOptions{A: curved, B: flat, Delta: 1e-6, Statistic: near, Releases: 50_000,
		Effort: proptest.Quick}
	proptest.CheckMechanism(t, optimum{m, claim}, options)
	dropped, err := accountant.Perturbation{NoiseMultiplier: 3.3, Logistic: true, Coordinates: 1}.
		Event(accountant.Substitute)
	if err != nil {
		t.Fatal(err)
	}
	mustReject(t, "determinant dropped", optimum{m, dropped}, options)
}

func mustReject(t *testing.T, name string, m proptest.Mechanism, o proptest.MechanismOptions) {
	t.Helper()
	report, failed := proptest.Try(t.Name(), func(t rapid.TB) { proptest.CheckMechanism(t, m, o) })
	if !failed || !strings.Contains(report, "costs more than") {
		t.Errorf("%s: not rejected: %s", name, report)
	}
}

// moments is a noisy second moment as a vector whose length is the matrix's.
type moments struct {
	m     curator.SecondMoment
	claim accountant.Event
	plain bool // a mutant: entries off the diagonal are not weighted
}

func (o moments) Claim() accountant.Event { return o.claim }
func (o moments) Sensitivity() float64    { return math.Sqrt2 * (1 + 1e-8) }
func (o moments) Step() float64           { return 0 }

func (o moments) Release(r curator.Records, seed uint64, count int) ([][]float64, error) {
	c, err := sealed(r, o.claim.Adjacency(), seed)
	if err != nil {
		return nil, err
	}
	grant, err := curator.Charge(c, o.m, int64(count))
	if err != nil {
		return nil, err
	}
	all := make([][]float64, count)
	matrix := make([]float64, 4)
	for i := range all {
		if err := grant.Release(matrix, nil); err != nil {
			return nil, err
		}
		all[i] = []float64{matrix[0], math.Sqrt2 * matrix[1], matrix[3]}
		if o.plain {
			all[i][1] *= math.Sqrt2
		}
	}
	return all, nil
}

// TestSecondMomentCostsWhatItClaims, on rows at right angles, whose matrices are
// the furthest apart. False-alarm rate 10⁻⁶ each.
func TestSecondMomentCostsWhatItClaims(t *testing.T) {
	a := curator.Records{Features: 2, Radius: 1, X: []float64{math.Sqrt2 / 2, math.Sqrt2 / 2, 0.3, 0.2}}
	b := a
	b.X = []float64{math.Sqrt2 / 2, -math.Sqrt2 / 2, 0.3, 0.2}
	m := curator.SecondMoment{NoiseMultiplier: 1}
	f := facts(a, accountant.Substitute)
	f.Records, f.Response = 2, false
	claim, err := m.Event(f)
	if err != nil {
		t.Fatal(err)
	}
	options := proptest.MechanismOptions{A: a, B: b, Delta: 1e-6, Effort: proptest.Quick}
	audit := proptest.CheckMechanism(t, moments{m, claim, false}, options)
	if share := audit.LowerRDP / audit.ClaimedRDP; share < 0.4 {
		t.Errorf("the distinguisher shows only %.2f of what an exact claim allows", share)
	}
	quiet := m
	quiet.NoiseMultiplier *= 0.7
	mustReject(t, "noise × 0.7", quietMoments{moments{quiet, claim, false}}, options)
	report, failed := proptest.Try(t.Name(), func(t rapid.TB) {
		proptest.CheckMechanism(t, moments{m, claim, true}, options)
	})
	if !failed || !strings.Contains(report, "more than the sensitivity") {
		t.Errorf("a weight of 2 off the diagonal: not rejected: %s", report)
	}
}

// quietMoments is not checked for its sensitivity, only for what it tells.
type quietMoments struct{ m moments }

func (o quietMoments) Claim() accountant.Event { return o.m.claim }
func (o quietMoments) Release(r curator.Records, seed uint64, count int) ([][]float64, error) {
	return o.m.Release(r, seed, count)
}

// A private optimum of a logistic regression on simulated records, and what it
// costs.
func ExampleCharge() {
	r := curator.Records{Features: 2, Radius: 1}
	for i := range 4000 {
		x := float64(i%100)/50 - 1
		r.X = append(r.X, 0.7*x, 0.7)
		r.Y = append(r.Y, float64((i/7+i%100)%150/75))
	}
	budget, _ := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: accountant.Substitute})
	c, _ := curator.Seal(r, budget)
	grant, err := curator.Charge(c, curator.Optimum{Ridge: 2, NoiseMultiplier: 5}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	theta := make([]float64, 2)
	err = grant.Release(theta)
	spent, _ := budget.Spent()
	fmt.Printf("%v; %d coefficients at ε = %.2f\n", err, len(theta), spent.Epsilon)
	// Output: <nil>; 2 coefficients at ε = 0.84
}

// Noisy second moments of records of norm at most 1.
func ExampleCharge_moments() {
	budget, _ := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: accountant.Substitute})
	c, _ := curator.Seal(curator.Records{X: []float64{0.6, 0.8, 1, 0}, Features: 2, Radius: 1}, budget)
	m := curator.SecondMoment{NoiseMultiplier: 40}
	sd, _ := m.NoiseSD(c.Facts())
	grant, err := curator.Charge(c, m, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	matrix := make([]float64, 4)
	err = grant.Release(matrix, nil)
	spent, _ := budget.Spent()
	fmt.Printf("%v; noise of %.1f at ε = %.2f\n", err, sd, spent.Epsilon)
	// Output: <nil>; noise of 56.6 at ε = 0.09
}
