package curator

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/noise"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// uniform is how far counts are from uniform: a χ² statistic in standard deviations.
func uniform(counts []int) float64 {
	n, k := 0, float64(len(counts))
	for _, c := range counts {
		n += c
	}
	square := 0.0
	for _, c := range counts {
		square += math.Pow(float64(c)-float64(n)/k, 2) / (float64(n) / k)
	}
	return (square - (k - 1)) / math.Sqrt(2*(k-1))
}

// TestEpochsPutEachRecordOnce: batches of an epoch are the records, each once, also where
// some batches are empty. Bins of one record, and pairs of bins of two, are uniform: 8
// standard deviations of a χ² of 24 or more degrees have a false-alarm rate below 10⁻⁹, and
// the seed is fixed. Bins that follow each other are rejected.
func TestEpochsPutEachRecordOnce(t *testing.T) {
	const records, batches, epochs = 11, 5, 20_000
	src := noise.NewInsecure([32]byte{7})
	e := newEpoch(records, batches)
	if e.unread() != 0 {
		t.Fatalf("%d batches before the first draw", e.unread())
	}
	pairs, mutant := make([]int, batches*batches), make([]int, batches*batches)
	for n := range epochs {
		e.draw(src)
		bin := make([]int, records)
		seen := 0
		for b := range batches {
			if want := int64(batches - b); e.unread() != want {
				t.Fatalf("%d batches are left, not %d", e.unread(), want)
			}
			for _, i := range e.next() {
				bin[i] = b
				seen |= 1 << i
			}
		}
		if seen != 1<<records-1 {
			t.Fatalf("epoch %d has the records %b", n, seen)
		}
		pairs[bin[3]*batches+bin[7]]++
		mutant[bin[3]*batches+(bin[3]+1)%batches]++
	}
	if z := uniform(pairs); z > 8 {
		t.Errorf("pairs of bins are %.1f standard deviations from uniform", z)
	}
	if z := uniform(mutant); z < 8 {
		t.Errorf("bins that follow each other pass, at %.1f standard deviations", z)
	}
}

// TestEpochsOfGradients: an epoch is charged as one; its releases add up to the gradient of
// all records; and what is not whole, or for other mechanisms, is refused uncharged.
func TestEpochsOfGradients(t *testing.T) {
	target, err := targets.New(targets.RegressionConfig{Features: 2, Prior: priors.Gaussian{SD: 2}})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(4, 9))
	const n, steps = 300, 6
	r := Records{X: make([]float64, 2*n), Features: 2, Y: make([]float64, n), Radius: 1}
	for i := range r.X {
		r.X[i] = rng.Float64() - 0.5
	}
	for i := range r.Y {
		r.Y[i] = float64(rng.IntN(2))
	}
	theta := []float64{1, -1}
	exact := NoisyGradient{Target: target, Clip: 1, NoiseMultiplier: 1e-5}
	allocated := exact
	allocated.Batch = Batch{Steps: steps}
	b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1e15, Delta: 1e-6, Adjacency: accountant.Substitute})
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := Seal(r, b, InsecureSeed(2))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Charge(sealed, exact, 1)
	if err != nil {
		t.Fatal(err)
	}
	want, part, sum := make([]float64, 2), make([]float64, 2), make([]float64, 2)
	if err := whole.Release(want, theta); err != nil {
		t.Fatal(err)
	}
	before := b.Events()
	g, err := Charge(sealed, allocated, 2*steps)
	if err != nil {
		t.Fatal(err)
	}
	price, err := allocated.Event(sealed.Facts())
	if err != nil {
		t.Fatal(err)
	}
	two, err := price.Times(2)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := accountant.Compose(before, two); err != nil || all.String() != b.Events().String() {
		t.Errorf("%v is charged, two epochs cost %v (%v)", b.Events(), all, err)
	}
	var first [2][]float64
	for epoch := range 2 {
		clear(sum)
		for step := range steps {
			if left := int64(2*steps - epoch*steps - step); g.Left() != left {
				t.Fatalf("%d releases are left, not %d", g.Left(), left)
			}
			if err := g.Release(part, theta); err != nil {
				t.Fatal(err)
			}
			if step == 0 {
				first[epoch] = slices.Clone(part)
			}
			for j, v := range part {
				sum[j] += v / steps // releases are scaled to all records
			}
		}
		for j := range want {
			if math.Abs(sum[j]-want[j]) > 1e-2 {
				t.Errorf("the releases of epoch %d add up to %v, all records to %v", epoch, sum, want)
			}
		}
	}
	if slices.Equal(first[0], first[1]) {
		t.Error("two epochs begin with the same batch")
	}
	if err := g.Release(part, theta); err == nil {
		t.Error("a release after the last epoch")
	}
	spent := b.Events().String()
	f := sealed.Facts()
	f.RowsPerPerson = 2
	_, err1 := Charge(sealed, allocated, steps+1)
	_, err2 := Charge(sealed, NoisyRatio{Target: target, Clip: 1, NoiseMultiplier: 1,
		Batch: Batch{Steps: steps}}, steps)
	_, err3 := Charge(sealed, AcceptanceBit{Target: target, Clip: 1, Batch: Batch{Steps: steps}}, steps)
	_, err4 := allocated.Event(f)
	for i, err := range []error{err1, err2, err3, err4} {
		if err == nil {
			t.Errorf("refusal %d: nothing was refused", i)
		}
	}
	if b.Events().String() != spent {
		t.Error("a refusal was charged")
	}
}
