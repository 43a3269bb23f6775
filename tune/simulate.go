package tune

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/targets"
)

// table is a simulated table.
type table struct{ rows targets.Rows }

// simulate draws the coefficients, and a table of the shape.
func (c Config) simulate(rng *rand.Rand) table {
	theta := c.coefficients(rng)
	n, p := int(c.Shape.Records), len(c.Shape.Terms)
	t := table{targets.Rows{X: make([]float64, n*p), P: p, Y: make([]float64, n)}}
	columns := c.Shape.columns()
	for i := range n {
		row := t.rows.X[i*p : (i+1)*p]
		for _, column := range columns {
			column.draw(row, c.Shape.Terms, rng)
		}
		data.Project(row, c.Shape.Radius)
		eta := 0.0
		for j, x := range row {
			eta += x * theta[j]
		}
		t.rows.Y[i] = c.respond(eta, rng)
	}
	return t
}

// coefficients draws those of the linear predictor.
func (c Config) coefficients(rng *rand.Rand) []float64 {
	theta := make([]float64, c.Models[0].Target.Dim())
	prior, ok := c.Models[0].Target.(targets.PriorSampler)
	if ok && c.CoefficientSD == 0 {
		prior.SamplePrior(theta, rng)
		return theta
	}
	sd := c.CoefficientSD
	if sd == 0 {
		sd = 1 // of a target whose prior cannot be drawn from
	}
	for j := range theta {
		theta[j] = sd * rng.NormFloat64()
	}
	return theta
}

// respond draws a response to a linear predictor.
func (c Config) respond(eta float64, rng *rand.Rand) float64 {
	if c.Family == Logistic {
		if rng.Float64() < 1/(1+math.Exp(-eta)) {
			return 1
		}
		return 0
	}
	y, r := eta+c.ErrorSD*rng.NormFloat64(), c.Shape.Response
	if r.Upper > r.Lower && r.Unit > 0 {
		y = min(max(y, (r.Lower-r.Center)/r.Unit), (r.Upper-r.Center)/r.Unit)
	}
	return y
}

// column is a column of the file: its terms, and for numbers how far typical values
// spread.
type column struct {
	first, terms int
	scale        float64
}

// columns groups the terms by their columns.
func (s Shape) columns() []column {
	var all []column
	for j, t := range s.Terms {
		if j > 0 && t.Column != "" && t.Column == s.Terms[j-1].Column {
			all[len(all)-1].terms++
			continue
		}
		all = append(all, column{first: j, terms: 1})
	}
	// A number's unit is its scale times the root of the number of columns.
	for i := range all {
		all[i].scale = s.Terms[all[i].first].Unit / math.Sqrt(float64(len(all)))
	}
	return all
}

// draw fills the column's entries: a number is normal with the schema's centre and
// scale, within its bounds; levels are equally likely.
func (c column) draw(row []float64, terms []data.Term, rng *rand.Rand) {
	first := terms[c.first]
	if first.Name == data.Intercept {
		row[c.first] = (1 - first.Center) / first.Unit
		return
	}
	if first.Level == "" {
		x := min(max(first.Center+c.scale*rng.NormFloat64(), first.Lower), first.Upper)
		row[c.first] = (x - first.Center) / first.Unit
		return
	}
	level := rng.IntN(c.terms + 1) // the last is the reference, which has no term
	for j := range c.terms {
		x := 0.0
		if j == level {
			x = 1
		}
		t := terms[c.first+j]
		row[c.first+j] = (x - t.Center) / t.Unit
	}
}
