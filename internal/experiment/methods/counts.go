package methods

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpmcmc/dpmcmc/ops/conjugate"
	"github.com/dpmcmc/dpmcmc/ops/suffstat"
	"github.com/dpmcmc/dpmcmc/targets"
)

var conjugateDraws = Setting{"draws", "posterior draws released; the budget is shared among them", int64(1)}

var _ = register(
	dirichlet("conjugate-diffused", conjugate.Diffused,
		"draws from the posterior of shrunken counts (Geumlek et al. 2017, Algorithm 2)"),
	dirichlet("conjugate-concentrated", conjugate.Concentrated,
		"draws from the posterior of a strengthened prior (Geumlek et al. 2017, Algorithm 3)"),
	&Method{
		Name: "noisy-counts", Kind: Unconditional, Models: []string{"bernoulli"},
		About: "a noisy count, and draws from the posterior that it leads to (Foulds et al. 2016)",
		Settings: []Setting{
			{"draws", "draws from the posterior given the noisy count, which cost nothing", int64(1000)},
			{"law", "laplace or gaussian", "gaussian"},
			{"noise-aware", "account for the noise in the posterior", true},
		},
		build: buildCounts,
	},
)

// dirichlet releases exact draws of a Bernoulli model.
func dirichlet(name string, method conjugate.Method, about string) *Method {
	build := func(p Problem, b Budget, s settings) (*Mechanism, error) {
		if err := onePerson(p); err != nil {
			return nil, err
		}
		draws := s.int("draws")
		if draws < 1 {
			return nil, fmt.Errorf("draws = %d: it must be at least 1", draws)
		}
		factor, err := dirichletFactor(p, b, method, draws)
		if err != nil {
			return nil, err
		}
		m, err := conjugate.New(conjugate.Config{Method: method, Prior: p.Options.Concentrations,
			Records: int(p.Facts.Records), Factor: factor})
		if err != nil {
			return nil, err
		}
		cost, err := m.Cost(draws, b.Delta)
		if err != nil {
			return nil, err
		}
		return guaranteed(cost, &Mechanism{
			Choice: fmt.Sprintf("factor %.3g", factor),
			Run: func(_ context.Context, rows targets.Rows, n Noise) (Release, error) {
				src, err := n.source()
				if err != nil {
					return Release{}, err
				}
				counts := labelCounts(rows)
				out := make([][]float64, draws)
				for i := range out {
					probability, err := m.Release(src, counts)
					if err != nil {
						return Release{}, err
					}
					out[i] = []float64{logit(probability[1])}
				}
				return independent(out), nil
			},
		}), nil
	}
	return &Method{Name: name, Kind: Conditional, Models: []string{"bernoulli"}, About: about,
		Settings: []Setting{conjugateDraws}, build: build}
}

// dirichletFactor is the largest factor whose draws the budget covers, from 2⁻⁴⁰
// on, by bisection of its logarithm: the cost rises with the factor.
func dirichletFactor(p Problem, b Budget, method conjugate.Method, draws int64) (float64, error) {
	fits := func(factor float64) (bool, error) {
		m, err := conjugate.New(conjugate.Config{Method: method, Prior: p.Options.Concentrations,
			Records: int(p.Facts.Records), Factor: factor})
		if err != nil {
			return false, err
		}
		cost, err := m.Cost(draws, b.Delta)
		if err != nil {
			return false, err
		}
		g, err := cost.At(b.Delta)
		return err == nil && g.Epsilon <= b.Epsilon, err
	}
	if ok, err := fits(1); ok || err != nil {
		return 1, err
	}
	low, high := math.Log(0x1p-40), 0.0
	if ok, err := fits(math.Exp(low)); err != nil || !ok {
		if err == nil {
			err = fmt.Errorf("no factor makes %d draws cost at most ε = %v at δ = %v", draws, b.Epsilon, b.Delta)
		}
		return 0, err
	}
	for high-low > 1e-6 {
		middle := (low + high) / 2
		ok, err := fits(math.Exp(middle))
		if err != nil {
			return 0, err
		}
		if ok {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp(low), nil
}

// labelCounts counts the labels 0 and 1. Other responses count as the nearer one.
func labelCounts(rows targets.Rows) []int {
	counts := make([]int, 2)
	for _, y := range rows.Y {
		if y >= 0.5 {
			counts[1]++
		} else {
			counts[0]++
		}
	}
	return counts
}

func logit(p float64) float64 {
	p = min(max(p, 0x1p-40), 1-0x1p-40)
	return math.Log(p / (1 - p))
}

func buildCounts(p Problem, b Budget, s settings) (*Mechanism, error) {
	if err := onePerson(p); err != nil {
		return nil, err
	}
	draws := s.int("draws")
	if draws < 1 {
		return nil, fmt.Errorf("draws = %d: it must be at least 1", draws)
	}
	privacy, err := noiseLaw(b, s.text("law"))
	if err != nil {
		return nil, err
	}
	m, err := suffstat.NewCounts(suffstat.CountsConfig{Prior: p.Options.Concentrations, Records: int(p.Facts.Records),
		Privacy: privacy})
	if err != nil {
		return nil, err
	}
	aware := s.bool("noise-aware")
	return guaranteed(m.Cost(), &Mechanism{Run: func(_ context.Context, rows targets.Rows, n Noise) (Release, error) {
		src, err := n.source()
		if err != nil {
			return Release{}, err
		}
		noisy, err := m.Release(src, labelCounts(rows))
		if err != nil {
			return Release{}, err
		}
		out, err := countDraws(m, noisy, int(draws), aware, n)
		return independent(out), err
	}}), nil
}

// countDraws are draws of the log-odds given noisy counts.
func countDraws(m *suffstat.Counts, noisy []float64, draws int, aware bool, n Noise) ([][]float64, error) {
	out := make([][]float64, draws)
	rng := n.rand()
	if aware {
		law, err := m.NoiseAware(noisy) // of the probability of the label 0
		if err != nil {
			return nil, err
		}
		for i, p := range law.Sample(rng, draws) {
			out[i] = []float64{-logit(p)}
		}
		return out, nil
	}
	alpha := m.PlugIn(noisy)
	law := distuv.Beta{Alpha: alpha[1], Beta: alpha[0], Src: rng}
	for i := range out {
		out[i] = []float64{logit(law.Rand())}
	}
	return out, nil
}
