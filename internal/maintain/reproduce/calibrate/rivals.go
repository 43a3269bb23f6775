package main

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/ops/chaudhuri"
	"github.com/dpmcmc/dpmcmc/ops/posterior"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// rivalErrors are the root mean square errors of objective perturbation (pure ε,
// unconditional) and of one draw of the β posterior (pure ε if exact) on a data set.
func rivalErrors(rows targets.Rows, truth []float64, seed uint64) (objective, draw float64, err error) {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	src := ops.NewInsecureSource(key)
	m, err := chaudhuri.New(chaudhuri.Config{
		Method: chaudhuri.Objective, Features: rows.P, Records: rows.Len(), Radius: 1,
		Lambda: 1 / (*priorSD * *priorSD * float64(rows.Len())), Epsilon: *epsilon,
	})
	if err != nil {
		return 0, 0, err
	}
	theta, err := m.Release(src, rows)
	if err != nil {
		return 0, 0, err
	}
	beta, err := posterior.SolveBeta(*epsilon, posterior.Mass())
	if err != nil {
		return 0, 0, err
	}
	loss := targets.Loss{Beta: beta}
	target, err := targets.New(targets.RegressionConfig{Features: rows.P, Loss: loss,
		Prior: priors.Gaussian{SD: *priorSD}})
	if err != nil {
		return 0, 0, err
	}
	p, err := posterior.NewBounded(posterior.Config{Target: target, Epsilon: *epsilon})
	if err != nil {
		return 0, 0, err
	}
	one, err := p.Release(src, rows, 1, posterior.NUTS(200, 1))
	if err != nil {
		return 0, 0, err
	}
	return distance(theta, truth), distance(one[0], truth), nil
}

// distance is the root mean square difference.
func distance(a, b []float64) float64 {
	return floats.Distance(a, b, 2) / math.Sqrt(float64(len(a)))
}

// rivalTable prints the rivals' median errors on the data sets that the other
// figures are of.
func rivalTable() (objective, draw float64, err error) {
	var a, b []float64
	for i := range *sets {
		rows, truth := simulate(rand.New(rand.NewPCG(*seed, uint64(i))))
		x, y, err := rivalErrors(rows, truth, uint64(i))
		if err != nil {
			return 0, 0, err
		}
		a, b = append(a, x), append(b, y)
	}
	return median(a), median(b), nil
}
