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

// acceptances are the chances that a grant accepts the drawn move step, over all
// batches, for each of the public log-odds. Contributions are −x·step.
func acceptances(b *Bits, step, public []float64) []float64 {
	m, n := b.plan.mechanism, b.records
	theta, out := make([]float64, len(step)), make([]float64, len(public))
	for subset := range 1 << n {
		size := bits.OnesCount(uint(subset))
		weight := 1.0
		switch {
		case m.Batch.scheme() == poissonBatch:
			weight = math.Pow(m.Batch.Rate, float64(size)) * math.Pow(1-m.Batch.Rate, float64(n-size))
		case m.Batch.scheme() == fixedBatch && int64(size) == m.Batch.Size:
			weight = 1 / binomial(n, size)
		case m.Batch.scheme() == fixedBatch || size != n:
			continue
		}
		var index []int32
		for i := range n {
			if subset>>i&1 == 1 {
				index = append(index, int32(i))
			}
		}
		sums := b.pass.Sums(theta, step, step, index)
		for i, u := range public {
			tail, upper := b.plan.test.Accept(b.logOdds(sums.Sum, u), b.variance(sums, len(index)))
			if upper {
				tail = 1 - tail
			}
			out[i] += weight * tail
		}
	}
	return out
}

// decisions are what a mechanism does with a table: the chances of accepting a
// move for each of the public log-odds.
type decisions func(x []float64) func(step, public []float64) []float64

// drawn integrates over moves of a scale: the divergences of order alpha, the
// larger direction, of (move, bit) between two tables, the public part of the
// log-odds being for each move the worst one for the records.
func drawn(decide decisions, scale float64, dim int, x, y []float64, alphas []float64) []float64 {
	public := []float64{-6, -4, -3, -2, -1, -0.5, 0, 0.5, 1, 2, 3, 4, 6}
	const cell, end = 0.6, 4.8
	with, other := decide(x), decide(y)
	sum := make([][2]float64, len(alphas))
	mass := 0.0
	step := make([]float64, dim)
	add := func(weight float64) {
		p, q := with(step, public), other(step, public)
		mass += weight
		for i, a := range alphas {
			var worst [2]float64
			for j := range public {
				for way, pq := range [2][2]float64{{p[j], q[j]}, {q[j], p[j]}} {
					worst[way] = max(worst[way], math.Pow(pq[0], a)*math.Pow(pq[1], 1-a)+math.Pow(1-pq[0], a)*math.Pow(1-pq[1], 1-a))
				}
			}
			sum[i][0] += weight * worst[0]
			sum[i][1] += weight * worst[1]
		}
	}
	for z := cell / 2; z < end; z += cell { // a move and its reverse are worth the same
		if dim == 1 {
			step[0] = scale * z
			add(math.Exp(-z * z / 2))
			continue
		}
		for y := cell/2 - end; y < end; y += cell {
			step[0], step[1] = scale*z, scale*y
			add(math.Exp(-(z*z + y*y) / 2))
		}
	}
	out := make([]float64, len(alphas))
	for i, a := range alphas {
		out[i] = math.Log(max(sum[i][0], sum[i][1])/mass) / (a - 1)
	}
	return out
}

// TestDrawnMovesDivergence holds the price of bits for drawn moves against their
// divergence on tiny tables, over all batches and moves, for pairs that a random
// search makes as bad as it can: rows of a person in directions of their own, of
// any length, replaced or removed. Never above the price; and on full data and
// Poisson batches so close to it that a price of a few percent less would fail.
func TestDrawnMovesDivergence(t *testing.T) {
	alphas := []float64{1.5, 4, 12}
	for _, tc := range []struct {
		name  string
		test  Test
		batch Batch
		scale float64
		tight float64
	}{
		{"full", Test{}, Batch{}, 0.4, 0.97},
		{"Poisson", Test{}, Batch{Rate: 0.3}, 0.15, 0.6},
		{"large, Poisson", Test{}, Batch{Rate: 0.3}, 0.6, 0},
		{"fixed", Test{}, Batch{Size: 1}, 0.15, 0},
		{"corrected, full", Test{Corrected: 1}, Batch{}, 0.3, 0.9},
		{"corrected, Poisson", Test{Corrected: 1}, Batch{Rate: 0.4}, 0.05, 0},
		{"corrected, fixed", Test{Corrected: 1}, Batch{Size: 2}, 0.05, 0},
		{"penalty, full", Test{Penalty: 1}, Batch{}, 0.02, 0.9},
	} {
		for _, adj := range []accountant.Adjacency{accountant.Substitute, accountant.AddRemove} {
			for _, rows := range []int{1, 2} {
				for dim := 1; dim <= 2; dim++ {
					if adj == accountant.AddRemove && tc.batch.scheme() == fixedBatch {
						continue
					}
					t.Run(fmt.Sprintf("%s, %v, %d rows, %d dimensions", tc.name, adj, rows, dim), func(t *testing.T) {
						t.Parallel()
						m := AcceptanceBit{Target: newToy(dim), Proposal: Proposal{Scale: tc.scale}, Test: tc.test, Batch: tc.batch}
						f := Facts{Records: 3, Features: dim, Radius: 1, RowsPerPerson: rows, Adjacency: adj}
						event, err := m.Event(f)
						if err != nil {
							t.Fatal(err)
						}
						decide := func(x []float64) func(step, public []float64) []float64 {
							b, err := bitsOver(m, f, record.New(x, dim, nil, len(x)/dim, f.Radius))
							if err != nil {
								t.Fatal(err)
							}
							return func(step, public []float64) []float64 { return acceptances(b, step, public) }
						}
						if best := search(t, decide, tc.scale, f, event, alphas); best > 1+1e-9 || rows == 1 && best < tc.tight {
							t.Errorf("the worst pair reaches %v of the price, want at least %v and at most 1", best, tc.tight)
						}
					})
				}
			}
		}
	}
}

