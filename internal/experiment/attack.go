package experiment

import (
	"context"
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/audit"
	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
	"github.com/dpmcmc/dpmcmc/internal/experiment/metrics"
	"github.com/dpmcmc/dpmcmc/targets"
)

// attack returns the advantage of a membership-inference attack on a cell's
// method: one record of the repeat's data is replaced by one of two at opposite
// edges of the public bounds, and the attacker looks at the difference of their
// losses at the posterior mean. The threshold that does best on as many runs as
// there are rounds is then judged on others, so that guessing has advantage 0 in
// expectation.
func (p *Plan) attack(ctx context.Context, c Cell, s *sample) (float64, error) {
	m := p.problems[c.Mechanism.Records]
	pair := adjacent(m, s.rows)
	canaries := [2]targets.Rows{pair[0].Slice(0, 1), pair[1].Slice(0, 1)}
	score := func(present, round int) (float64, error) {
		noise := methods.Seeded(p.Config.key("attack", c.ID, present, round))
		released, err := c.Mechanism.Run(ctx, pair[present], noise)
		if err != nil {
			return 0, err
		}
		theta := metrics.Mean(slices.Concat(released.Chains...))
		var absent, with [1]float64
		m.Target.Loss(absent[:], theta, canaries[0])
		m.Target.Loss(with[:], theta, canaries[1])
		return absent[0] - with[0], nil
	}
	var scores [2][2][]float64 // fitting or judging, absent or present
	for round := range 2 * p.Config.Membership.Rounds {
		part, present := round%2, round/2%2
		v, err := score(present, round)
		if err != nil {
			return math.NaN(), err
		}
		scores[part][present] = append(scores[part][present], v)
	}
	return advantage(scores[1], threshold(scores[0])), nil
}

// adjacent returns two data sets that differ in their first record.
func adjacent(m methods.Problem, rows targets.Rows) (pair [2]targets.Rows) {
	facts := m.Facts
	for i, sign := range []float64{-1, 1} {
		r := targets.Rows{X: slices.Clone(rows.X), P: rows.P, Y: slices.Clone(rows.Y)}
		for j := range r.P {
			r.X[j] = facts.Radius / math.Sqrt(float64(r.P))
			if !facts.Response {
				r.X[j] *= sign
			}
		}
		if t := m.Shape.Target; m.Shape.Classes() > 0 {
			r.Y[0] = float64(i * (m.Shape.Classes() - 1))
		} else if facts.Response {
			r.Y[0] = t.At([]float64{t.Lower, t.Upper}[i])
		}
		pair[i] = r
	}
	return pair
}

// threshold is the score from which guessing present has the largest advantage.
func threshold(scores [2][]float64) float64 {
	best, at := 0.0, math.Inf(1)
	for _, t := range slices.Concat(scores[0], scores[1]) {
		if a := advantage(scores, t); a > best {
			best, at = a, t
		}
	}
	return at
}

// advantage is that of guessing present from a threshold on.
func advantage(scores [2][]float64, from float64) float64 {
	t := audit.Trials{Absent: len(scores[0]), Present: len(scores[1])}
	for _, v := range scores[0] {
		if v >= from {
			t.FalsePositives++
		}
	}
	for _, v := range scores[1] {
		if !(v >= from) {
			t.FalseNegatives++
		}
	}
	return t.Advantage()
}
