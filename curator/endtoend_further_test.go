package curator

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/convex"
)

// furtherContests are those of optima, of weighted moments and of persons with several
// rows.
func furtherContests() []contest {
	return []contest{
		optimumContest("optimum", 10, 2),
		weightedContest("second moments, weighted", 10),
		severalRowsBits("logistic bit, two rows a person", 10),
		severalRowsGradients("noisy gradient, two rows a person", 10),
	}
}

// optimumContest scores an optimum of one parameter by the density of the exact
// minimum: b is −G(θ) there, G being the gradient without b.
func optimumContest(name string, steps int, multiplier float64) contest {
	worlds := [2]Records{{X: []float64{1, 0.3}, Features: 1, Y: []float64{1, 0}, Radius: 1},
		{X: []float64{1, 0.3}, Features: 1, Y: []float64{0, 0}, Radius: 1}}
	return contest{name, steps, worlds, func(t *testing.T, c *Curator, count int64) (func() float64, accountant.Event) {
		m := Optimum{Ridge: 1, NoiseMultiplier: multiplier}
		g, err := c.GrantOptima(m, count)
		if err != nil {
			t.Fatal(err)
		}
		price, err := m.Event(c.Facts())
		if err != nil {
			t.Fatal(err)
		}
		sd := 2 * multiplier
		logDensity := func(r Records, theta float64) float64 {
			gradient, curvature := m.Ridge*theta, m.Ridge
			for i, x := range r.X {
				p := sigmoid(x * theta)
				gradient, curvature = gradient+(p-r.Y[i])*x, curvature+p*(1-p)*x*x
			}
			return -gradient*gradient/(2*sd*sd) + math.Log(curvature)
		}
		theta := make([]float64, 1)
		return func() float64 {
			if err := g.Release(theta); err != nil {
				t.Fatal(err)
			}
			return logDensity(worlds[0], theta[0]) - logDensity(worlds[1], theta[0])
		}, price
	}}
}

// weightedContest scores the curvature of a logistic loss at 0, where every weight is ¼.
func weightedContest(name string, steps int) contest {
	worlds := [2]Records{{X: []float64{1, 0}, Features: 2, Y: []float64{1}, Radius: 1},
		{X: []float64{0, 1}, Features: 2, Y: []float64{1}, Radius: 1}}
	return contest{name, steps, worlds, func(t *testing.T, c *Curator, count int64) (func() float64, accountant.Event) {
		m := SecondMoment{Loss: convex.Logistic(), NoiseMultiplier: 2}
		g, err := c.GrantMoments(m, count)
		if err != nil {
			t.Fatal(err)
		}
		sd, err := m.NoiseSD(c.Facts())
		if err != nil {
			t.Fatal(err)
		}
		dst, theta := make([]float64, 4), make([]float64, 2)
		return func() float64 {
			if err := g.Release(dst, theta); err != nil {
				t.Fatal(err)
			}
			return (dst[0] - dst[3]) / 4 / (sd * sd)
		}, g.Event()
	}}
}

// twoRows are worlds in which a person owns two of three rows.
var twoRows = [2]Records{{X: []float64{1, 1, 0.2}, Features: 1, Radius: 1, RowsPerPerson: 2},
	{X: []float64{-1, -1, 0.2}, Features: 1, Radius: 1, RowsPerPerson: 2}}

// severalRowsBits scores bits of one move, of which each row moves the log-odds by 0.15.
func severalRowsBits(name string, steps int) contest {
	return contest{name, steps, twoRows, func(t *testing.T, c *Curator, count int64) (func() float64, accountant.Event) {
		m := AcceptanceBit{Target: newToy(1), Clip: 0.15}
		b := grantBits(t, c, m, count)
		p, q := acceptProbability(t, twoRows[0].X, m, 0.3), acceptProbability(t, twoRows[1].X, m, 0.3)
		return func() float64 {
			ok, err := b.Accept([]float64{-1}, []float64{0}, 0.3)
			if err != nil {
				t.Fatal(err)
			}
			return bitScore(ok, p, q)
		}, b.Event()
	}}
}

// severalRowsGradients scores the sum 2.2 against −1.8, under noise of 2·4·clip.
func severalRowsGradients(name string, steps int) contest {
	return contest{name, steps, twoRows, func(t *testing.T, c *Curator, count int64) (func() float64, accountant.Event) {
		g, err := c.GrantGradients(NoisyGradient{Target: newToy(1), Clip: 1, NoiseMultiplier: 4}, count)
		if err != nil {
			t.Fatal(err)
		}
		dst, sd := make([]float64, 1), g.NoiseSD()
		return func() float64 {
			if err := g.Release(dst, []float64{0}); err != nil {
				t.Fatal(err)
			}
			return (dst[0] - 0.2) * 4 / (sd * sd)
		}, g.Event()
	}}
}