// search returns the largest share of the price that a pair of tables reaches:
// from pairs at random and opposite ones, it moves whatever makes things worse.
func search(t *testing.T, decide decisions, scale float64, f Facts, event accountant.Event,
	alphas []float64) (best float64) {
	const starts, steps = 2, 5
	rng := rand.New(rand.NewPCG(uint64(f.Features), uint64(f.RowsPerPerson)))
	n, mine := int(f.Records)*f.Features, f.RowsPerPerson*f.Features
	table := func() []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	share := func(x, y []float64) (worst float64) {
		other := append(append([]float64(nil), y[:mine]...), x[mine:]...)
		if f.Adjacency == accountant.AddRemove {
			other = x[mine:]
		}
		for i, d := range drawn(decide, scale, f.Features, x, other, alphas) {
			worst = max(worst, d/event.RDP(alphas[i]))
		}
		return worst
	}
	for start := range starts {
		x, y := table(), table()
		if start == 0 { // opposite rows beside silent ones
			clear(x)
			clear(y)
			for i := 0; i < mine; i += f.Features {
				x[i], y[i] = 1, -1
			}
		}
		at := share(x, y)
		for range steps {
			u, v := table(), table()
			for i := range u {
				u[i], v[i] = x[i]+0.5*u[i], y[i]+0.5*v[i]
			}
			if s := share(u, v); s > at {
				x, y, at = u, v, s
			}
		}
		best = max(best, at)
	}
	t.Logf("%.3f", best)
	return best
}

// TestDrawnThinnedDivergence is the same for thinned batches, over the use of
// every record. The price pays for both ends of the lemma, which are at opposite
// log-odds, so it is not reached.
func TestDrawnThinnedDivergence(t *testing.T) {
	for _, adj := range []accountant.Adjacency{accountant.Substitute, accountant.AddRemove} {
		for rows := 1; rows <= 2; rows++ {
			for dim := 1; dim <= 2; dim++ {
				for _, scale := range []float64{0.02, 0.15} {
					t.Run(fmt.Sprintf("%v, %d rows, %d dimensions, scale %v", adj, rows, dim, scale), func(t *testing.T) {
						t.Parallel()
						f := Facts{Records: 3, Features: dim, Radius: 1, RowsPerPerson: rows, Adjacency: adj}
						m := ThinnedBit{Target: newToy(dim), Proposal: Proposal{Scale: scale}}
						m.Rate = -math.Expm1(-2.001 * scale * (math.Sqrt(float64(dim)) + 4))
						p, err := m.thinning(f)
						if err != nil {
							t.Fatal(err)
						}
						event, err := m.Event(f)
						if err != nil {
							t.Fatal(err)
						}
						decide := func(x []float64) func(step, public []float64) []float64 {
							set := record.New(x, dim, nil, len(x)/dim, f.Radius)
							return func(step, public []float64) []float64 {
								out := make([]float64, len(public))
								values := make([]float64, set.Len())
								for i := range values {
									row, _ := set.Block(nil, nil, i, i+1)
									for j, v := range row {
										values[i] -= v * step[j]
									}
								}
								for i, u := range public {
									if out[i] = 0.5; record.Norm(step) <= p.largest { // longer moves are refused
										out[i] = thinnedAcceptance(values, record.Norm(step), m.Rate, u)
									}
								}
								return out
							}
						}
						if best := search(t, decide, scale, f, event, []float64{1.5, 4, 12}); best > 1+1e-9 || rows == 1 && best < 0.5 {
							t.Errorf("the worst pair reaches %v of the price", best)
						}
					})
				}
			}
		}
	}
}
