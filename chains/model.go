package chains

import (
	"strings"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/models"
)

// ProblemOf is that of choosing settings for a model at public facts and a budget.
func ProblemOf(m *models.Model, facts curator.Facts, epsilon, delta float64) Problem {
	return Problem{Target: m.Target, Shape: m.Shape, Logistic: m.Optimum == models.LogisticOptimum, Facts: facts,
		Epsilon: epsilon, Delta: delta}
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
