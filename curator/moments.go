package curator

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/noise"
	"github.com/dpmcmc/dpmcmc/internal/record"
)

// SecondMoment is the mechanism that releases Σ xxᵀ, the matrix of the features'
// second moments times the number of records, with symmetric Gaussian noise
// (Dwork, Talwar, Thakurta, Zhang 2014; docs/proofs/optimum.md, "Second moments").
// Records must be sealed with a Radius R; responses are not read.
type SecondMoment struct {
	// NoiseMultiplier is the noise's standard deviation on the diagonal over √2·R²,
	// the sensitivity in Frobenius norm under substitution of one row. Off the
	// diagonal it is smaller by √2. Required.
	NoiseMultiplier float64
}

func (m SecondMoment) check(f Facts) error {
	if err := f.check(); err != nil {
		return err
	}
	switch {
	case f.Features < 1:
		return fmt.Errorf("curator: Facts.Features is %d; at least 1 is needed", f.Features)
	case f.Radius == 0:
		return errors.New("curator: SecondMoment needs records sealed with a Radius, which bounds their squares")
	}
	return checkNoise(f.Radius, m.NoiseMultiplier)
}

// Event is the price of one release on records with the given facts. It charges
// nothing. Errors: settings out of range; records without a Radius.
func (m SecondMoment) Event(f Facts) (accountant.Event, error) {
	if err := m.check(f); err != nil {
		return accountant.Event{}, err
	}
	multiplier := m.NoiseMultiplier / (float64(f.RowsPerPerson) * (1 + relativeSlack))
	if f.Adjacency == accountant.AddRemove {
		multiplier *= math.Sqrt2 * (1 - relativeSlack)
	}
	return accountant.DiscreteGaussian(f.Adjacency, multiplier)
}

// NoiseSD is the standard deviation of the noise on the diagonal of a release:
// public, and free. Errors are those of Event.
func (m SecondMoment) NoiseSD(f Facts) (float64, error) {
	if err := m.check(f); err != nil {
		return 0, err
	}
	lattice := exactGrid(f.Radius * f.Radius)
	return m.steps(f, lattice) * lattice.step, nil
}

// steps is the noise in grid steps. Two rows' matrices have no negative inner
// product, so a replaced row moves the sum by √2 of the longest, but for what
// rounding the entries can turn.
func (m SecondMoment) steps(f Facts, g grid) float64 {
	return m.NoiseMultiplier * math.Sqrt2 * (g.top + math.Sqrt(float64(triangle(f.Features))) + 1) * (1 + relativeSlack)
}

// triangle is the number of entries of a symmetric matrix.
func triangle(dim int) int { return dim * (dim + 1) / 2 }

// Moments is a prepaid grant of second moments. It is not safe for concurrent use.
type Moments struct {
	*grant
	set   *record.Set
	pass  *gradientPass // clips, rounds and adds
	noise *noise.DiscreteGaussian
	row   []float64 // one record's triangle, of the length of its matrix
	sums  []int64
}

// RequestMoments asks for count second moments; Grant sets *dst.
func RequestMoments(dst **Moments, m SecondMoment, count int64) Request {
	return Request{count, func(c *Curator) (accountant.Event, func(*grant), error) {
		event, err := m.Event(c.facts)
		if err != nil {
			return event, nil, err
		}
		o, err := newMoments(m, c.facts, c.set)
		return event, func(g *grant) { o.grant, *dst = g, o }, err
	}}
}

// GrantMoments charges count second moments, all at once. Errors are those of
// GrantBits.
func (c *Curator) GrantMoments(m SecondMoment, count int64) (*Moments, error) {
	var o *Moments
	err := c.Grant(RequestMoments(&o, m, count))
	return o, err
}

// newMoments builds what releases moments of set, before anything is charged.
func newMoments(m SecondMoment, f Facts, set *record.Set) (*Moments, error) {
	lattice := exactGrid(f.Radius * f.Radius)
	normal, err := noise.NewDiscreteGaussian(m.steps(f, lattice))
	if err != nil {
		return nil, err
	}
	n := triangle(f.Features)
	return &Moments{
		set: set, noise: normal, row: make([]float64, n), sums: make([]int64, n),
		pass: &gradientPass{tau: 1, grid: lattice, shorten: lattice.top - math.Sqrt(float64(n))},
	}, nil
}

// Release sets dst, row-major, to Σ xxᵀ with noise of standard deviation NoiseSD
// on the diagonal and NoiseSD/√2 off it. dst is what is released; it is symmetric
// but need not be positive semidefinite. Errors: a dst that is not features
// squared long; ErrSpent. After an error nothing has been released or used up.
func (o *Moments) Release(dst []float64) error {
	d := o.set.Features()
	if len(dst) != d*d {
		return fmt.Errorf("curator: a matrix of %d values was asked for; %d features have one of %d", len(dst), d, d*d)
	}
	if err := o.enter(); err != nil {
		return err
	}
	defer o.leave()
	if err := o.take(); err != nil {
		return err
	}
	o.sum()
	for i, s := range o.sums {
		o.row[i] = float64(s+o.noise.Sample(o.secret)) * o.pass.grid.step
	}
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
	o.track.Values(dst)
	return nil
}

// sum adds every record's triangle, with √2 off the diagonal, so that its length is
// the matrix's Frobenius norm.
func (o *Moments) sum() {
	d := o.set.Features()
	clear(o.sums)
	for r := range o.set.Len() {
		x, _ := o.set.Block(r, r+1)
		i := 0
		for j, v := range x {
			o.row[i] = v * v
			i++
			for k := j + 1; k < d; k++ {
				o.row[i] = math.Sqrt2 * v * x[k]
				i++
			}
		}
		o.pass.add(o.sums, 1, o.row)
	}
}
