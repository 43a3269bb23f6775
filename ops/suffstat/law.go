package suffstat

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/ops/internal/draw"
)

// Law is the law of the noise. The zero value is invalid.
type Law int8

const (
	// Laplace noise gives (Epsilon, 0).
	Laplace Law = iota + 1
	// Gaussian noise gives (Epsilon, Delta), with the least noise that the exact
	// trade-off of the Gaussian mechanism on a grid allows (Balle, Wang 2018).
	Gaussian
)

// Privacy is what a release must cost.
type Privacy struct {
	// Law is the noise. Required.
	Law Law
	// Epsilon is required, positive.
	Epsilon float64
	// Delta is in (0, 1), required by Gaussian unless Order is given, and refused
	// by Laplace.
	Delta float64
	// Order makes Epsilon a bound on the Rényi divergence of that order, above 1,
	// as in the comparisons of Geumlek et al. 2017: σ² = L2²·Order/(2·Epsilon)
	// (Mironov 2017, Prop. 7). For Gaussian only, instead of Delta.
	Order float64
}

// mechanism is calibrated noise for one vector of statistics.
type mechanism struct {
	privacy    Privacy
	l1, l2     float64
	multiplier float64 // σ over l2, Gaussian only
	event      accountant.Event
}

// newMechanism calibrates noise to the two sensitivities of a vector of so many numbers.
func newMechanism(p Privacy, l1, l2 float64, size int) (m mechanism, err error) {
	if !(p.Epsilon > 0) || math.IsInf(p.Epsilon, 1) {
		return m, fmt.Errorf("suffstat: Epsilon = %v: must be positive and finite", p.Epsilon)
	}
	m = mechanism{privacy: p, l1: l1, l2: l2}
	gaussian := func(multiplier float64) (accountant.Event, error) {
		return accountant.GridGaussian{NoiseMultiplier: multiplier, Coordinates: size, Steps: draw.GridSteps}.
			Event(accountant.Substitute)
	}
	switch {
	case p.Order != 0 && !(p.Law == Gaussian && p.Delta == 0 && p.Order > 1 && !math.IsInf(p.Order, 1)):
		err = fmt.Errorf("suffstat: Order = %v: it must be finite and above 1, with Gaussian noise and without Delta",
			p.Order)
	case p.Order != 0:
		m.multiplier = math.Sqrt(p.Order/(2*p.Epsilon)) * (1 + 0x1p-40)
		m.event, err = gaussian(m.multiplier)
	case p.Law == Laplace && p.Delta == 0:
		m.event, err = accountant.Pure(accountant.Substitute, p.Epsilon)
	case p.Law == Laplace:
		err = fmt.Errorf("suffstat: Delta = %v: Laplace noise has none, leave it zero", p.Delta)
	case p.Law == Gaussian && p.Delta > 0 && p.Delta < 1:
		if m.multiplier, _, err = accountant.SolveParameter(gaussian, 1e-3, 1e6, p.Epsilon, p.Delta, false); err == nil {
			m.event, err = gaussian(m.multiplier)
		}
	case p.Law == Gaussian:
		err = fmt.Errorf("suffstat: Delta = %v: Gaussian noise needs one in (0, 1)", p.Delta)
	default:
		err = fmt.Errorf("suffstat: Law is required: Laplace or Gaussian")
	}
	return m, err
}

// add perturbs the vector by discrete Laplace or discrete Gaussian noise, on a grid.
func (m *mechanism) add(src *ops.Source, x []float64) error {
	if m.privacy.Law == Laplace {
		return draw.AddLaplace(src, x, m.l1, m.privacy.Epsilon)
	}
	g, err := draw.NewGridGaussian(m.multiplier, m.l2, len(x))
	if err != nil {
		return fmt.Errorf("suffstat: %w", err)
	}
	g.Add(src, x)
	return nil
}

// scale is the Laplace scale, or the standard deviation of Gaussian noise.
func (m *mechanism) scale() float64 {
	if m.privacy.Law == Laplace {
		return m.l1 / m.privacy.Epsilon
	}
	return m.multiplier * m.l2
}

func (m *mechanism) cost() ops.Guarantee {
	theorem := "Laplace mechanism (Dwork et al. 2006; Foulds et al. 2016)"
	if m.privacy.Law == Gaussian {
		theorem = "Gaussian mechanism (Balle, Wang 2018)"
	}
	return ops.Guarantee{Event: m.event, Kind: ops.Unconditional, Theorem: theorem}
}
