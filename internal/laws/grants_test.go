package laws

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/targets"
)

// ballot has the loss x·θ: records decide moves of one parameter on their own.
type ballot struct{}

func (ballot) Dim() int                   { return 1 }
func (ballot) Shape() (int, bool)         { return 1, false }
func (ballot) LogPrior([]float64) float64 { return 0 }
func (ballot) Loss(dst, theta []float64, rows targets.Rows) {
	for i, x := range rows.X {
		dst[i] = x * theta[0]
	}
}
func (ballot) LossGrad(dst, _ []float64, rows targets.Rows) { copy(dst, rows.X) }
func (ballot) GradLogPrior(dst, _ []float64)                { clear(dst) }

// room is a curator, and the grants made on it with how often each may be used.
type room struct {
	curator *curator.Curator
	budget  *accountant.Budget
	bits    []*curator.Bits
	ratios  []*curator.Ratios
	left    map[any]int64
}

const limit = 2.0

func newRoom(rt *rapid.T, records []float64) *room {
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: limit, Delta: 1e-6,
		Adjacency: accountant.Substitute})
	if err != nil {
		rt.Fatal(err)
	}
	c, err := curator.Seal(curator.Records{X: records, Features: 1}, budget, curator.InsecureSeed(1))
	if err != nil {
		rt.Fatal(err)
	}
	return &room{curator: c, budget: budget, left: map[any]int64{}}
}

func (r *room) spent(rt *rapid.T) float64 {
	g, err := r.budget.Spent()
	if err != nil {
		rt.Fatal(err)
	}
	return g.Epsilon
}

// grantBits asks for bits and returns the error's text.
func (r *room) grantBits(rt *rapid.T, clip float64, count int64) string {
	before := r.spent(rt)
	b, err := curator.Charge(r.curator, curator.AcceptanceBit{Target: ballot{}, Clip: clip}, count)
	if err != nil {
		r.refused(rt, before, err)
		return err.Error()
	}
	r.bits = append(r.bits, b)
	r.left[b] = count
	return ""
}

func (r *room) grantRatios(rt *rapid.T, multiplier float64, count int64) string {
	before := r.spent(rt)
	g, err := curator.Charge(r.curator, curator.NoisyRatio{Target: ballot{}, Clip: 1, NoiseMultiplier: multiplier}, count)
	if err != nil {
		r.refused(rt, before, err)
		return err.Error()
	}
	r.ratios = append(r.ratios, g)
	r.left[g] = count
	return ""
}

// refused checks that a refusal was about the budget and cost nothing.
func (r *room) refused(rt *rapid.T, before float64, err error) {
	var exceeded *accountant.ExceededError
	if !errors.As(err, &exceeded) {
		rt.Fatalf("a grant was refused for %v", err)
	}
	if now := r.spent(rt); now != before {
		rt.Fatalf("a refused grant moved the budget from %v to %v", before, now)
	}
}

// use counts one use of a grant and checks whether it was right to be refused.
func (r *room) use(rt *rapid.T, grant any, left int64, err error) string {
	switch {
	case err == nil && r.left[grant] == 0:
		rt.Fatal("a spent grant released something")
	case err == nil:
		r.left[grant]--
	case r.left[grant] > 0 || !errors.Is(err, curator.ErrSpent):
		rt.Fatalf("a grant with %d releases left refuses: %v", r.left[grant], err)
	}
	if left != r.left[grant] {
		rt.Fatalf("Left is %d, %d were not used", left, r.left[grant])
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// TestGrants is a state machine over two curators, with other records and a
// budget each, on which the same is done: no budget is ever exceeded, no grant
// gives more than was paid for, whatever is interleaved; what is refused and
// the text of the refusal do not depend on the records; and a grant reads the
// records it was made on.
func TestGrants(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		// A clip of 50 makes a bit certain but for a chance of 10⁻²¹.
		rooms := [2]*room{newRoom(rt, []float64{-1e9, 0, 0}), newRoom(rt, []float64{math.Inf(1), math.NaN(), 1e9})}
		both := func(do func(r *room) string) {
			if a, b := do(rooms[0]), do(rooms[1]); a != b {
				rt.Fatalf("over other records, the same request gives\n%q and\n%q", a, b)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"grant bits": func(rt *rapid.T) {
				clip := rapid.SampledFrom([]float64{0.001, 0.1, 0.5, 50}).Draw(rt, "clip")
				count := rapid.Int64Range(1, 40).Draw(rt, "count")
				both(func(r *room) string { return r.grantBits(rt, clip, count) })
			},
			"grant ratios": func(rt *rapid.T) {
				multiplier := rapid.SampledFrom([]float64{1, 5, 50}).Draw(rt, "multiplier")
				count := rapid.Int64Range(1, 40).Draw(rt, "count")
				both(func(r *room) string { return r.grantRatios(rt, multiplier, count) })
			},
			"use bits": func(rt *rapid.T) {
				if len(rooms[0].bits) == 0 {
					rt.Skip("no grant yet")
				}
				i := rapid.IntRange(0, len(rooms[0].bits)-1).Draw(rt, "grant")
				both(func(r *room) string {
					_, err := r.bits[i].Accept([]float64{1}, []float64{0}, 0)
					return r.use(rt, r.bits[i], r.bits[i].Left(), err)
				})
			},
			"use ratios": func(rt *rapid.T) {
				if len(rooms[0].ratios) == 0 {
					rt.Skip("no grant yet")
				}
				i := rapid.IntRange(0, len(rooms[0].ratios)-1).Draw(rt, "grant")
				both(func(r *room) string {
					_, err := r.ratios[i].Release([]float64{1}, []float64{0})
					return r.use(rt, r.ratios[i], r.ratios[i].Left(), err)
				})
			},
			"": func(rt *rapid.T) {
				for _, r := range rooms {
					if e := r.spent(rt); e > limit {
						rt.Fatalf("ε = %v was spent of %v", e, limit)
					}
				}
			},
		})
	})
}

