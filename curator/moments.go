package curator

// Proof: docs/proofs/moments.md.

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/dense"
	"github.com/dpmcmc/dpmcmc/internal/core/noise"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/targets"
)

// SecondMoment is the mechanism that releases Σ w·zzᵀ, a matrix of weighted second
// moments times the number of records, with symmetric Gaussian noise (Dwork,
// Talwar, Thakurta, Zhang 2014; docs/proofs/moments.md). z is a
// record's row of features, or that with its response; w is 1, or the curvature of a
// loss. Records must be sealed with a Radius R.
type SecondMoment struct {
	// Loss, when given, makes w = ∂²ℓ/∂η² at η = x·θ, for the θ of each release: the
	// matrix is then the curvature of the log-likelihood, temperature left out. A release
	// without a θ has w = W. Defaults to none, w = 1.
	Loss targets.ConvexLoss
	// Weight is W, the bound on w that is enforced by cutting it, in the units of w.
	// Defaults to the loss's largest curvature, and to 1 without one.
	Weight float64
	// Response, when positive, appends the response to the row, cut to ±Response and in
	// units of ResponseUnit, so that it is at most R/√2. The matrix then has one row and
	// column more.
	Response float64
	// NoiseMultiplier is the noise's standard deviation on the diagonal over
	// √2·W·‖z‖², ‖z‖² ≤ R², or 1.5R² with a Response: the sensitivity in Frobenius norm under
	// substitution of one row. Off the diagonal it is smaller by √2. Required.
	NoiseMultiplier float64
	// View, if not nil, is how rows are seen; R is then its radius.
	View *View
}

// responseShare is the square of the response's part of an extended row over that of
// the features. The noise of a regression's coefficients β, in units of ResponseUnit/√2,
// has variance ∝ (1 + share)²·(‖β‖² + 1/share), least at ½ for ‖β‖ = 1.
const responseShare = 0.5

// ResponseUnit is the unit of responses in extended rows.
func (m SecondMoment) ResponseUnit(f Facts) float64 {
	f = m.View.seen(f)
	return m.Response / (f.Radius * math.Sqrt(responseShare))
}

// weight is W.
func (m SecondMoment) weight() float64 {
	most := 1.0
	if m.Loss.Valid() {
		most = m.Loss.MaxCurvature()
	}
	if m.Weight == 0 {
		return most
	}
	return m.Weight
}

// largest bounds the Frobenius norm of a record's matrix.
func (m SecondMoment) largest(f Facts) float64 {
	square := f.Radius * f.Radius
	if m.Response > 0 {
		square *= 1 + responseShare
	}
	return m.weight() * square
}

// Size is the number of rows of the released matrix.
func (m SecondMoment) Size(f Facts) int {
	if m.Response > 0 {
		return f.Features + 1
	}
	return f.Features
}

func (m SecondMoment) check(f Facts) error {
	if err := errors.Join(f.check(), m.View.check(f)); err != nil {
		return err
	}
	f = m.View.seen(f)
	switch {
	case f.Features < 1:
		return fmt.Errorf("curator: Facts.Features is %d; at least 1 is needed", f.Features)
	case triangle(f.Features) > room.MostParameters:
		return fmt.Errorf("curator: %d features have %d second moments; at most %d are covered", f.Features,
			triangle(f.Features), room.MostParameters)
	case f.Radius == 0:
		return errors.New("curator: SecondMoment needs records sealed with a Radius, which bounds their squares")
	case !(m.Weight >= 0) || math.IsInf(m.Weight, 1):
		return fmt.Errorf("curator: SecondMoment.Weight is %v; it must be positive and finite, or 0 for the loss's largest "+
			"curvature", m.Weight)
	case m.Response != 0 && !(m.Response >= 1e-100 && m.Response <= 1e100):
		return fmt.Errorf("curator: SecondMoment.Response is %v; it must be a bound on |y| from 1e-100 to 1e100, or 0 to "+
			"leave responses out", m.Response)
	case (m.Loss.Valid() || m.Response > 0) && !f.Response:
		return errors.New("curator: a SecondMoment with a Loss or a Response needs records with a response")
	case m.Loss.Valid() && m.Response > 0:
		return errors.New("curator: a SecondMoment has either a Loss or a Response, not both")
	}
	return checkNoise(m.largest(f), m.NoiseMultiplier)
}

// Event is the price of one release on records with the given facts. It charges
// nothing. Errors: settings out of range; records without a Radius or, where one is
// needed, a response.
func (m SecondMoment) Event(f Facts) (accountant.Event, error) {
	if err := m.check(f); err != nil {
		return accountant.Event{}, err
	}
	f = m.View.seen(f)
	multiplier := m.NoiseMultiplier / (float64(f.RowsPerPerson) * (1 + room.RelativeSlack))
	if f.Adjacency == accountant.AddRemove {
		multiplier *= math.Sqrt2 * (1 - room.RelativeSlack)
	}
	return accountant.GridGaussian{NoiseMultiplier: multiplier, Coordinates: triangle(m.Size(f)),
		Steps: m.steps(f, room.ExactGrid(m.largest(f)))}.Event(f.Adjacency)
}

