package curator

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// TestSumsOfPartsAreReleasedAsTheTable: whatever the parts and their order, and one record
// more or less is seen.
func TestSumsOfPartsAreReleasedAsTheTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	const n, p = 500, 3
	r := Records{X: make([]float64, n*p), Features: p, Y: make([]float64, n), Radius: 1}
	for i := range r.X {
		r.X[i] = rng.NormFloat64()
	}
	for i := range r.Y {
		r.Y[i] = rng.NormFloat64()
	}
	for name, m := range map[string]SecondMoment{"features": {NoiseMultiplier: 3},
		"responses too": {NoiseMultiplier: 3, Response: 2}} {
		t.Run(name, func(t *testing.T) {
			sealed := seal(t, r)
			f := sealed.Facts()
			g, err := sealed.GrantMoments(m, 1)
			if err != nil {
				t.Fatal(err)
			}
			want := make([]float64, m.Size(f)*m.Size(f))
			if err := g.Release(want, nil); err != nil {
				t.Fatal(err)
			}
			rapid.Check(t, func(rt *rapid.T) {
				cuts := rapid.SliceOfDistinct(rapid.IntRange(1, n-1), rapid.ID[int]).Draw(rt, "cuts")
				slices.Sort(cuts)
				cuts = append(append([]int{0}, cuts...), n)
				drop := rapid.Bool().Draw(rt, "drop a record")
				sums := make([]int64, m.SumsSize(f))
				for _, i := range rapid.Permutation(slices.Clone(cuts[:len(cuts)-1])).Draw(rt, "order") {
					hi := cuts[slices.Index(cuts, i)+1]
					if drop && hi == n {
						hi--
					}
					if hi == i {
						continue
					}
					part := r
					part.X, part.Y = r.X[i*p:hi*p], r.Y[i:hi]
					if err := m.AddSums(sums, f, nil, part); err != nil {
						rt.Fatal(err)
					}
				}
				totals, err := NewTotals(f, budget(t, accountant.Substitute), InsecureSeed(1))
				if err != nil {
					rt.Fatal(err)
				}
				got := make([]float64, len(want))
				if err := totals.Release(got, m, sums); err != nil {
					rt.Fatal(err)
				}
				if slices.Equal(got, want) == drop {
					rt.Fatalf("%d parts (one record left out: %t): released %v, of the table %v", len(cuts)-1, drop, got, want)
				}
			})
			little, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1e-6, Delta: 1e-6,
				Adjacency: accountant.Substitute})
			if err != nil {
				t.Fatal(err)
			}
			poor, err := NewTotals(f, little)
			if err != nil {
				t.Fatal(err)
			}
			var exceeded *accountant.ExceededError
			if err := poor.Release(want, m, make([]int64, m.SumsSize(f))); !errors.As(err, &exceeded) {
				t.Errorf("sums beyond the budget: %v", err)
			}
			if err := poor.Release(want, m, nil); err == nil {
				t.Error("no sums were released")
			}
			other := r
			other.Radius = 2
			if err := m.AddSums(make([]int64, m.SumsSize(f)), f, nil, other); err == nil {
				t.Error("a part with another radius was added")
			}
		})
	}
}
