package models

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/data"
)

// Weigh returns the table as chains of the model are to read it. A row x that is longer than the
// radius R was shortened by s = R/‖x‖ when it was read, which by itself would move coefficients
// towards 0. Where errors are of one scale, in the models linear and median, its response is
// multiplied by s as well. The record then counts s² times in the fit, or s times with absolute
// errors, and biases nothing. The scale of normal errors is that of Σs² records.
//
// R is the model's: that of the schema, or where it states none a smaller one for linear
// regression with normal errors, see [data.Shape.Tighten].
//
// It is a function of each record by itself, and the table does not change. Rows of a mapped file
// stay there as they are, and are shortened by whoever reads them, as a curator does: responses
// alone are copied. Other models have their table as it is, and so have tables whose rows do not
// tell s: see [data.Shape.Whole].
func (m *Model) Weigh(t *data.Table) *data.Table {
	if !m.Weighs() || t.Weighed {
		return t
	}
	out, whole := *t, m.Shape.Whole()
	out.Y, out.Weighed = slices.Clone(t.Y), true
	shorter := m.Shape.Radius < t.Radius
	if shorter {
		out.Radius, out.Usual = m.Shape.Radius, m.Shape.Usual
		if !t.Shared {
			out.X = slices.Clone(t.X)
		}
	}
	row := make([]float64, t.Features())
	for i := range out.Y {
		at := row
		if t.Shared {
			t.CopyRow(at, i)
		} else {
			at = out.Row(i)
		}
		if shorter {
			out.Shorten(at)
		}
		out.Y[i] *= min(1, at[0]/whole)
	}
	return &out
}

// Weighs reports whether Weigh does anything for tables of the model's shape.
func (m *Model) Weighs() bool {
	e := find(m.Name)
	return e != nil && e.weighs && m.Shape != nil && m.Shape.Whole() != 0
}

// weighed draws a table whose responses are to whole rows, and weighs it.
func (m *Model) weighed(rng *rand.Rand, respond func(row []float64) float64) *data.Table {
	free := *m.Shape
	free.Radius = math.MaxFloat64
	t := free.Simulate(rng, nil, respond)
	t.Shape = *m.Shape
	for i := range t.Records {
		t.Shorten(t.Row(i))
	}
	return m.Weigh(t)
}