// NoiseSD is the standard deviation of the noise on the diagonal of a release:
// public, and free. Errors are those of Event.
func (m SecondMoment) NoiseSD(f Facts) (float64, error) {
	if err := m.check(f); err != nil {
		return 0, err
	}
	f = m.View.seen(f)
	lattice := room.ExactGrid(m.largest(f))
	return m.steps(f, lattice) * lattice.Step, nil
}

// steps is the noise in grid steps. Two rows' matrices have no negative inner
// product, so a replaced row moves the sum by √2 of the longest, but for what
// rounding the entries can turn.
func (m SecondMoment) steps(f Facts, g room.Grid) float64 {
	return m.NoiseMultiplier * math.Sqrt2 * (g.Top + math.Sqrt(float64(triangle(m.Size(f)))) + 1) *
		(1 + room.RelativeSlack)
}

// triangle is the number of entries of a symmetric matrix.
func triangle(dim int) int { return dim * (dim + 1) / 2 }

// Moments is a prepaid grant of second moments. It is not safe for concurrent use.
type Moments struct {
	prepaid
	mechanism SecondMoment
	set       source
	clipper   room.Clipper
	noise     *noise.DiscreteGaussian
	reach     float64   // the longest response in a row
	x, y      []float64 // one record
	z         []float64 // its row, with a response there is to be moments of
	row       []float64 // its triangle, of the length of its matrix
	sums      []int64
	given     []int64 // sums of records elsewhere, if not nil
}

func (m SecondMoment) prepare(f Facts, set *record.Set) (accountant.Event, *Moments, error) {
	m.View = m.View.granted(m.Response > 0)
	event, err := m.Event(f)
	if err != nil {
		return accountant.Event{}, nil, err
	}
	g, err := newMoments(m, f, set)
	return event, g, err
}

// newMoments builds what releases moments of set, before anything is charged.
func newMoments(m SecondMoment, f Facts, set *record.Set) (*Moments, error) {
	f = m.View.seen(f)
	lattice := room.ExactGrid(m.largest(f))
	normal, err := noise.NewDiscreteGaussian(m.steps(f, lattice))
	if err != nil {
		return nil, err
	}
	n := triangle(m.Size(f))
	return &Moments{
		mechanism: m, set: m.View.over(set), noise: normal, reach: f.Radius * math.Sqrt(responseShare),
		x: make([]float64, f.Features), y: make([]float64, 1), z: make([]float64, m.Size(f)), row: make([]float64, n),
		sums:    make([]int64, n),
		clipper: room.NewClipper(n, 1, lattice),
	}, nil
}

// Release sets dst, row-major, to Σ w·zzᵀ with noise of standard deviation NoiseSD on the diagonal
// and NoiseSD/√2 off it. theta is where the weights w are taken. With a nil theta, as is usual
// without a Loss, every weight is W. dst is what is released; it is symmetric but need not be
// positive semidefinite. Errors: a dst that is not Size squared long; a theta of the wrong length
// or that is not finite; ErrSpent. After an error nothing has been released or used up.
func (o *Moments) Release(dst, theta []float64) error {
	d := len(o.z)
	if len(dst) != d*d {
		return fmt.Errorf("curator: a matrix of %d values was asked for; rows of %d have one of %d", len(dst), d, d*d)
	}
	if err := o.checkPoint(theta); err != nil {
		return err
	}
	if err := o.room.Enter(); err != nil {
		return err
	}
	defer o.room.Leave()
	if err := o.mechanism.View.aim(o.set); err != nil {
		return err
	}
	if err := o.room.Take(); err != nil {
		return err
	}
	o.sum(theta)
	o.room.Noisy(o.row, o.sums, o.noise, o.clipper.Grid.Step, 1)
	i := 0
	for j := range d {
		for k := j; k < d; k++ {
			v := o.row[i]
			if j != k {
				v /= math.Sqrt2
			}
			dst[j*d+k], dst[k*d+j] = v, v
			i++
		}
	}
	return nil
}

// checkPoint reports a theta at which no weights can be taken.
func (o *Moments) checkPoint(theta []float64) error {
	switch {
	case theta == nil:
		return nil
	case o.mechanism.Loss.Valid():
		return checkStates(len(o.z), theta, theta)
	}
	return errors.New("curator: a point was given for second moments that have no Loss; give nil")
}

// sum adds every record's triangle, with √2 off the diagonal, so that its length is
// the matrix's Frobenius norm.
func (o *Moments) sum(theta []float64) {
	if o.given != nil {
		copy(o.sums, o.given)
		return
	}
	clear(o.sums)
	for r := range o.set.Len() {
		x, y := o.set.Block(o.x, o.y, r, r+1)
		copy(o.z, x)
		weight := o.mechanism.weight()
		switch {
		case o.mechanism.Response > 0: // NaN stays, and leaves the record out
			o.z[len(x)] = o.reach * max(-1, min(1, y[0]/o.mechanism.Response))
		case theta != nil:
			weight = o.mechanism.Loss.Curvature(dense.Dot(theta, x), y[0])
		}
		weight = max(0, min(o.mechanism.weight(), weight))
		i := 0
		for j, v := range o.z {
			v *= weight
			o.row[i] = v * o.z[j]
			i++
			for _, u := range o.z[j+1:] {
				o.row[i] = math.Sqrt2 * v * u
				i++
			}
		}
		o.clipper.Add(o.sums, 1, o.row)
	}
}
