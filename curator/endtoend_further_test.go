package curator

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/convex"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// furtherContests are those of optima, of weighted moments, of persons with several rows,
// of epochs, of last iterates, of tangents and of what sites release at a step.
func furtherContests() []contest {
	return []contest{
		optimumContest("optimum", 10, 2),
		weightedContest("second moments, weighted", 10),
		severalRowsBits("logistic bit, two rows a person", 10),
		severalRowsGradients("noisy gradient, two rows a person", 10),
		epochContest("noisy gradient, epochs of 4 allocated batches", 3),
		iterateContest("last iterates of 10 steps", 2),
		tangentContest("score and curvature in one release", 4),
		siteContest("noisy ratio within a move's clip", 10),
	}
}

// epochContest scores epochs of one record, which is in one of four releases.
func epochContest(name string, epochs int) contest {
	const batches, multiplier = 4, 1.0
	x := [2][]float64{{1, 0, 0, 0}, {-1, 0, 0, 0}}
	worlds := [2]Records{{X: x[0], Features: 1, Radius: 1}, {X: x[1], Features: 1, Radius: 1}}
	return contest{name, epochs, worlds, func(t *testing.T, c *Curator, count int64) (func() float64, accountant.Event) {
		g, err := Charge(c, NoisyGradient{Target: newToy(1), Clip: 1, NoiseMultiplier: multiplier,
			Batch: Batch{Steps: batches}}, batches*count)
		if err != nil {
			t.Fatal(err)
		}
		dst, sd := make([]float64, 1), g.NoiseSD()/batches
		return func() float64 {
			var density [2]float64 // over that of noise alone
			for range batches {
				if err := g.Release(dst, []float64{0}); err != nil {
					t.Fatal(err)
				}
				v := dst[0] / batches
				for w := range x {
					at := x[w][0]
					density[w] += math.Exp((2*v*at - at*at) / (2 * sd * sd))
				}
			}
			return math.Log(density[0] / density[1])
		}, g.Event()
	}}
}

// iterateContest scores last states by their densities, which are summed over a grid step
// by step.
func iterateContest(name string, count int) contest {
	const step, iterations, reach, points = 0.5, 10, 12.0, 600
	worlds := [2]Records{{X: []float64{1}, Features: 1, Y: []float64{1}, Radius: 1},
		{X: []float64{1}, Features: 1, Y: []float64{0}, Radius: 1}}
	at := func(i int) float64 { return reach * (2*float64(i)/points - 1) }
	laws := func(y float64) []float64 { // densities of the last state, from 0
		drift := func(v float64) float64 { return v - step*(sigmoid(v)-y+v) }
		density := make([]float64, points+1)
		for i := range density {
			density[i] = math.Exp(-math.Pow(at(i)-drift(0), 2) / (4 * step))
		}
		for range iterations - 1 {
			next := make([]float64, points+1)
			for j, p := range density {
				from := drift(at(j))
				for i := range next {
					next[i] += p * math.Exp(-math.Pow(at(i)-from, 2)/(4*step))
				}
			}
			density = next
		}
		return density
	}
	return contest{name, count, worlds, func(t *testing.T, c *Curator, count int64) (func() float64, accountant.Event) {
		target, err := targets.New(targets.RegressionConfig{Features: 1, Prior: priors.Gaussian{SD: 1}})
		if err != nil {
			t.Fatal(err)
		}
		o, err := Charge(c, LastIterate{Target: target, Step: step, Iterations: iterations}, count)
		if err != nil {
			t.Fatal(err)
		}
		one, other, dst := laws(1), laws(0), make([]float64, 1)
		return func() float64 {
			if err := o.Release(dst, []float64{0}); err != nil {
				t.Fatal(err)
			}
			i := int(math.Round((dst[0]/reach + 1) / 2 * points))
			i = max(0, min(points, i))
			return math.Log(one[i] / other[i])
		}, o.Event()
	}}
}

// tangentContest scores the release that an anchored chain of order 1 is made of.
func tangentContest(name string, steps int) contest {
	worlds := [2]Records{{X: []float64{1, 0}, Features: 2, Y: []float64{1}, Radius: 1},
		{X: []float64{0.6, 0.8}, Features: 2, Y: []float64{0}, Radius: 1}}
	return contest{name, steps, worlds, func(t *testing.T, c *Curator, count int64) (func() float64, accountant.Event) {
		model, err := targets.New(targets.RegressionConfig{Features: 2, Prior: priors.Gaussian{SD: 1}})
		if err != nil {
			t.Fatal(err)
		}
		tangent, err := targets.New(targets.TangentConfig{Target: model, Weight: 0.5, Radius: 0})
		if err == nil {
			err = tangent.At([]float64{0.2, -0.1}, targets.Lengths{Score: 0.2, Products: 0.2})
		}
		if err != nil {
			t.Fatal(err)
		}
		g, err := Charge(c, NoisyGradient{Target: tangent, NoiseMultiplier: 1}, count)
		if err != nil {
			t.Fatal(err)
		}
		dim := tangent.Dim()
		dst, theta, sd := make([]float64, dim), make([]float64, dim), g.NoiseSD()
		var mean [2][]float64
		for w, r := range worlds {
			mean[w] = make([]float64, dim)
			tangent.LossGrad(mean[w], theta, targets.Rows{X: r.X, P: 2, Y: r.Y})
		}
		return func() float64 {
			if err := g.Release(dst, theta); err != nil {
				t.Fatal(err)
			}
			score := 0.0
			for j, v := range dst {
				a, b := mean[0][j], mean[1][j]
				score += (a - b) * (v - (a+b)/2) / (sd * sd)
			}
			return score
		}, g.Event()
	}}
}

// siteContest scores ratios whose clip, and noise, follow the move.
func siteContest(name string, steps int) contest {
	return contest{name, steps, single, func(t *testing.T, c *Curator, count int64) (func() float64, accountant.Event) {
		g, err := Charge(c, NoisyRatio{Target: newToy(1), Clip: 1, NoiseMultiplier: 2}, count)
		if err != nil {
			t.Fatal(err)
		}
		move := 0.0
		return func() float64 {
			move = 0.25 + math.Mod(move, 0.75) // ¼, ½, ¾ and again
			v, err := g.ReleaseWithin([]float64{-move}, []float64{0}, move)
			if err != nil {
				t.Fatal(err)
			}
			return (v/move + 0.2) * 2 * math.Pow(move/g.NoiseSD(), 2)
		}, g.Event()
	}}
}

// optimumContest scores an optimum of one parameter by the density of the exact
// minimum: b is −G(θ) there, G being the gradient without b.
func optimumContest(name string, steps int, multiplier float64) contest {
	worlds := [2]Records{{X: []float64{1, 0.3}, Features: 1, Y: []float64{1, 0}, Radius: 1},
		{X: []float64{1, 0.3}, Features: 1, Y: []float64{0, 0}, Radius: 1}}
	return contest{name, steps, worlds, func(t *testing.T, c *Curator, count int64) (func() float64, accountant.Event) {
		m := Optimum{Ridge: 1, NoiseMultiplier: multiplier}
		g, err := Charge(c, m, count)
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
		g, err := Charge(c, m, count)
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
		g, err := Charge(c, NoisyGradient{Target: newToy(1), Clip: 1, NoiseMultiplier: 4}, count)
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
