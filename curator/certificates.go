package curator

// Proof: docs/proofs/curator.md.

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/targets"
)

// What a target says of itself enters the curator here, and its shape in tier 1. A
// plan asks each claim once, and both charges and enforces the value that it was given.

// subject is a target as it was when a grant was planned.
type subject struct {
	*room.Subject
	target   targets.Target
	linear   targets.LinearTarget     // nil unless it has one parameter for each feature
	gradient targets.GradTarget       // nil when it has none
	moves    targets.RatioCertificate // nil when it has none
}

// admit checks that a target fits the records.
func (f Facts) admit(t targets.Target) (*subject, error) {
	admitted, err := room.Facts(f).Admit(t, t != nil && targets.Ours(t))
	if err != nil {
		return nil, err
	}
	s := &subject{Subject: admitted, target: t}
	if s.Linear {
		s.linear, _ = t.(targets.LinearTarget)
	}
	s.gradient, _ = t.(targets.GradTarget)
	s.moves, _ = t.(targets.RatioCertificate)
	return s, nil
}

// claimed checks a bound that a target claims: a number of at least 0, or +Inf for
// none.
func claimed(what string, v float64) (float64, error) {
	if !(v >= 0) {
		return 0, fmt.Errorf("curator: the target's %s is %v; a bound is a number of at least 0, or +Inf for none", what, v)
	}
	return v, nil
}

// lossRange is the claimed range of the loss, +Inf for none.
func (s *subject) lossRange() (float64, error) {
	if c, ok := s.target.(targets.RangeCertificate); ok {
		return claimed("LossRange", c.LossRange())
	}
	return math.Inf(1), nil
}

// lipschitz is the claimed Lipschitz constant in the linear predictor, +Inf for none.
func (s *subject) lipschitz() (float64, error) {
	if s.linear == nil {
		return math.Inf(1), nil
	}
	return claimed("PredictorLipschitz", s.linear.PredictorLipschitz())
}

// gradientBound is the claimed bound on a record's gradient, +Inf for none.
func (s *subject) gradientBound(radius float64) (float64, error) {
	if c, ok := s.target.(targets.GradCertificate); ok && radius > 0 {
		return claimed("GradBound", c.GradBound(radius))
	}
	return math.Inf(1), nil
}

// moveBound is the claimed bound on a record's part of a move in either direction.
// It is asked once for a move, of copies; one that is no bound is +Inf.
func (s *subject) moveBound(next, theta []float64, radius float64, copies [2][]float64) float64 {
	ask := func(theta, next []float64) float64 {
		copy(copies[0], theta)
		copy(copies[1], next)
		return s.moves.RatioBound(copies[0], copies[1], radius)
	}
	forth, back := ask(theta, next), ask(next, theta)
	if !(forth >= 0 && back >= 0) {
		return math.Inf(1)
	}
	return max(forth, back)
}

// logPrior is the log prior density, of a copy.
func (s *subject) logPrior(theta, copied []float64) float64 {
	copy(copied, theta)
	return s.target.LogPrior(copied)
}

// gradLogPrior sets dst to the gradient of the log prior density, of a copy.
func (s *subject) gradLogPrior(dst, theta, copied []float64) {
	copy(copied, theta)
	s.gradient.GradLogPrior(dst, copied)
}

// checkStates reports states that no chain of a target of dim parameters can
// be in.
func checkStates(dim int, theta, next []float64) error {
	if len(theta) != dim || len(next) != dim {
		return fmt.Errorf("curator: states of %d and %d parameters were given for a target of %d", len(theta), len(next), dim)
	}
	for j, t := range theta {
		if math.IsNaN(t) || math.IsInf(t, 0) {
			return fmt.Errorf("curator: parameter %d of the state is %v; states must be finite", j, t)
		}
	}
	return nil
}
