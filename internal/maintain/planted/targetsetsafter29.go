package planted

import (
	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// afterTwentyNinthTargets were written once the code was read, and passed the suites as they were before.
func afterTwentyNinthTargets() []Case {
	return []Case{
		singleFrom("SumLossGrad of many records in single precision", "10⁻⁷, from 5000 on", 5000),
		target("GradBound of huge radii is that of a million", "beyond 10⁶", huber, func(p *planted) {
			p.gradBound = func(_, b float64) float64 { return min(b, 1e6) }
		}),
	}
}

// singleSums adds losses of many records up in single precision.
type singleSums struct {
	*planted
	from int
}

func (m singleSums) SumLossGrad(grad, theta []float64, rows targets.Rows) (loss float64) {
	clear(grad)
	for i := range rows.Len() {
		x, y := rows.Row(i), rows.Y[i]
		eta := dot(x, theta)
		if loss += m.model.loss(eta, y); rows.Len() >= m.from {
			loss = float64(float32(loss))
		}
		for j, v := range x {
			grad[j] += m.model.slope(eta, y) * v
		}
	}
	return loss
}

func singleFrom(name, effect string, from int) Case {
	return Case{Name: name, Effect: effect, Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
		proptest.CheckTarget(t, singleSums{&planted{model: huber}, from}, huber.options(seed, effort))
	}}
}
