package surrogates

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// features are what stands for the records' features: a law of them, or rows.
type features interface {
	// buffered returns them with buffers of their own, for one goroutine.
	buffered() evaluated
	// size is the number of rows that stand for all records.
	size() float64
	// information is minus the derivative of the score's mean at theta, for size records.
	information(theta []float64) *mat.SymDense
	// square is the sum of squares of linear predictors.
	square(theta []float64) float64
	// moments are the mean and the variance of feature j.
	moments(j int) (mean, variance float64)
}

// evaluated are features of which the law of the score is asked, at one theta after another.
// Each record has a weight.
type evaluated interface {
	// law sets mean to the score's and, unless nil, the lower triangle of its covariance.
	law(mean, lower, theta []float64, weight float64)
	// back adds to grad the derivative of mean·u + ½⟨A, covariance⟩ where law was asked last,
	// A by its lower triangle. A nil lower leaves the covariance out.
	back(grad, u, lower []float64, weight float64)
}

// rows are features by example.
type rows struct {
	link    Link
	d       int
	x       []float64 // row by row
	columns []float64 // the same, column by column
	at      []float64 // linear predictors at the anchor
	offset  []float64 // of the linear predictors
}

func newRows(link Link, x, at, anchor []float64) *rows {
	d, m := len(anchor), len(at)
	r := &rows{link: link, d: d, x: x, at: at, columns: make([]float64, len(x)), offset: make([]float64, m)}
	for i := range m {
		row := x[i*d : (i+1)*d]
		r.offset[i] = at[i] - dot(row, anchor)
		for j, v := range row {
			r.columns[j*m+i] = v
		}
	}
	return r
}

func (r *rows) size() float64 { return float64(len(r.at)) }

func (r *rows) column(j int) []float64 {
	m := len(r.at)
	return r.columns[j*m : (j+1)*m]
}

func (r *rows) information(theta []float64) *mat.SymDense {
	h := mat.NewSymDense(r.d, nil)
	for i, at := range r.at {
		row := r.x[i*r.d : (i+1)*r.d]
		_, _, dMean, _ := r.link.Slope(at, dot(row, theta)+r.offset[i])
		h.SymRankOne(h, -dMean, mat.NewVecDense(r.d, row))
	}
	return h
}

func (r *rows) square(theta []float64) float64 {
	sum := 0.0
	for i := range r.at {
		along := dot(r.x[i*r.d:(i+1)*r.d], theta)
		sum += along * along
	}
	return sum
}

func (r *rows) moments(j int) (mean, variance float64) {
	mean, sd := stat.PopMeanStdDev(r.column(j), nil)
	return mean, sd * sd
}

// onRows are rows with buffers.
type onRows struct {
	*rows
	eta, mean, variance   []float64 // linear predictors, and of slopes there
	slope, spread, scaled []float64 // derivatives of mean and variance
}

func (r *rows) buffered() evaluated {
	row := func() []float64 { return make([]float64, len(r.at)) }
	return &onRows{rows: r, eta: row(), mean: row(), variance: row(), slope: row(), spread: row(), scaled: row()}
}

func (o *onRows) law(mean, lower, theta []float64, weight float64) {
	copy(o.eta, o.offset)
	for j, t := range theta {
		floats.AddScaled(o.eta, t, o.column(j))
	}
	for i, at := range o.at {
		o.mean[i], o.variance[i], o.slope[i], o.spread[i] = o.link.Slope(at, o.eta[i])
	}
	for j := range theta {
		mean[j] = weight * floats.Dot(o.mean, o.column(j))
		if lower == nil {
			continue
		}
		floats.MulTo(o.scaled, o.variance, o.column(j))
		for k := range j + 1 {
			lower[j*o.d+k] = weight * floats.Dot(o.scaled, o.column(k))
		}
	}
}

func (o *onRows) back(grad, u, lower []float64, weight float64) {
	clear(o.scaled)
	if lower != nil {
		o.quadratics(lower)
		floats.MulTo(o.scaled, o.scaled, o.spread)
	}
	clear(o.eta)
	for j, v := range u {
		floats.AddScaled(o.eta, v, o.column(j))
	}
	floats.MulTo(o.eta, o.eta, o.slope)
	floats.AddScaled(o.eta, 0.5, o.scaled)
	for j := range grad {
		grad[j] += weight * floats.Dot(o.eta, o.column(j))
	}
}

// quadratics sets scaled to xᵀAx of every row x, of the lower triangle of A.
func (o *onRows) quadratics(lower []float64) {
	for j := range o.d {
		clear(o.eta)
		floats.AddScaled(o.eta, lower[j*o.d+j]/2, o.column(j))
		for k := range j {
			floats.AddScaled(o.eta, lower[j*o.d+k], o.column(k))
		}
		floats.MulTo(o.eta, o.eta, o.column(j))
		floats.AddScaled(o.scaled, 2, o.eta)
	}
}
