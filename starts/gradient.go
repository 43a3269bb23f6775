package starts

import (
	"context"
	"math"

	"github.com/dpmcmc/dpmcmc/targets"
)

// Gradients are released gradients of the loss: those of a grant, curator.Gradients, or
// such as are made of them.
type Gradients interface {
	// Release sets dst to a gradient at theta with noise.
	Release(dst, theta []float64) error
	// NoiseSD is the standard deviation of the noise in each coordinate.
	NoiseSD() float64
}

// Descend moves theta along so many released gradients by steps that shrink, coordinate
// by coordinate, with the root of the sum of the squared gradients so far (AdaGrad:
// Duchi, Hazan, Singer 2011), and leaves it at the mean of the second half. The first is
// reach long in every coordinate. Steps so chosen need no knowledge of the records: the
// noise itself shortens them. A quarter of the noise to come counts as past gradients from
// the start, so that gradients which are mostly noise do not lead far away. Errors: ctx's,
// and those of a release.
func Descend(ctx context.Context, t targets.GradTarget, theta []float64, reach float64, steps int64,
	released Gradients) error {
	d := newDescent(t, reach, theta)
	for j := range d.squares {
		d.squares[j] = float64(steps) * released.NoiseSD() * released.NoiseSD() / 4
	}
	for n := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := d.step(released); err != nil {
			return err
		}
		if n >= steps/2 {
			d.count(float64(n - steps/2 + 1))
		}
	}
	copy(theta, d.mean)
	return nil
}

// descent is the state of a descent, all of it public.
type descent struct {
	target                                targets.GradTarget
	reach                                 float64
	theta, gradient, prior, squares, mean []float64
}

func newDescent(t targets.GradTarget, reach float64, theta []float64) *descent {
	d := &descent{target: t, reach: reach}
	for _, v := range []*[]float64{&d.theta, &d.gradient, &d.prior, &d.squares, &d.mean} {
		*v = make([]float64, len(theta))
	}
	copy(d.theta, theta)
	return d
}

// step makes one move along a released gradient and the prior's.
func (d *descent) step(released Gradients) error {
	if err := released.Release(d.gradient, d.theta); err != nil {
		return err
	}
	d.target.GradLogPrior(d.prior, d.theta)
	for j, g := range d.gradient {
		g -= d.prior[j]
		d.squares[j] += g * g
		if d.squares[j] > 0 {
			d.theta[j] -= d.reach * g / math.Sqrt(d.squares[j])
		}
	}
	return nil
}

// count adds the state to the mean of n of them.
func (d *descent) count(n float64) {
	for j, v := range d.theta {
		d.mean[j] += (v - d.mean[j]) / n
	}
}
