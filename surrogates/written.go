package surrogates

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Where coefficients are not those that draws are written in, what is said of coefficients is of the
// latter: combinations of the former, by the rows of Config.Written.

func (c Config) checkWritten(d int) error {
	if c.Written == nil {
		return nil
	}
	if rows, columns := c.Written.Dims(); rows != d || columns != d {
		return fmt.Errorf("surrogates: Config.Written has %d × %d entries for %d coefficients", rows, columns, d)
	}
	var inverse mat.Dense
	if err := inverse.Inverse(c.Written); err != nil {
		return fmt.Errorf("surrogates: Config.Written: %w", err)
	}
	return nil
}

// written are coefficients as they are written.
func (c Config) written(theta []float64) []float64 {
	if c.Written == nil {
		return theta
	}
	var out mat.VecDense
	out.MulVec(c.Written, mat.NewVecDense(len(theta), theta))
	return out.RawVector().Data
}

// combination is what coefficient j, as it is written, has of the others.
func (p *Score) combination(j int) *mat.VecDense {
	v := make([]float64, p.dim)
	if p.config.Written == nil {
		v[j] = 1
	} else {
		copy(v, p.config.Written.RawRowView(j))
	}
	return mat.NewVecDense(p.dim, v)
}

// column is what column j, as coefficients are written, has of the columns of the release.
func (p *Score) column(j int) *mat.VecDense {
	if p.config.Written == nil {
		return p.combination(j)
	}
	var inverse mat.Dense
	if err := inverse.Inverse(p.config.Written); err != nil {
		panic(err) // it was checked
	}
	return mat.VecDenseCopyOf(inverse.ColView(j))
}

// sdAlong is the standard deviation of a combination.
func sdAlong(v *mat.VecDense, covariance *mat.SymDense) float64 {
	return math.Sqrt(mat.Inner(v, covariance, v))
}

// allWritten are draws of coefficients as they are written.
func (c Config) allWritten(draws Draws) (all [][]float64) {
	for _, theta := range slices.Concat(draws.Chains...) {
		all = append(all, c.written(theta))
	}
	return all
}
