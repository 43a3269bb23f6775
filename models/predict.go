package models

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/diag"
)

// Prediction is what draws of the parameters say of the response to one row. Numbers
// are in the units of the file, labels are probabilities.
type Prediction struct {
	// Mean is the expected response: of a number or count its mean, of two labels the
	// probability of the second, of more the probability of each. Low and High are the
	// ends of its central interval over the draws, entry by entry.
	Mean []float64 `json:"mean"`
	Low  []float64 `json:"low"`
	High []float64 `json:"high"`
	// NewLow and NewHigh are the ends of the central interval of a new response, whose
	// own spread comes on top. They are 0 for labels.
	NewLow  float64 `json:"new_low,omitempty"`
	NewHigh float64 `json:"new_high,omitempty"`
}

// Predict predicts the response to every row of a table made for prediction, such as
// [data.LoadNew] makes, from draws of the values that chains write. Intervals hold the
// given level, in (0, 1). rng draws new responses.
//
// It looks at released draws and at the rows alone: predictions spend no privacy of the
// records that the draws are about, and leave the new rows as private as they were.
//
// Errors: a model that predicts nothing, no draws, draws or rows of another length, a
// level out of range.
func (m *Model) Predict(draws [][]float64, rows *data.Table, level float64, rng *rand.Rand) ([]Prediction, error) {
	switch {
	case m.width == 0:
		return nil, fmt.Errorf("models: %s predicts no response; choose a model of a target column", m.Name)
	case len(draws) == 0:
		return nil, fmt.Errorf("models: Predict was given no draws; give those after warm-up")
	case len(draws[0]) != len(m.Parameters):
		return nil, fmt.Errorf("models: draws have %d values, and %s has %d parameters", len(draws[0]), m.Name,
			len(m.Parameters))
	case rows.Features() != m.Shape.Features():
		return nil, fmt.Errorf("models: rows have %d entries, and the model's %d; read them under its schema",
			rows.Features(), m.Shape.Features())
	case !(level > 0 && level < 1):
		return nil, fmt.Errorf("models: the level of intervals is %v; it must be between 0 and 1", level)
	}
	p := predictor{m: m, draws: draws, level: level, rng: rng, fresh: make([]float64, len(draws))}
	for range m.width {
		p.means = append(p.means, make([]float64, len(draws)))
	}
	all := make([]Prediction, rows.Records)
	for i := range all {
		all[i] = p.row(rows.Row(i))
	}
	return all, nil
}

// predictor holds the buffers of Predict.
type predictor struct {
	m     *Model
	draws [][]float64
	level float64
	rng   *rand.Rand
	means [][]float64 // outcome by draw
	fresh []float64
}

// row predicts one response.
func (p *predictor) row(x []float64) Prediction {
	mean := make([]float64, p.m.width)
	number := p.m.Shape.Classes() == 0
	for d, values := range p.draws {
		p.m.mean(mean, values, x)
		for k, v := range mean {
			p.means[k][d] = p.m.inFile(v)
		}
		if number {
			p.fresh[d] = p.m.inFile(p.m.draw(values, x, p.rng))
		}
	}
	var out Prediction
	for _, m := range p.means {
		sum := 0.0
		for _, v := range m {
			sum += v
		}
		low, high := p.ends(m)
		out.Mean, out.Low, out.High = append(out.Mean, sum/float64(len(m))), append(out.Low, low), append(out.High, high)
	}
	if number {
		out.NewLow, out.NewHigh = p.ends(p.fresh)
	}
	return out
}

// ends sorts values and returns the ends of their central interval.
func (p *predictor) ends(values []float64) (low, high float64) {
	slices.Sort(values)
	return diag.Quantile(values, (1-p.level)/2), diag.Quantile(values, (1+p.level)/2)
}

// inFile turns a response of the target into that of the file; labels stay.
func (m *Model) inFile(y float64) float64 {
	if m.Shape.Classes() > 0 {
		return y
	}
	return m.Shape.Target.Center + m.Shape.Target.Unit*y
}
