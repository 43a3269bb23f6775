package chains

import (
	"strings"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Model is a target with the names of what it draws.
type Model struct {
	// Name is the model's name, for certificates.
	Name string
	// Target is the model. Required.
	Target targets.Target
	// Logistic says that it is a logistic regression, whatever its loss.
	Logistic bool
	// Parameters are the names of the values written, theta[1] and so on by default, and
	// Labels what each belongs to, for people.
	Parameters, Labels []string
	// Output turns a state into the values written; nil for the state itself.
	Output func(dst, theta []float64)
	// Loss, Beta, DegreesOfFreedom and Dispersion are what certificates say of it.
	Loss                               string
	Beta, DegreesOfFreedom, Dispersion float64
}

// Problem is that of choosing settings for the model on sealed records, whose budget is
// to pay for the chains.
func (m Model) Problem(records *curator.Curator) Problem {
	b := records.Budget().Config()
	return Problem{Target: m.Target, Logistic: m.Logistic, Facts: records.Facts(), Epsilon: b.Epsilon, Delta: b.Delta}
}

// names are the parameters' names with their labels.
func (m Model) names() []string {
	out := make([]string, len(m.Parameters))
	for i, p := range m.Parameters {
		out[i] = p
		if i < len(m.Labels) {
			out[i] = strings.TrimSpace(p + " " + m.Labels[i])
		}
	}
	return out
}

// written are the values written of a state.
func (m Model) written(theta []float64) []float64 {
	out := make([]float64, len(m.Parameters))
	if m.Output == nil {
		copy(out, theta)
	} else {
		m.Output(out, theta)
	}
	return out
}
