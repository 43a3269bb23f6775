package proptest

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/targets"
)

// measured is Huber's regression of two features of a unit, and parameters of its inverse, whose prior
// is correlated. Its hooks spoil what they are given in numbers of about 1.
type measured struct {
	unit  float64
	grad  func(theta, x, g []float64)
	ratio func(theta, next []float64) float64
	prior func(theta, g []float64)
	bound func(theta, next []float64) float64
}

func (measured) Dim() int           { return 2 }
func (measured) Shape() (int, bool) { return 2, true }

func (m measured) plain(v []float64, by float64) []float64 { return []float64{v[0] * by, v[1] * by} }

func (m measured) LogPrior(theta []float64) float64 {
	t := m.plain(theta, m.unit)
	return -(t[0]*t[0] + t[1]*t[1] - t[0]*t[1]) / 2
}

func (m measured) GradLogPrior(g, theta []float64) {
	t := m.plain(theta, m.unit)
	g[0], g[1] = m.unit*(t[1]/2-t[0]), m.unit*(t[0]/2-t[1])
	if m.prior != nil {
		m.prior(t, g)
	}
}

func (m measured) residual(theta, x []float64, y float64) float64 {
	return x[0]*theta[0] + x[1]*theta[1] - y
}

func (m measured) Loss(dst, theta []float64, rows targets.Rows) {
	for i := range dst {
		r := math.Abs(m.residual(theta, rows.Row(i), rows.Y[i]))
		if dst[i] = 1.5 * (r - 0.75); r < 1.5 {
			dst[i] = r * r / 2
		}
	}
}

func (m measured) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	then := make([]float64, len(dst))
	m.Loss(dst, theta, rows)
	m.Loss(then, next, rows)
	for i, v := range then {
		if dst[i] -= v; m.ratio != nil {
			dst[i] *= m.ratio(m.plain(theta, m.unit), m.plain(next, m.unit))
		}
	}
}

func (m measured) LossGrad(dst, theta []float64, rows targets.Rows) {
	for i := range rows.Len() {
		x, g := rows.Row(i), dst[2*i:2*i+2]
		r := max(-1.5, min(m.residual(theta, x, rows.Y[i]), 1.5))
		if g[0], g[1] = r*x[0], r*x[1]; m.grad != nil {
			m.grad(m.plain(theta, m.unit), m.plain(x, 1/m.unit), g)
		}
	}
}

func (m measured) RatioBound(theta, next []float64, radius float64) float64 {
	b := 1.5 * radius * math.Hypot(next[0]-theta[0], next[1]-theta[1]) * (1 + 1e-12)
	if m.bound != nil {
		b *= m.bound(m.plain(theta, m.unit), m.plain(next, m.unit))
	}
	return b
}

// TestUnitsDoNotMatter: what is right passes, and what is wrong is found, whatever the units of features
// and parameters are.
func TestUnitsDoNotMatter(t *testing.T) {
	low := func(yes bool, by float64) float64 {
		if yes {
			return by
		}
		return 1
	}
	for _, unit := range []float64{1e-6, 1e-3, 1, 2000, 1e6} {
		for name, m := range map[string]measured{
			"right":                          {},
			"gradient beyond 3 of a feature": {grad: func(_, x, g []float64) { g[0] *= low(math.Abs(x[1]) > 3, 1.1) }},
			"gradient beyond 3.5 of a parameter": {grad: func(theta, _, g []float64) {
				g[1] *= low(math.Abs(theta[0]) > 3.5, 1.02)
			}},
			"ratio of one parameter's moves": {ratio: func(a, b []float64) float64 { return low(a[0] == b[0], 1.05) }},
			"ratio of short moves": {ratio: func(a, b []float64) float64 {
				return low(math.Hypot(a[0]-b[0], a[1]-b[1]) < 1e-2, 1.05)
			}},
			"the prior's gradient beyond 2":  {prior: func(theta, g []float64) { g[0] *= low(theta[0] > 2, 1.01) }},
			"bound of one parameter's moves": {bound: func(a, b []float64) float64 { return low(a[0] == b[0], 0.95) }},
		} {
			m.unit = unit
			report, failed := Try("Test", func(t rapid.TB) {
				CheckTarget(t, m, TargetOptions{Effort: Quick, Radius: unit,
					State: func(rng *rand.Rand, theta []float64) { normals(rng, theta); times(theta, 1/unit) },
					Record: func(rng *rand.Rand, x []float64) float64 {
						normals(rng, x)
						times(x, unit)
						return 2 * rng.NormFloat64()
					}})
			})
			if failed != (name != "right") {
				t.Errorf("%s, in units of %v: failed %v\n%s", name, unit, failed, report)
			}
		}
	}
}
