package planted

import (
	"math"
	"slices"
	"sync"

	"github.com/dpmcmc/dpmcmc/targets"
)

// The families named eighteenth are those of 60 defects that passed at first, and those of kinds that no
// family had. All were written, and run once, before their author read the suites' code and before
// anything was changed.

func plusMinus(u float64) float64 { return either(u > 0, 1, -1) }

// coded is logistic regression of labels −1 and 1.
func coded(inSlope func(y float64) float64) func() targets.Target {
	return func() targets.Target {
		return &own{dim: 2, features: 2,
			loss: func(theta, x []float64, y float64) float64 { return softplus(-plusMinus(y) * dot(x, theta)) },
			grad: func(g, theta, x []float64, y float64) {
				by := sigmoid(dot(x, theta)) - (inSlope(y)+1)/2
				g[0], g[1] = by*x[0], by*x[1]
			}}
	}
}

// differenced is pseudo-Huber regression with gradients by differences of some length; 0 for exact ones.
func differenced(h float64) func() targets.Target {
	return func() targets.Target {
		m := &own{dim: 2, features: 2,
			loss: func(theta, x []float64, y float64) float64 { return huber.loss(dot(x, theta), y) }}
		m.grad = func(g, theta, x []float64, y float64) {
			for j := range g {
				if g[j] = huber.slope(dot(x, theta), y) * x[j]; h > 0 {
					to := slices.Clone(theta)
					to[j] += h
					g[j] = (m.loss(to, x, y) - m.loss(theta, x, y)) / h
				}
			}
		}
		return m
	}
}

// updating adds to its predictors what a parameter has moved by, if the records are those it knows.
type updating struct {
	*own
	lock          sync.Mutex
	eta, x, theta []float64
}

func (m *updating) Loss(dst, theta []float64, rows targets.Rows) {
	m.lock.Lock()
	defer m.lock.Unlock()
	changed, which := 0, 0
	for j := range m.theta {
		if m.theta[j] != theta[j] {
			changed, which = changed+1, j
		}
	}
	if wild := func(v float64) bool { return !(math.Abs(v) < 1e300) }; len(m.theta) > 0 && changed <= 1 &&
		slices.Equal(m.x, rows.X) && !slices.ContainsFunc(m.eta, wild) {
		for i := range m.eta {
			m.eta[i] += (theta[which] - m.theta[which]) * rows.Row(i)[which]
		}
	} else {
		m.eta = m.eta[:0]
		for i := range dst {
			m.eta = append(m.eta, dot(rows.Row(i), theta))
		}
	}
	m.x, m.theta = append(m.x[:0], rows.X...), append(m.theta[:0], theta...)
	for i := range dst {
		dst[i] = m.own.loss([]float64{1, 0}, []float64{m.eta[i], 0}, rows.Y[i])
	}
}

func eighteenthTargets() []Case {
	plainly := func(name, effect string, make func() targets.Target) Case { return ownTarget(name, effect, nil, make) }
	return []Case{
		plainly("gradients by forward differences", "10⁻³", differenced(1e-3)),
		plainly("predictors are updated by what moved", "10⁻¹⁶", func() targets.Target {
			return &updating{own: robust(2, 1.5)}
		}),
	}
}

func eighteenthTargetControls() []Case {
	return []Case{
		ownTarget("labels of minus one", "", plusMinus, coded(plusMinus)),
		// They are read in two ways, which agree at what Response gives.
		ownTarget("labels of minus one, by size in the slope", "", plusMinus, coded(func(y float64) float64 {
			return either(math.IsNaN(y), -1, max(-1, min(y, 1)))
		})),
		ownTarget("pseudo-Huber by its slope", "", nil, differenced(0)),
	}
}
