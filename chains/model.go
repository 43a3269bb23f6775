package chains

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// ProblemOf is that of choosing settings for a model at public facts and a budget.
func ProblemOf(m *models.Model, facts curator.Facts, epsilon, delta float64) Problem {
	return Problem{Target: m.Target, Shape: m.Shape, Weighed: m.Weighs(), Logistic: m.Logistic, Facts: facts,
		Epsilon: epsilon, Delta: delta, Lengths: lengths(m), Scales: scales(m)}
}

// lengths is Problem.Lengths of a model, nil where records cannot be simulated.
func lengths(m *models.Model) func([]float64) targets.Lengths {
	if !differentiated(m) {
		return nil
	}
	return func(theta []float64) targets.Lengths {
		l, _, _ := gradientsAt(m, theta)
		return l
	}
}

// scales is Problem.Scales of a model, nil where records cannot be simulated: curvatures are
// differences of gradients, of the same records.
func scales(m *models.Model) func([]float64) []float64 {
	if !differentiated(m) {
		return nil
	}
	return func(theta []float64) []float64 {
		const h = 1e-3
		l, rows, gradients := gradientsAt(m, theta)
		target, d, n := m.Target.(targets.GradTarget), len(theta), rows.Len()
		at, up, down, out := slices.Clone(theta), make([]float64, n*d), make([]float64, n*d), make([]float64, d)
		for j := range d {
			at[j] = theta[j] + h
			target.LossGrad(up, at, rows)
			at[j] = theta[j] - h
			target.LossGrad(down, at, rows)
			at[j] = theta[j]
			curvature, products := 0.0, 0.0
			for i := range n {
				g := gradients[i*d : (i+1)*d]
				by := g[j] * min(1, l.Products/floats.Norm(g, 2))
				products += by * by
				curvature += (up[i*d+j] - down[i*d+j]) / (2 * h)
			}
			out[j] = 1
			if ratio := curvature / products; ratio > 1.0/mostRatio && ratio < mostRatio {
				out[j] = math.Sqrt(ratio)
			}
		}
		return out
	}
}

// mostRatio of a curvature and products is beyond what a model has where it is curved.
const mostRatio = 10

// differentiated reports whether gradients of simulated records can be taken.
func differentiated(m *models.Model) bool {
	_, ok := m.Target.(targets.GradTarget)
	return ok && m.Shape != nil && m.Simulates()
}

// gradientsAt are gradients of records that are simulated at theta, and their lengths: the
// longest, and a long one.
func gradientsAt(m *models.Model, theta []float64) (targets.Lengths, targets.Rows, []float64) {
	const longest, long = 0.999, 0.9
	rows := simulated(m, theta, rand.New(rand.NewPCG(1, lengthStream)))
	n, d := rows.Len(), len(theta)
	gradients, all := make([]float64, n*d), make([]float64, n)
	m.Target.(targets.GradTarget).LossGrad(gradients, theta, rows)
	for i := range all {
		all[i] = floats.Norm(gradients[i*d:(i+1)*d], 2)
	}
	slices.Sort(all)
	return targets.Lengths{Score: all[int(longest*float64(n))], Products: all[int(long*float64(n))]}, rows, gradients
}

// simulated are records of a model at theta, simulatedRecords of them.
func simulated(m *models.Model, theta []float64, rng *rand.Rand) targets.Rows {
	shape, small := *m.Shape, *m
	shape.Records, small.Shape = simulatedRecords, &shape
	table := small.Simulate(written(m, theta), rng)
	return targets.Rows{X: table.X, P: table.Features(), Y: table.Y}
}

// ProblemOn is that of choosing settings for a model on sealed records, whose budget is
// to pay for the chains.
func ProblemOn(m *models.Model, records *curator.Curator) Problem {
	b := records.Budget().Config()
	return ProblemOf(m, records.Facts(), b.Epsilon, b.Delta)
}

// valueNames are the names of the values written, with their labels.
func valueNames(m *models.Model) []string {
	out := make([]string, len(m.Parameters))
	for i, p := range m.Parameters {
		out[i] = strings.TrimSpace(p.Name + " " + p.Label)
	}
	return out
}

// written are the values written of a state.
func written(m *models.Model, theta []float64) []float64 {
	out := make([]float64, len(m.Parameters))
	m.Output(out, theta)
	return out
}
