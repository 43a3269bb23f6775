package room

// Proof: docs/proofs/curator.md.

import "math"

// GridBits is the number of bits a clipped contribution keeps. Together with
// maxRecords = 2³¹ it leaves every sum of contributions inside int64.
const GridBits = 30

// Grid is the public power-of-two lattice that contributions are rounded to.
type Grid struct {
	Step, inverse float64
	Top           float64 // the largest contribution, in steps
}

// NewGrid returns the coarsest lattice on which a contribution of size bound
// keeps GridBits bits. Its top is rounded down, so top·step ≤ bound.
func NewGrid(bound float64) Grid {
	_, exp := math.Frexp(bound)
	g := Grid{Step: math.Ldexp(1, exp-GridBits), inverse: math.Ldexp(1, GridBits-exp)}
	g.Top = math.Floor(bound * g.inverse)
	return g
}

// Round returns contribution v in steps, clipped to [-top, top]. NaN is 0.
func (g Grid) Round(v, top float64) int64 {
	const shift = 3 << 51 // adding it rounds below 2⁵¹; top is less
	k := float64(v*g.inverse) + shift - shift
	if k > top {
		k = top
	}
	if k < -top {
		k = -top
	}
	if k != k {
		return 0
	}
	return int64(k)
}

// Float rounding in the curator's arithmetic moves a log-odds by less than
// AdditiveSlack and scales a contribution by less than 1+RelativeSlack
// (docs/proofs/curator.md, "Rounding"). Both are charged.
const (
	RelativeSlack = 1.0 / (1 << 30)
	AdditiveSlack = 1.0 / (1 << 38)
)

// Padded is the contribution that is charged for one of c enforced in float64.
func Padded(c float64) float64 { return c*(1+RelativeSlack) + AdditiveSlack }

// ExactGrid returns a lattice on which bound is exactly 2^GridBits steps, for
// releases whose noise is a fixed number of steps however large the bound.
func ExactGrid(bound float64) Grid {
	const top = 1 << GridBits
	return Grid{Step: bound / top, inverse: top / bound, Top: top}
}

// WholeSteps is a public value in whole steps of a unit, clamped to ±2⁶² so that
// it can be added to any sum of contributions, which is below 2⁶². NaN is 0.
func WholeSteps(v, unit float64) int64 {
	k := math.RoundToEven(v / unit)
	if k != k {
		return 0
	}
	return int64(max(-1<<62, min(1<<62, k)))
}

// StepsToLogOdds is sum·unit, clamped in whole steps to [−limit, limit], so that
// only a final multiplication rounds.
func StepsToLogOdds(sum int64, unit, limit float64) float64 {
	top := int64(min(math.Floor(limit/unit), 1<<62))
	return float64(max(-top, min(top, sum))) * unit
}

// maxRecords keeps integer sums of contributions inside int64; see Grid.
const maxRecords = 1 << 31

// Clamp bounds the log-odds that a test is evaluated at; beyond, every test's
// acceptance is within 10⁻¹⁹ of 0 or 1.
const Clamp = 512
