package curator

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/targets"
)

// What a target says of itself enters the curator in this file alone. A plan asks
// each claim once, and both charges and enforces the value that it was given here.

// subject is a target as it was when a grant was planned.
type subject struct {
	target   targets.Target
	ours     bool // see targets.Ours
	dim      int
	linear   targets.LinearTarget     // nil unless it has one parameter for each feature
	ratio    targets.RatioTarget      // nil when it has no one-pass ratio
	gradient targets.GradTarget       // nil when it has none
	moves    targets.RatioCertificate // nil when it has none
}

// mostParameters is the largest dimension that the proofs of rounding cover
// (docs/proofs/gradients.md §1). Moves along which contributions are clipped and shaped
// moves have smaller ones: mostAlong, mostShaped.
const mostParameters = 1 << 24

// admit checks that a target fits the records.
func (f Facts) admit(t targets.Target) (*subject, error) {
	if t == nil {
		return nil, errors.New("curator: no target was given")
	}
	features, response := t.Shape()
	if features != f.Features || response != f.Response {
		return nil, fmt.Errorf("curator: the target is for records of %d features%s, but those sealed have %d%s",
			features, responseText(response), f.Features, responseText(f.Response))
	}
	s := &subject{target: t, ours: targets.Ours(t), dim: t.Dim()}
	if s.dim < 1 || s.dim > mostParameters {
		return nil, fmt.Errorf("curator: the target's Dim is %d; between 1 and %d parameters are covered", s.dim, mostParameters)
	}
	if l, ok := t.(targets.LinearTarget); ok && s.dim == f.Features {
		s.linear = l
	}
	s.ratio, _ = t.(targets.RatioTarget)
	s.gradient, _ = t.(targets.GradTarget)
	s.moves, _ = t.(targets.RatioCertificate)
	return s, nil
}

func responseText(has bool) string {
	if has {
		return " and a response"
	}
	return " and no response"
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
func (s *subject) moveBound(next, theta []float64, radius float64, room [2][]float64) float64 {
	ask := func(theta, next []float64) float64 {
		copy(room[0], theta)
		copy(room[1], next)
		return s.moves.RatioBound(room[0], room[1], radius)
	}
	forth, back := ask(theta, next), ask(next, theta)
	if !(forth >= 0 && back >= 0) {
		return math.Inf(1)
	}
	return max(forth, back)
}

// logPrior is the log prior density, of a copy.
func (s *subject) logPrior(theta, room []float64) float64 {
	copy(room, theta)
	return s.target.LogPrior(room)
}

// gradLogPrior sets dst to the gradient of the log prior density, of a copy.
func (s *subject) gradLogPrior(dst, theta, room []float64) {
	copy(room, theta)
	s.gradient.GradLogPrior(dst, room)
}
