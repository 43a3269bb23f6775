package models

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpmcmc/dpmcmc/data"
)

// law is what a model says of a record, given values of the parameters. All of it is
// nil for custom models.
type law struct {
	width int // of mean
	// mean sets dst to the expected response to a row: width numbers.
	mean func(dst, values, row []float64)
	// draw draws the response to a row.
	draw func(values, row []float64, rng *rand.Rand) float64
	// record draws a row, where there is no response.
	record func(row, values []float64, rng *rand.Rand)
}

// Outcomes is the number of entries of Mean: the number of labels where the response
// is one of more than two, 1 otherwise, and 0 for a model that predicts nothing.
func (m *Model) Outcomes() int { return m.width }

// Mean sets dst, of length Outcomes, to the expected response to a row of the design
// matrix given values of the parameters: the probability of the second label, the
// probability of each of more labels, the mean count, or the mean number in units of
// the scaled target; with Student errors their centre.
func (m *Model) Mean(dst, values, row []float64) { m.mean(dst, values, row) }

// Draw draws a response to a row of the design matrix given values of the parameters.
// The model must have Outcomes.
func (m *Model) Draw(values, row []float64, rng *rand.Rand) float64 { return m.draw(values, row, rng) }

// Simulates reports whether Simulate can.
func (m *Model) Simulates() bool { return m.draw != nil || m.record != nil }

// Simulate draws a table of the model's shape given values of the parameters. Features
// are those of [data.Shape.Simulate]; numbers and counts are kept within the bounds of
// the shape, and rows longer than the radius are weighed: see Weigh. The model must be one that Simulates.
func (m *Model) Simulate(values []float64, rng *rand.Rand) *data.Table {
	if m.record != nil {
		return m.Shape.Simulate(rng, func(row []float64) {
			m.record(row, values, rng)
			for j := range row {
				row[j] = within(&m.Shape.Terms[j], row[j])
			}
		}, nil)
	}
	respond := func(row []float64) float64 { return within(&m.Shape.Target, m.draw(values, row, rng)) }
	if m.Weighs() {
		return m.weighed(rng, respond)
	}
	return m.Shape.Simulate(rng, nil, respond)
}

// within moves a number to the nearer bound of its term.
func within(t *data.Term, v float64) float64 {
	if t.Upper > t.Lower && t.Unit > 0 && t.Level == "" {
		return min(max(v, t.At(t.Lower)), t.At(t.Upper))
	}
	return v
}

// response is what a model asks of the target column.
type response struct {
	needs    string // for people, after "needs"
	fits     func(*data.Shape) bool
	standard func(*data.Shape) // states such a response
	// effect is the prior standard deviation of what a column at its bound adds to the
	// linear predictor of the response; 0 where parameters are no coefficients of columns.
	effect float64
}

var (
	noResponse     = response{"no target column", func(s *data.Shape) bool { return !s.HasTarget() }, nil, 0}
	binaryResponse = response{"a binary target column", func(s *data.Shape) bool { return s.Classes() == 2 },
		func(s *data.Shape) {
			s.Target = data.Term{Name: "y", Column: "y", Level: "1", Unit: 1, Upper: 1}
			s.Labels = []string{"0", "1"}
		}, 3}
	labelResponse = response{"a target column of labels", func(s *data.Shape) bool { return s.Classes() >= 2 },
		func(s *data.Shape) {
			s.Target = data.Term{Name: "y", Column: "y", Level: "3", Unit: 1, Upper: 2}
			s.Labels = []string{"1", "2", "3"}
		}, 3}
	countResponse = response{
		"a target column of counts, a number with center = 0, scale = 1 and a lower bound of at least 0 in the schema",
		func(s *data.Shape) bool {
			t := s.Target
			return s.HasTarget() && s.Classes() == 0 && t.Center == 0 && t.Unit == 1 && t.Lower >= 0
		},
		func(s *data.Shape) { s.Target = data.Term{Name: "y", Column: "y", Unit: 1} }, 3,
	}
	numberResponse = response{"a numeric target column",
		func(s *data.Shape) bool { return s.HasTarget() && s.Classes() == 0 }, func(s *data.Shape) {
			s.Target = data.Term{Name: "y", Column: "y", Unit: 1, Lower: -10, Upper: 10}
		}, 1.5}
	anyResponse = response{"a target column", (*data.Shape).HasTarget, numberResponse.standard, 0}
)

