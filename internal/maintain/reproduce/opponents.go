package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/dpmcmc/dpmcmc/internal/plot"
	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/ops/chaudhuri"
	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/ops/posterior"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// opponent returns what a name stands for, and the δ of its claim.
func (s settings) opponent(name string, eps float64) (opponent, float64, error) {
	switch name {
	case "coin flip":
		return opponent{
			release: func(rng *rand.Rand, _ bool) []float64 { return []float64{rng.Float64() - 0.5} },
			odds:    func(theta []float64) float64 { return theta[0] },
		}, 0, nil
	case "β-OPS", "Minami":
		m, err := attackPosterior(name, 2, eps)
		if err != nil {
			return opponent{}, 0, err
		}
		o, err := latticeOpponent(m)
		delta := 0.0
		if name == "Minami" {
			delta = attackDelta
		}
		return o, delta, err
	}
	o, err := s.outputOpponent(name, eps)
	return o, 0, err
}

// chaudhuriLambda is the regularisation that a name says.
func chaudhuriLambda(name string, n int) float64 {
	if name == "Chaudhuri, λ=1/9" {
		return 1.0 / 9
	}
	return 1 / (9 * float64(n))
}

func outputPerturbation(name string, features, n int, eps float64) (*chaudhuri.Mechanism, error) {
	return chaudhuri.New(chaudhuri.Config{
		Method: chaudhuri.Output, Features: features, Records: n, Radius: math.Sqrt(float64(features)),
		Lambda: chaudhuriLambda(name, n), Epsilon: eps,
	})
}

// outputOpponent is output perturbation, whose density ∝ exp(−‖θ − θ̂‖₂/b) the
// attacker knows.
func (s settings) outputOpponent(name string, eps float64) (opponent, error) {
	m, err := outputPerturbation(name, 2, 2, eps)
	if err != nil {
		return opponent{}, err
	}
	sharp, err := outputPerturbation(name, 2, 2, 1e12) // noise of 1e-10: the minimum itself
	if err != nil {
		return opponent{}, err
	}
	src := s.source("membership", name, eps)
	var minimum [2][]float64
	for k, rows := range attackPair {
		if minimum[k], err = sharp.Release(src, rows); err != nil {
			return opponent{}, err
		}
	}
	return opponent{
		release: func(_ *rand.Rand, present bool) []float64 {
			rows := attackPair[0]
			if present {
				rows = attackPair[1]
			}
			theta, err := m.Release(src, rows)
			if err != nil {
				panic(err) // it worked above
			}
			return theta
		},
		odds: func(theta []float64) float64 {
			return (distance(theta, minimum[0]) - distance(theta, minimum[1])) / m.Noise()
		},
		pair: distance(minimum[0], minimum[1]) / m.Noise(),
	}, nil
}

func distance(a, b []float64) float64 { return floats.Distance(a, b, 2) }

// attackRMSE is the other axis of the published figure: the log of the
// root-mean-square error of one release, over data sets of 1000 records with two
// features in [0, 1] and an intercept.
func (s settings) attackRMSE(name string, eps float64) (float64, error) {
	const n, features = 1000, 3
	squares, repeats := 0.0, s.count(20)
	for run := range repeats {
		theta, rows := simulateLogistic(s.stream("membership data", run), n, features)
		src := s.source("membership rmse", name, eps, run)
		got, err := attackEstimate(src, name, rows, eps)
		if err != nil {
			return 0, err
		}
		squares += math.Pow(distance(got, theta), 2) / features
	}
	return math.Log(math.Sqrt(squares / float64(repeats))), nil
}

func attackEstimate(src *ops.Source, name string, rows targets.Rows, eps float64) ([]float64, error) {
	if name == "β-OPS" || name == "Minami" {
		m, err := attackPosterior(name, rows.P, eps)
		if err != nil {
			return nil, err
		}
		draws, err := m.Release(src, rows, 1, posterior.NUTS(500, 50))
		if err != nil {
			return nil, err
		}
		return draws[0], nil
	}
	m, err := outputPerturbation(name, rows.P, rows.Len(), eps)
	if err != nil {
		return nil, err
	}
	return m.Release(src, rows)
}

// simulateLogistic draws coefficients from N(0, 3²) and records whose features are
// standard normal, cut off at ±4 and mapped to [0, 1], before an intercept.
func simulateLogistic(rng *rand.Rand, n, features int) ([]float64, targets.Rows) {
	theta := make([]float64, features)
	priors.Gaussian{SD: attackPrior}.Sample(theta, rng)
	rows := targets.Rows{P: features}
	for range n {
		eta := theta[features-1]
		for j := range features - 1 {
			x := (max(-4, min(rng.NormFloat64(), 4)) + 4) / 8
			rows.X = append(rows.X, x)
			eta += x * theta[j]
		}
		rows.X = append(rows.X, 1)
		y := 0.0
		if rng.Float64() < 1/(1+math.Exp(-eta)) {
			y = 1
		}
		rows.Y = append(rows.Y, y)
	}
	return theta, rows
}