// TestGrantsReadTheirOwnRecords interleaves two curators whose records decide
// every move in opposite ways. A bit is wrong with probability 10⁻²¹.
func TestGrantsReadTheirOwnRecords(t *testing.T) {
	var bits [2]*curator.Bits
	for i, x := range []float64{-1000, 1000} {
		var err error
		if bits[i], err = curator.Charge(sealed(t, []float64{x}), curator.AcceptanceBit{Target: ballot{}, Clip: 50},
			20); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 20 {
		for i, b := range bits {
			accepted, err := b.Accept([]float64{float64(1 + n%3)}, []float64{0}, 0)
			if err != nil || accepted != (i == 0) {
				t.Fatalf("curator %d: accepted %v, error %v", i, accepted, err)
			}
		}
	}
}

func sealed(t testing.TB, x []float64) *curator.Curator {
	t.Helper()
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1e12, Delta: 1e-6,
		Adjacency: accountant.Substitute})
	if err != nil {
		t.Fatal(err)
	}
	c, err := curator.Seal(curator.Records{X: x, Features: 1}, budget, curator.InsecureSeed(1))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestErrorsDoNotDependOnRecords makes every mistake that a caller can make
// after sealing, over records of every kind, and compares the texts.
func TestErrorsDoNotDependOnRecords(t *testing.T) {
	kinds := [][]float64{{0, 0, 0}, {1, -2, 3}, {math.NaN(), math.Inf(1), math.Inf(-1)},
		{1 << 53, 5e-324, -math.MaxFloat64}}
	var want []string
	for _, x := range kinds {
		var got []string
		for _, err := range mistakes(t, sealed(t, x)) {
			if err == nil {
				t.Fatalf("mistake %d over %v: no error", len(got), x)
			}
			got = append(got, err.Error())
		}
		if want == nil {
			want = got
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("over %v: %q, over %v: %q", x, got[i], kinds[0], want[i])
			}
		}
	}
}

func mistakes(t *testing.T, c *curator.Curator) (errs []error) {
	t.Helper()
	add := func(_ any, err error) { errs = append(errs, err) }
	nan, long, zero, one := []float64{math.NaN()}, []float64{1, 2}, []float64{0}, []float64{1}
	add(curator.Charge(c, curator.AcceptanceBit{}, 1))
	add(curator.Charge(c, curator.AcceptanceBit{Target: ballot{}}, 1))
	add(curator.Charge(c, curator.AcceptanceBit{Target: ballot{}, Clip: math.NaN()}, 1))
	add(curator.Charge(c, curator.AcceptanceBit{Target: ballot{}, Clip: 1}, 0))
	add(curator.Charge(c, curator.NoisyRatio{Target: ballot{}, Clip: 1}, 1))
	add(curator.Charge(c, curator.NoisyGradient{Target: ballot{}, NoiseMultiplier: 1}, 1))
	bits, err := curator.Charge(c, curator.AcceptanceBit{Target: ballot{}, Clip: 1,
		Proposal: curator.Proposal{Radius: 2}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	add(bits.Accept(nan, nan, 0))
	add(bits.Accept(long, zero, 0))
	add(bits.Accept([]float64{9}, zero, 0))
	add(bits.Move(one, zero, nil))
	if _, err := bits.Accept(one, zero, 0); err != nil {
		t.Fatal(err)
	}
	add(bits.Accept(one, zero, 0))
	ratios, err := curator.Charge(c, curator.NoisyRatio{Target: ballot{}, Clip: 1, PerLength: true, NoiseMultiplier: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	add(ratios.Release(zero, nan))
	add(ratios.Release(zero, zero))
	if _, err := ratios.Release(one, zero); err != nil {
		t.Fatal(err)
	}
	add(ratios.Release(one, zero))
	gradients, err := curator.Charge(c, curator.NoisyGradient{Target: ballot{}, Clip: 1, NoiseMultiplier: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	add(nil, gradients.Release(one, nan))
	if err := gradients.Release(one, zero); err != nil {
		t.Fatal(err)
	}
	add(nil, gradients.Release(one, zero))
	add(curator.Charge(c, curator.GradientSigns{Target: ballot{}, Clip: 1}, 1))
	for _, adjusted := range []bool{false, true} {
		signs, err := curator.Charge(c, curator.GradientSigns{Target: ballot{}, Clip: 1, Scale: 0.1, Adjusted: adjusted}, 1)
		if err != nil {
			t.Fatal(err)
		}
		next := []float64{0}
		add(signs.Move(next, nan))
		add(signs.Move(long, zero))
		if _, err := signs.Move(next, zero); err != nil {
			t.Fatal(err)
		}
		add(signs.Move(next, zero))
	}
	add(curator.Charge(c, curator.ThinnedBit{Target: ballot{}, Clip: 1, Rate: 0.1}, 1))
	thinned, err := curator.Charge(c, curator.ThinnedBit{Target: ballot{}, Clip: 0.1, Rate: 0.5,
		Proposal: curator.Proposal{Radius: 2}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	add(thinned.Accept(nan, nan, 0))
	add(thinned.Accept([]float64{9}, zero, 0))
	if _, err := thinned.Accept(one, zero, 0); err != nil {
		t.Fatal(err)
	}
	add(thinned.Accept(one, zero, 0))
	return errs
}