// targetText describes a shape's target.
func targetText(s *data.Shape) string {
	switch {
	case !s.HasTarget():
		return "none"
	case s.Classes() == 2:
		return fmt.Sprintf("%q, binary", s.Target.Name)
	case s.Classes() > 2:
		return fmt.Sprintf("%q, one of %d labels", s.Target.Name, s.Classes())
	}
	return fmt.Sprintf("%q, a number", s.Target.Name)
}

// dot is the linear predictor of a row; coefficients may be followed by others.
func dot(coefficients, row []float64) float64 {
	eta := 0.0
	for j, x := range row {
		eta += x * coefficients[j]
	}
	return eta
}

// binaryLaw is that of a 0/1 response, whose probability of 1 is given.
func binaryLaw(at func(values, row []float64) float64) law {
	return law{
		width: 1,
		mean:  func(dst, values, row []float64) { dst[0] = at(values, row) },
		draw: func(values, row []float64, rng *rand.Rand) float64 {
			if rng.Float64() < at(values, row) {
				return 1
			}
			return 0
		},
	}
}

// linked is binaryLaw where the probability is a function of the linear predictor.
func linked(probability func(eta float64) float64) law {
	return binaryLaw(func(values, row []float64) float64 { return probability(dot(values, row)) })
}

func logistic(eta float64) float64 { return 1 / (1 + math.Exp(-eta)) }
func probit(eta float64) float64   { return 0.5 * math.Erfc(-eta/math.Sqrt2) }
func cloglog(eta float64) float64  { return -math.Expm1(-math.Exp(eta)) }

// countLaw is that of a count with mean e^η, Poisson or with a gamma-distributed rate
// of the given dispersion.
func countLaw(dispersion float64) law {
	const most = 700 // of η, e^η being finite
	return law{
		width: 1,
		mean:  func(dst, values, row []float64) { dst[0] = math.Exp(dot(values, row)) },
		draw: func(values, row []float64, rng *rand.Rand) float64 {
			rate := math.Exp(min(dot(values, row), most))
			if dispersion != 0 {
				rate = distuv.Gamma{Alpha: dispersion, Beta: dispersion / rate, Src: rng}.Rand()
			}
			if !(rate > 0) {
				return 0
			}
			if rate > 1e15 { // where counts cannot be told apart
				return math.Round(rate)
			}
			return distuv.Poisson{Lambda: rate, Src: rng}.Rand()
		},
	}
}

// numberLaw is that of a number with errors, normal or Student-t.
func numberLaw(degreesOfFreedom float64, mean, scale func(values, row []float64) float64) law {
	return law{
		width: 1,
		mean:  func(dst, values, row []float64) { dst[0] = mean(values, row) },
		draw: func(values, row []float64, rng *rand.Rand) float64 {
			e := rng.NormFloat64()
			if nu := degreesOfFreedom; nu != 0 {
				e /= math.Sqrt(distuv.ChiSquared{K: nu, Src: rng}.Rand() / nu)
			}
			return mean(values, row) + scale(values, row)*e
		},
	}
}

// labelLaw is that of a response in 0, …, classes−1; logits sets the log-odds of each,
// up to a common constant.
func labelLaw(classes int, logits func(dst, values, row []float64)) law {
	mean := func(dst, values, row []float64) {
		logits(dst, values, row)
		most, sum := dst[0], 0.0
		for _, v := range dst {
			most = max(most, v)
		}
		for k, v := range dst {
			dst[k] = math.Exp(v - most)
			sum += dst[k]
		}
		for k := range dst {
			dst[k] /= sum
		}
	}
	if classes == 2 {
		return binaryLaw(func(values, row []float64) float64 {
			var p [2]float64
			mean(p[:], values, row)
			return p[1]
		})
	}
	return law{width: classes, mean: mean, draw: func(values, row []float64, rng *rand.Rand) float64 {
		p := make([]float64, classes)
		mean(p, values, row)
		u := rng.Float64()
		for k, share := range p[:classes-1] {
			if u -= share; u < 0 {
				return float64(k)
			}
		}
		return float64(classes - 1)
	}}
}