// shortChain is how a chain that is stopped early began and moves.
type shortChain struct {
	name      string
	atOptimum bool    // of each data set, as if an optimiser had found it; otherwise at 0
	size      float64 // of moves; the posterior's standard deviations are about 3
}

var chainsThatAreShort = []shortChain{
	{"from the optimum, moves of 2", true, 2},
	{"from the optimum, moves of 0.3", true, 0.3},
	{"from 0, moves of 2", false, 2},
}

// shortChains attacks β-OPS at a claimed ε of 1 when the draw is the last state of a
// random walk of few Metropolis steps. The attacker does not know its law and learns
// it from simulations.
func (s settings) shortChains(ctx context.Context) (*table, []plot.Line, error) {
	const claimed = 1.0
	m, err := attackPosterior("β-OPS", 2, claimed)
	if err != nil {
		return nil, nil, err
	}
	tab := newTable("chain", "steps", "FPR", "FNR", "ε ≥ (95%)", "claimed ε")
	lines := []plot.Line{{Name: "claimed", X: []float64{1, 1000}, Y: []float64{claimed, claimed}, Dashed: true}}
	for _, c := range chainsThatAreShort {
		l := plot.Line{Name: c.name}
		for _, steps := range []int{1, 3, 10, 30, 100, 300, 1000} {
			o, err := newWalker(s.stream("walker", c.name, steps), m, c, steps)
			if err != nil {
				return nil, nil, err
			}
			rng := s.stream("short chain", c.name, steps)
			trials, err := o.play(ctx, rng, o.threshold(rng, 2*attackRounds, 0))
			if err != nil {
				return nil, nil, err
			}
			lower, _, err := lowerBounds(trials, 0)
			if err != nil {
				return nil, nil, err
			}
			fpr, fnr := trials.Rates()
			tab.add(c.name, steps, fpr, fnr, lower, claimed)
			l.X, l.Y = append(l.X, float64(steps)), append(l.Y, lower)
		}
		lines = append(lines, l)
	}
	return tab, lines, nil
}

// newWalker is a chain of the given number of steps, and an attacker who has seen
// 40 000 runs of it, or fewer of a long one.
func newWalker(rng *rand.Rand, m *posterior.Mechanism, c shortChain, steps int) (opponent, error) {
	var densities [2]posterior.LogDensity
	starts := [2][]float64{{0, 0}, {0, 0}}
	for k, rows := range attackPair {
		p, err := m.Density(rows)
		if err != nil {
			return opponent{}, err
		}
		densities[k] = p
		if c.atOptimum {
			starts[k] = climb(p)
		}
	}
	walk := func(rng *rand.Rand, present bool) []float64 {
		k := 0
		if present {
			k = 1
		}
		var grad [2]float64
		theta := append([]float64(nil), starts[k]...)
		next := make([]float64, 2)
		at := densities[k].LogDensityGrad(grad[:], theta)
		for range steps {
			next[0], next[1] = theta[0]+c.size*rng.NormFloat64(), theta[1]+c.size*rng.NormFloat64()
			if v := densities[k].LogDensityGrad(grad[:], next); math.Log(rng.Float64()) < v-at {
				at = v
				copy(theta, next)
			}
		}
		return theta
	}
	odds, err := learnOdds(4*attackRounds/max(1, steps/300), func(present bool) []float64 { return walk(rng, present) })
	return opponent{release: walk, odds: odds}, err
}

// learnOdds estimates the log odds of two laws from that many simulations, by counts
// in squares of a side of ½ with half a count added to each.
func learnOdds(simulations int, draw func(present bool) []float64) (func(theta []float64) float64, error) {
	if simulations < 100 {
		return nil, fmt.Errorf("%d simulations are too few to learn from", simulations)
	}
	cell := func(theta []float64) [2]int {
		return [2]int{int(math.Floor(2 * theta[0])), int(math.Floor(2 * theta[1]))}
	}
	counts := map[[2]int]*[2]float64{}
	for i := range simulations {
		c := cell(draw(i%2 == 1))
		if counts[c] == nil {
			counts[c] = &[2]float64{0.5, 0.5}
		}
		counts[c][i%2]++
	}
	return func(theta []float64) float64 {
		if n := counts[cell(theta)]; n != nil {
			return math.Log(n[1] / n[0])
		}
		return 0
	}, nil
}

// climb returns the highest of 200 states of a NUTS chain after gradient ascent.
func climb(p posterior.LogDensity) []float64 {
	chains, err := nuts.Sample(context.Background(), func() nuts.LogDensity { return p },
		nuts.Config{Chains: 1, Workers: 1, Warmup: 100, Draws: 200, Seed: 1})
	if err != nil {
		panic(err) // a fixed, valid configuration
	}
	var best []float64
	top := math.Inf(-1)
	for i, theta := range chains[0].Draws {
		if v := chains[0].Stats[i].LogDensity; v > top {
			top, best = v, theta
		}
	}
	grad := make([]float64, len(best))
	for range 2000 {
		p.LogDensityGrad(grad, best)
		for j, g := range grad {
			best[j] += 0.3 * g
		}
	}
	return best
}
