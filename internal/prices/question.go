// Package prices says what releases and runs cost, before any is made: at one setting, at
// the largest that a budget covers, and around it. It looks at no data.
package prices

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/setting"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// MostSteps is the most that all chains may make: counts stay exact in JSON numbers.
const MostSteps = 1 << 53

// Question is a run to be priced, and what of it is asked. Settings mean what they mean for
// the run, but that a start is free unless Start names one.
type Question struct {
	chains.Settings
	Epsilon, Delta float64
	Adjacency      accountant.Adjacency
	Records        int64
	Radius         float64 // of design rows; 0 where nothing bounds them
	RowsPerPerson  int
	Dimension      int // features, with the intercept
	// Model, or else the Lipschitz constant of its loss along the linear predictor, which
	// may be 0 for none.
	Model     string
	Options   models.Options
	Lipschitz float64
	// Solve is epsilon, delta, or one of Solvable.
	Solve   string
	NoSteps bool // Iterations is 0 because no step is asked for
	Limited bool // the budget is a limit although it is what is solved for
	Batches bool // other sizes of batches are priced too, for charts
}

// Solvable lists what can be solved for, beside epsilon and delta.
func Solvable(k chains.Description) []string {
	var names []string
	for _, v := range chains.Table() {
		if solvable, _ := v.Solvable(); solvable && k.Knows(v) {
			names = append(names, v.Name)
		}
	}
	if !k.Mechanism {
		names = append(names, "beta")
	}
	return names
}

// problem is what the settings are priced for.
func (s *Question) problem() (chains.Problem, error) {
	target, optimum, err := s.target()
	if err != nil {
		return chains.Problem{}, err
	}
	p := chains.Problem{
		Target: target, Logistic: optimum, Epsilon: s.Epsilon, Delta: s.Delta,
		Facts: curator.Facts{Records: s.Records, Radius: s.Radius, RowsPerPerson: s.RowsPerPerson,
			Adjacency: s.Adjacency},
	}
	p.Facts.Features, p.Facts.Response = target.Shape()
	return p, nil
}

// priced is the plan of the settings. Without --start the start is free.
func (s *Question) priced() (*chains.Plan, error) {
	p, err := s.problem()
	if err != nil {
		return nil, err
	}
	settings := s.Settings
	if k, err := chains.Describe(s.Kernel); err == nil && !k.Mechanism && settings.Start == "" {
		if settings.StartShare != 0 || settings.StartEpsilon != 0 {
			return nil, errors.New("--start-share and --start-epsilon go with --start: auto, optimum or gradient")
		}
		settings.Start = "prior-mean"
	}
	return chains.Price(settings, p)
}

// target is one with the certificates that the flags state, and whether chains can start
// at the logistic optimum.
func (s *Question) target() (targets.Target, bool, error) {
	switch {
	case s.Dimension < 1:
		return nil, false, fmt.Errorf("--dimension is %d; at least 1 is needed", s.Dimension)
	case !(s.Lipschitz >= 0) || math.IsInf(s.Lipschitz, 1):
		return nil, false, fmt.Errorf("--lipschitz is %v; it must be positive and finite", s.Lipschitz)
	case s.Model != "" && s.Lipschitz != 0:
		return nil, false, fmt.Errorf("--model %s certifies its own slope; leave --lipschitz out", s.Model)
	case s.Lipschitz != 0 && s.Radius == 0:
		return nil, false, fmt.Errorf("--lipschitz bounds a record's part of a move only with --radius, the bound on its " +
			"features")
	case s.Model == "" && s.Lipschitz == 0:
		return anyLinear{dim: s.Dimension, slope: math.Inf(1)}, false, nil
	case s.Model == "":
		return anyLinear{dim: s.Dimension, slope: s.Lipschitz}, false, nil
	}
	shape, err := models.StandardShape(s.Model, int(s.Records), s.Dimension-1)
	if err != nil {
		return nil, false, setting.Flagged(err)
	}
	shape.Radius, shape.RowsPerPerson = s.Radius, s.RowsPerPerson
	m, err := models.New(s.Model, shape, s.Options)
	if err != nil {
		return nil, false, setting.Flagged(err)
	}
	return m.Target, m.Logistic, nil
}

// anyLinear stands for any target whose loss has a bounded slope along the
// linear predictor. Pricing reads its shape and its slope alone; it is the
// target of a flat loss.
type anyLinear struct {
	dim   int
	slope float64
}

var (
	_ targets.LinearTarget = anyLinear{}
	_ targets.GradTarget   = anyLinear{}
)

func (t anyLinear) Dim() int                                  { return t.dim }
func (t anyLinear) Shape() (features int, response bool)      { return t.dim, true }
func (t anyLinear) LogPrior([]float64) float64                { return 0 }
func (t anyLinear) Loss(dst, _ []float64, _ targets.Rows)     { clear(dst) }
func (t anyLinear) LossAt(dst, _, _ []float64)                { clear(dst) }
func (t anyLinear) SlopeAt(dst, _, _ []float64)               { clear(dst) }
func (t anyLinear) LossGrad(dst, _ []float64, _ targets.Rows) { clear(dst) }
func (t anyLinear) GradLogPrior(dst, _ []float64)             { clear(dst) }
func (t anyLinear) PredictorLipschitz() float64               { return t.slope }

// GradBound is the slope times the radius; infinite where nothing bounds it.
func (t anyLinear) GradBound(radius float64) float64 {
	if radius == 0 {
		return math.Inf(1)
	}
	return t.slope * radius
}
