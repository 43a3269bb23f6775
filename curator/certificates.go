package curator

import (
	"math"

	"github.com/dpmcmc/dpmcmc/targets"
)

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
