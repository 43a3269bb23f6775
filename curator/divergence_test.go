package curator

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// acceptProbability is the chance that a grant accepts a move of −1 from 0
// with public log-odds, over all batches: the brute force that the accountant's
// bounds must cover. A contribution equals the record.
func acceptProbability(t *testing.T, x []float64, m AcceptanceBit, public float64) float64 {
	t.Helper()
	n := len(x)
	facts := Facts{Records: int64(n), Features: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	b, err := bitsOver(m, facts, record.New(x, 1, nil, n, 0))
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	b.moveStep[0] = -1
	for subset := range 1 << n {
		size := bits.OnesCount(uint(subset))
		var weight float64
		switch m.Batch.scheme() {
		case fullData:
			if size != n {
				continue
			}
			weight = 1
		case poissonBatch:
			weight = math.Pow(m.Batch.Rate, float64(size)) * math.Pow(1-m.Batch.Rate, float64(n-size))
		case fixedBatch:
			if int64(size) != m.Batch.Size {
				continue
			}
			weight = 1 / binomial(n, size)
		}
		var index []int32
		for i := range n {
			if subset>>i&1 == 1 {
				index = append(index, int32(i))
			}
		}
		sums := b.pass.Sums([]float64{0}, []float64{-1}, b.moveStep, index)
		tail, upper := b.plan.test.Accept(b.logOdds(sums.Sum, public), b.variance(sums, len(index)))
		if upper {
			tail = 1 - tail
		}
		total += weight * tail
	}
	return total
}

func binomial(n, k int) float64 {
	v := 1.0
	for i := range k {
		v = v * float64(n-i) / float64(i+1)
	}
	return v
}

// TestBitDivergenceAgainstBruteForce holds the price of a bit against its true
// divergence on tiny data sets, over all batches: never above the price, and
// as close as 2% for the best of them.
func TestBitDivergenceAgainstBruteForce(t *testing.T) {
	const clip = 0.4
	for _, tc := range []struct {
		name  string
		test  Test
		batch Batch
		tight float64 // what the best data set must reach, 0 where Λ is loose by design
	}{
		{"full", Test{}, Batch{}, 0.98},
		{"Poisson", Test{}, Batch{Rate: 0.4}, 0.98},
		{"fixed", Test{}, Batch{Size: 2}, 0.98},
		{"corrected, full", Test{Corrected: 1}, Batch{}, 0.9},
		{"corrected, Poisson", Test{Corrected: 1}, Batch{Rate: 0.5}, 0},
		{"corrected, fixed", Test{Corrected: 1}, Batch{Size: 2}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := AcceptanceBit{Target: newToy(1), Clip: clip, Test: tc.test, Batch: tc.batch}
			event, err := m.Event(Facts{Records: 4, Features: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute})
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			for _, alpha := range []float64{1.5, 4, 16} {
				price := event.RDP(alpha)
				best := 0.0
				for trial := range 400 {
					x := make([]float64, 4)
					for i := range x {
						x[i] = extreme(rng, clip)
					}
					y := append([]float64{-x[0]}, x[1:]...)
					public := 4 * rng.NormFloat64()
					if trial%4 == 0 { // the worst cases of the proofs: neutral or opposing others
						other := clip * float64(trial/4%3-1)
						x, y = []float64{clip, other, other, other}, []float64{-clip, other, other, other}
						public = 6 * (float64(trial)/400 - 0.5)
					}
					d := rdpOfBits(alpha, acceptProbability(t, x, m, public), acceptProbability(t, y, m, public))
					if d > price*(1+1e-9) {
						t.Fatalf("α=%v: divergence %v of %v and %v at public %v exceeds the price %v", alpha, d, x, y, public, price)
					}
					best = max(best, d/price)
				}
				t.Logf("α=%v: tightness %.4f", alpha, best)
				if best < tc.tight {
					t.Errorf("α=%v: the best data set reaches %.3f of the price, want %v: the bound is loose", alpha, best, tc.tight)
				}
			}
		})
	}
}

// extreme draws a record that is often at or beyond the clip.
func extreme(rng *rand.Rand, clip float64) float64 {
	switch rng.IntN(4) {
	case 0:
		return clip
	case 1:
		return -2 * clip
	case 2:
		return 0
	}
	return clip * rng.NormFloat64()
}

// TestUnderpricedBitIsCaught is the mutant of the test above: had the price
// been that of half the contribution, some data set would exceed it.
func TestUnderpricedBitIsCaught(t *testing.T) {
	const clip = 0.4
	for _, batch := range []Batch{{}, {Rate: 0.4}, {Size: 2}} {
		honest := AcceptanceBit{Target: newToy(1), Clip: clip, Batch: batch}
		cheap := honest
		cheap.Clip = clip / 2
		event, err := cheap.Event(Facts{Records: 4, Features: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute})
		if err != nil {
			t.Fatal(err)
		}
		d := rdpOfBits(4, acceptProbability(t, []float64{clip, 0, 0, 0}, honest, 0),
			acceptProbability(t, []float64{-clip, 0, 0, 0}, honest, 0))
		if price := event.RDP(4); d <= price {
			t.Errorf("%v: a bit charged for half its contribution costs %v and still covers %v", batch, price, d)
		}
	}
}

// TestRowsPerPerson holds the price for a person with two rows against brute
// force over data sets that differ in both.
func TestRowsPerPerson(t *testing.T) {
	const clip = 0.3
	for _, batch := range []Batch{{}, {Rate: 0.4}, {Size: 2}} {
		t.Run(fmt.Sprint(batch), func(t *testing.T) {
			m := AcceptanceBit{Target: newToy(1), Clip: clip, Batch: batch}
			event, err := m.Event(Facts{Records: 5, Features: 1, RowsPerPerson: 2, Adjacency: accountant.Substitute})
			if err != nil {
				t.Fatal(err)
			}
			best := 0.0
			for step := range 60 {
				public := 8 * (float64(step)/60 - 0.5)
				for _, other := range []float64{-clip, 0, clip} {
					p := acceptProbability(t, []float64{clip, clip, other, other, other}, m, public)
					q := acceptProbability(t, []float64{-clip, -clip, other, other, other}, m, public)
					best = max(best, rdpOfBits(8, p, q)/event.RDP(8))
				}
			}
			if best > 1+1e-9 || best < 0.25 {
				t.Errorf("two rows a person: true divergence is %.3f of the price", best)
			}
		})
	}
}
