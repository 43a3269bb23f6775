package curator

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
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
			g, err := Charge(sealed, m, 1)
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

// TestSumsOfGradientsAreReleasedAsTheTable: the same for gradients, in two parts, with
// gradients that are shortened among them.
func TestSumsOfGradientsAreReleasedAsTheTable(t *testing.T) {
	target, err := targets.New(targets.RegressionConfig{Features: 3, Prior: priors.Gaussian{SD: 2}})
	if err != nil {
		t.Fatal(err)
	}
	m := NoisyGradient{Target: target, Clip: 0.3, NoiseMultiplier: 3}
	rng := rand.New(rand.NewPCG(4, 9))
	const n, p = 500, 3
	r := Records{X: make([]float64, n*p), Features: p, Y: make([]float64, n), Radius: 1}
	for i := range r.X {
		r.X[i] = rng.NormFloat64() / 3
	}
	for i := range r.Y {
		r.Y[i] = float64(rng.IntN(2))
	}
	sealed, theta := seal(t, r), []float64{1, -2, 0.5}
	f := sealed.Facts()
	g, err := Charge(sealed, m, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, p)
	if err := g.Release(want, theta); err != nil {
		t.Fatal(err)
	}
	released := func(drop int) []float64 {
		sums := make([]int64, p)
		for _, at := range [][2]int{{200, n - drop}, {0, 200}} {
			part := r
			part.X, part.Y = r.X[at[0]*p:at[1]*p], r.Y[at[0]:at[1]]
			if err := m.AddSums(sums, f, theta, part); err != nil {
				t.Fatal(err)
			}
		}
		paid := budget(t, accountant.Substitute)
		totals, err := NewTotals(f, paid, InsecureSeed(1))
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, p)
		if err := totals.ReleaseGradient(got, m, sums); err != nil {
			t.Fatal(err)
		}
		price, err := m.Event(f)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := paid.Events().String(), price.String(); a != b {
			t.Errorf("%s was charged, a pooled release costs %s", a, b)
		}
		return got
	}
	if got := released(0); !slices.Equal(got, want) {
		t.Errorf("the parts released %v, the table %v", got, want)
	}
	if got := released(1); slices.Equal(got, want) {
		t.Error("a record that is left out is not seen")
	}
	totals, err := NewTotals(f, budget(t, accountant.Substitute))
	if err != nil {
		t.Fatal(err)
	}
	batch := m
	batch.Batch = Batch{Rate: 0.1}
	other := r
	other.Radius = 2
	for name, err := range map[string]error{
		"no sums":        totals.ReleaseGradient(want, m, nil),
		"a batch":        totals.ReleaseGradient(want, batch, make([]int64, p)),
		"a batch's sums": batch.AddSums(make([]int64, p), f, theta, r),
		"another radius": m.AddSums(make([]int64, p), f, theta, other),
		"short sums":     m.AddSums(make([]int64, 1), f, theta, r),
		"no point":       m.AddSums(make([]int64, p), f, []float64{1, 2, math.NaN()}, r),
	} {
		if err == nil {
			t.Errorf("%s were taken", name)
		}
	}
}

// TestSumsOfRatiosAreReleasedAsTheTable: the same for ratios, in two parts, at moves of
// clips of their own, with contributions that are clipped among them.
func TestSumsOfRatiosAreReleasedAsTheTable(t *testing.T) {
	target, err := targets.New(targets.RegressionConfig{Features: 2, Prior: priors.Gaussian{SD: 2}})
	if err != nil {
		t.Fatal(err)
	}
	m := NoisyRatio{Target: target, Clip: 1, NoiseMultiplier: 3}
	rng := rand.New(rand.NewPCG(5, 9))
	const n, p = 400, 2
	r := Records{X: make([]float64, n*p), Features: p, Y: make([]float64, n), Radius: 1}
	for i := range r.X {
		r.X[i] = rng.NormFloat64() / 2
	}
	for i := range r.Y {
		r.Y[i] = float64(rng.IntN(2))
	}
	moves := []struct {
		theta, next []float64
		clip        float64
	}{{[]float64{0, 0}, []float64{1, -1}, 0.3}, {[]float64{1, -1}, []float64{2, 0}, 1e-3}}
	sealed, paid := seal(t, r), budget(t, accountant.Substitute)
	f := sealed.Facts()
	pooled, err := Charge(sealed, m, 2)
	if err != nil {
		t.Fatal(err)
	}
	totals, err := NewTotals(f, paid, InsecureSeed(1))
	if err != nil {
		t.Fatal(err)
	}
	grants, err := totals.GrantRatios(m, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := paid.Events().String(), sealed.Budget().Events().String(); a != b {
		t.Errorf("%s was charged, pooled releases cost %s", a, b)
	}
	var parts []func(next, theta []float64, clip float64) (int64, error)
	for _, at := range [][2]int{{150, n}, {0, 150}} {
		part := r
		part.X, part.Y = r.X[at[0]*p:at[1]*p], r.Y[at[0]:at[1]]
		s, err := m.SumsOver(f, part)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, s)
	}
	for _, move := range moves {
		want, err := pooled.ReleaseWithin(move.next, move.theta, move.clip)
		if err != nil {
			t.Fatal(err)
		}
		all := int64(0)
		for _, s := range parts {
			sum, err := s(move.next, move.theta, move.clip)
			if err != nil || sum == 0 {
				t.Fatalf("a sum of %v (%v)", sum, err)
			}
			all += sum
		}
		if _, err := grants[0].ReleaseSum(all, 0); err == nil {
			t.Error("a clip of 0 was taken")
		}
		if got, err := grants[0].ReleaseSum(all, move.clip); err != nil || got != want {
			t.Errorf("the parts released %v (%v), the table %v", got, err, want)
		}
	}
	if _, err := grants[0].ReleaseSum(0, 1); !errors.Is(err, ErrSpent) {
		t.Errorf("a third release: %v", err)
	}
	_, sealedSum := pooled.ReleaseSum(0, 1)
	_, moved := grants[0].Release([]float64{1, 1}, []float64{0, 0})
	_, within := grants[0].ReleaseWithin([]float64{1, 1}, []float64{0, 0}, 1)
	batch, other := m, r
	batch.Batch, other.Radius = Batch{Rate: 0.1}, 2
	_, sums := batch.SumsOver(f, r)
	_, given := totals.GrantRatios(batch, 1, 1)
	_, radius := m.SumsOver(f, other)
	_, noiseless := NoisyRatio{Target: target, Clip: 1}.SumsOver(f, r)
	_, point := parts[0]([]float64{1}, []float64{0, 0}, 1)
	_, clip := parts[0]([]float64{1, 1}, []float64{0, 0}, math.Inf(1))
	for name, err := range map[string]error{"a batch's sums": sums, "a batch": given, "another radius": radius,
		"no noise": noiseless, "a short point": point, "an infinite clip": clip,
		"a sum of sealed records": sealedSum, "a move over records elsewhere": moved, "the same within a clip": within} {
		if err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
