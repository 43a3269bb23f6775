package targets

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRecordsStandAlone holds what Ours promises, over wild records, neighbours and
// states: answers fill the destination whatever it held, are a record's own bit for bit,
// and neither rows nor parameters are written.
func TestRecordsStandAlone(t *testing.T) {
	inf := math.Inf(1)
	wild := []float64{0, math.Copysign(0, -1), 5e-324, 1e-300, 1 << 53, 1e8, -1e8, 1e300, -math.MaxFloat64, inf, -inf,
		math.NaN(), 709.9, -745}
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	for _, l := range []Loss{{}, betaLoss(t, 1.5)} {
		for _, c := range modelCases(t, l) {
			rng := rand.New(rand.NewPCG(8, 8))
			p, _ := c.target.Shape()
			for range rounds {
				n := 1 + rng.IntN(40)
				theta, next, rows := c.draw(rng), c.draw(rng), c.sample(rng, n)
				for range rng.IntN(6) {
					if p > 0 {
						rows.X[rng.IntN(len(rows.X))] = wild[rng.IntN(len(wild))]
					}
					if rows.Y != nil {
						rows.Y[rng.IntN(n)] = wild[rng.IntN(len(wild))]
					}
				}
				for _, state := range [][]float64{theta, next} {
					if rng.IntN(3) == 0 {
						state[rng.IntN(len(state))] = wild[rng.IntN(len(wild))]
					}
				}
				standAlone(t, c.name, c.target, theta, next, rows)
			}
		}
	}
}

// standAlone compares the answers for a batch with those for each record.
func standAlone(t *testing.T, name string, target Target, theta, next []float64, rows Rows) {
	t.Helper()
	same := func(a, b []float64) bool {
		return slices.EqualFunc(a, b, func(x, y float64) bool {
			return math.Float64bits(x) == math.Float64bits(y) || math.IsNaN(x) && math.IsNaN(y)
		})
	}
	x, y, from, to := slices.Clone(rows.X), slices.Clone(rows.Y), slices.Clone(theta), slices.Clone(next)
	for question, ask := range map[string]struct {
		width int
		do    func(dst []float64, rows Rows)
	}{
		"loss":     {1, func(dst []float64, rows Rows) { target.Loss(dst, theta, rows) }},
		"ratio":    {1, func(dst []float64, rows Rows) { target.(RatioTarget).LossRatio(dst, theta, next, rows) }},
		"gradient": {target.Dim(), func(dst []float64, rows Rows) { target.(GradTarget).LossGrad(dst, theta, rows) }},
	} {
		n, w := rows.Len(), ask.width
		all, one := make([]float64, n*w), make([]float64, w)
		ask.do(all, rows)
		for i := range n {
			for j := range one {
				one[j] = math.NaN()
			}
			if ask.do(one, rows.Slice(i, i+1)); !same(one, all[i*w:(i+1)*w]) {
				t.Errorf("%s: the %s of record %d of %d is %v, alone %v", name, question, i, n, all[i*w:(i+1)*w], one)
				return
			}
		}
		if !same(rows.X, x) || !same(rows.Y, y) || !same(theta, from) || !same(next, to) {
			t.Errorf("%s: %s writes what it reads", name, question)
		}
	}
}
