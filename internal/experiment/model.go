package experiment

import (
	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// shape is what is public about the records that methods learn from.
func (p *Plan) shape(records int) (*data.Shape, error) {
	d := p.Config.Data
	var s *data.Shape
	var err error
	switch {
	case p.schema != nil:
		s, err = p.schema.Shape()
	case builtin[d.Simulate]:
		s, err = data.BuiltinShape(d.builtinName(1, records))
	default:
		s, err = models.StandardShape(d.Simulate, records, d.Features)
	}
	if err == nil {
		s.Records = records
	}
	return s, err
}

// problem is that of learning a model from records of a shape, as the model weighs them: all
// methods learn from the same rows.
func (p *Plan) problem(s *data.Shape) (methods.Problem, error) {
	c := p.Config.Model
	m, err := models.New(c.Name, s, c.Options)
	if err != nil {
		return methods.Problem{}, err
	}
	return methods.Problem{Model: m, Facts: chains.Facts(m.Shape, accountant.Substitute)}, nil
}

// report turns draws of the target's parameters into the values that results
// report.
func report(m *models.Model, chains [][][]float64) [][][]float64 {
	out := make([][][]float64, len(chains))
	for c, draws := range chains {
		for _, theta := range draws {
			v := make([]float64, len(theta))
			m.Output(v, theta)
			out[c] = append(out[c], v)
		}
	}
	return out
}

// predict returns what sets dst to the expected responses of held-out records given
// reported values.
func predict(m *models.Model, rows targets.Rows) func(dst, values []float64) {
	return func(dst, values []float64) {
		for i := range dst {
			m.Mean(dst[i:i+1], values, rows.Row(i))
		}
	}
}
