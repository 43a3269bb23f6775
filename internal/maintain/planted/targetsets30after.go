package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/targets"
)

// afterThirtiethTargets are kin of what had passed, which passed the suites as they were before.
func afterThirtiethTargets() []Case {
	return []Case{
		plainly("prior draws with two parameters far out are drawn again", "beyond 2 sd each, 2·10⁻³",
			drawnFrom(2, func(t []float64, rng *rand.Rand) {
				for math.Abs(t[0]) > 2 && math.Abs(t[1]) > 2 {
					t[0], t[1] = rng.NormFloat64(), rng.NormFloat64()
				}
			})),
		relatedEffects("draws of related effects end at a norm", "1 in 100", 13.28),
		summedAs("SumLossGrad leaves out responses of 0", "one response", func(y float64) bool { return y == 0 }),
	}
}

func afterThirtiethTargetControls() []Case {
	return []Case{
		relatedEffects("draws of related effects", "", math.Inf(1)),
		summedAs("SumLossGrad has all responses", "", func(float64) bool { return false }),
	}
}

// relatedEffects are four normal effects about a shared one, drawn again where they are together improbable.
func relatedEffects(name, effect string, most float64) Case {
	square := func(t []float64) float64 { // variances of 2, covariances of 1
		sum := t[0] + t[1] + t[2] + t[3]
		return dot(t, t) - sum*sum/5
	}
	return plainly(name, effect, func() targets.Target {
		m := robust(4, 1.5)
		m.logPrior = func(t []float64) float64 { return -square(t) / 2 }
		m.gradPrior = func(g, t []float64) {
			sum := t[0] + t[1] + t[2] + t[3]
			for j, v := range t {
				g[j] = sum/5 - v
			}
		}
		return drawn{m, func(t []float64, rng *rand.Rand) {
			for ok := false; !ok; ok = square(t) <= most {
				z := rng.NormFloat64()
				for j := range t {
					t[j] = z + rng.NormFloat64()
				}
			}
		}}
	})
}

// sumsWithout has sums without records of some responses.
type sumsWithout struct {
	*own
	without func(y float64) bool
}

func (m sumsWithout) SumLossGrad(grad, theta []float64, rows targets.Rows) (loss float64) {
	clear(grad)
	g := make([]float64, m.dim)
	for i := range rows.Len() {
		x, y := rows.Row(i), rows.Y[i]
		if m.without(y) {
			continue
		}
		loss += m.own.loss(theta, x, y)
		m.own.grad(g, theta, x, y)
		for j, v := range g {
			grad[j] += v
		}
	}
	return loss
}

func summedAs(name, effect string, without func(y float64) bool) Case {
	return plainly(name, effect, func() targets.Target { return sumsWithout{robust(2, 1.5), without} })
}
