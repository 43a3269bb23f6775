package curator

// Proof: docs/proofs/barker-dynamics.md.

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/noise"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/targets"
)

// GradientSigns is the mechanism that chooses the direction of each coordinate
// of a move by a bit: of a move of size |z_j|, drawn by the curator and
// published, forward with probability 1/(1 + exp(−|z_j|·G_j)), G the gradient of
// the log posterior (Livingstone and Zanella 2022). The bits are what is released;
// with Adjusted, one more bit says whether the move is accepted.
type GradientSigns struct {
	// Target supplies the per-record gradient, and with Adjusted the loss. Required.
	Target targets.GradTarget
	// Temperature τ in (0, 1] multiplies the loss. Defaults to 1.
	Temperature float64
	// Clip bounds ‖τ·∇ℓ(z;θ)‖₂ for every record, and with Adjusted also
	// |τ·(ℓ(z;θ) − ℓ(z;θ′))| for a move of length 1. Zero takes the target's
	// gradient certificate, so that nothing is shortened.
	Clip float64
	// Scale is the standard deviation h of z ~ N(0, h²·I). Required.
	Scale float64
	// Adjusted adds the acceptance bit of Barker's test for the proposal whose
	// signs were drawn, which makes a chain exact.
	Adjusted bool
}

// further is how many times Clip·‖z‖ a record can move the acceptance's
// log-odds by: once through the likelihood ratio, and once through the
// probabilities of the signs at each of the two states
// (docs/proofs/barker-dynamics.md).
const further = 3

// signsPlan is what is charged for and enforced.
type signsPlan struct {
	subject   *subject
	event     accountant.Event
	mechanism GradientSigns
	tau, clip float64
}

func (m GradientSigns) plan(f Facts) (p signsPlan, err error) {
	p = signsPlan{mechanism: m, tau: cmp.Or(m.Temperature, 1)}
	if m.Target == nil {
		return p, errors.New("curator: GradientSigns.Target is not set")
	}
	if err := errors.Join(f.check(), checkTemperature(p.tau)); err != nil {
		return p, err
	}
	if !(m.Scale > 0) || math.IsInf(m.Scale, 0) {
		return p, fmt.Errorf("curator: the scale of the move is %v; it must be positive and finite", m.Scale)
	}
	if p.subject, err = f.admit(m.Target); err != nil {
		return p, err
	}
	if p.clip, err = p.subject.gradientClip(m.Clip, p.tau, f); err != nil {
		return p, err
	}
	if err := checkNoise(p.clip, 1); err != nil {
		return p, err
	}
	dim, c := p.subject.Dim, p.clip*m.Scale*float64(f.RowsPerPerson)
	slack := float64(dim) * room.AdditiveSlack
	acceptance := 0.0
	if m.Adjusted {
		acceptance = room.Padded(further*c) + slack
	}
	p.event, err = accountant.SignBits(f.Adjacency, int64(dim), room.Padded(c)+slack, acceptance)
	return p, err
}

// Event is the price of one move on records with the given facts: it averages
// over the move, which the curator draws, and does not grow with the dimension
// unless Adjusted. It charges nothing. Errors: settings out of range; a target
// that does not fit; no bound on a record's gradient.
func (m GradientSigns) Event(f Facts) (accountant.Event, error) {
	p, err := m.plan(f)
	return p.event, err
}

// Signs is a prepaid grant of gradient signs for one chain. It is not safe for
// concurrent use.
type Signs struct {
	prepaid
	plan     signsPlan
	gradient *room.VectorPass
	ratio    *room.Pass // nil unless Adjusted

	size, step    []float64 // |z_j|, and the move with its signs
	here, there   place
	prior, copied []float64
}

// place is a state with the gradient of the log posterior there, in grid steps.
type place struct {
	theta    []float64 // NaN when nothing is held
	gradient []int64
}

func newPlace(dim int) place {
	p := place{theta: make([]float64, dim), gradient: make([]int64, dim)}
	p.theta[0] = math.NaN()
	return p
}

func (m GradientSigns) prepare(f Facts, set *record.Set) (accountant.Event, *Signs, error) {
	p, err := m.plan(f)
	if err != nil {
		return p.event, nil, err
	}
	return p.event, newSigns(p, set), nil
}

// newSigns builds what draws signs over set, before anything is charged.
func newSigns(p signsPlan, set *record.Set) *Signs {
	dim := p.subject.Dim
	s := &Signs{
		plan: p, gradient: room.NewVectorPass(p.subject.Subject, set, p.tau, room.ExactGrid(p.clip)),
		size: make([]float64, dim), step: make([]float64, dim), prior: make([]float64, dim), copied: make([]float64, dim),
		here: newPlace(dim), there: newPlace(dim),
	}
	if p.mechanism.Adjusted {
		s.ratio = room.NewPass(p.subject.Subject, set, p.tau, math.Inf(1), room.ExactGrid(p.clip), true)
	}
	return s
}

// Move draws a move from theta with its signs and writes the proposal to next.
// With Adjusted it then decides whether the proposal is accepted; without, it is
// accepted unless the prior's density is zero there. The sizes, the signs and the
// decision are what is released. Errors: a state of the wrong length or that is
// not finite; ErrSpent; another release under way. After an error nothing has been released or used up, but
// next is undefined.
func (s *Signs) Move(next, theta []float64) (accepted bool, err error) {
	if err := checkStates(s.plan.subject.Dim, theta, next); err != nil {
		return false, err
	}
	if err := s.room.Enter(); err != nil {
		return false, err
	}
	defer s.room.Leave()
	if err := s.room.Take(); err != nil {
		return false, err
	}
	for j := range s.size {
		s.size[j] = s.plan.mechanism.Scale * math.Abs(noise.StandardNormal(s.room.Public()))
	}
	s.room.Publish(s.size)
	s.visit(theta)
	for j, size := range s.size {
		if s.step[j] = size; !s.room.Logistic(s.here.gradient[j], 0, size*s.gradient.Grid.Step) {
			s.step[j] = -size
		}
		next[j] = theta[j] + s.step[j]
	}
	public := s.plan.subject.logPrior(next, s.copied) - s.plan.subject.logPrior(theta, s.copied)
	inside := !math.IsNaN(public) && !math.IsInf(public, -1)
	if !s.plan.mechanism.Adjusted || !inside {
		return inside, nil
	}
	return s.room.Decide(noise.Logistic(s.adjustment(next, theta, public))), nil
}

// visit makes here hold the gradient at theta, which is often there already.
func (s *Signs) visit(theta []float64) {
	switch {
	case slices.Equal(s.here.theta, theta):
	case slices.Equal(s.there.theta, theta):
		s.here, s.there = s.there, s.here
	default:
		s.evaluate(&s.here, theta)
	}
}

// evaluate sets p to the gradient of the log posterior at theta: the records'
// clipped gradients and the prior's, all in whole grid steps, so that it is one
// deterministic function of the state.
func (s *Signs) evaluate(p *place, theta []float64) {
	copy(p.theta, theta)
	s.gradient.Sum(p.gradient, theta, nil, true)
	s.plan.subject.gradLogPrior(s.prior, theta, s.copied)
	for j, g := range s.prior {
		p.gradient[j] = room.WholeSteps(g, s.gradient.Grid.Step) - p.gradient[j]
	}
}

// logOdds is size times a gradient of the given number of grid steps, clamped.
func (s *Signs) logOdds(gradient int64, size float64) float64 {
	return room.StepsToLogOdds(gradient, size*s.gradient.Grid.Step, room.Clamp)
}

// adjustment is the log-odds of accepting the move from theta to next: the log
// posterior ratio, whose prior part is public, and the proposal's log ratio
// Σ_j [log σ(−w_j·G_j(θ′)) − log σ(w_j·G_j(θ))] for the move w.
func (s *Signs) adjustment(next, theta []float64, public float64) float64 {
	length := record.Norm(s.size)
	if length == 0 {
		return 0
	}
	s.evaluate(&s.there, next)
	s.ratio.Grid = room.ExactGrid(s.plan.clip * length)
	unit, limit := s.ratio.Grid.Step, float64(2*len(s.size)+1)*room.Clamp
	sum := room.StepsToLogOdds(s.ratio.Sums(theta, next, s.step, nil).Sum+room.WholeSteps(public, unit), unit, limit)
	for j, w := range s.step {
		forth, back := s.logOdds(s.here.gradient[j], s.size[j]), s.logOdds(s.there.gradient[j], s.size[j])
		if w < 0 {
			forth, back = -forth, -back
		}
		sum += logSigmoid(-back) - logSigmoid(forth)
	}
	return max(-room.Clamp, min(room.Clamp, sum))
}

// logSigmoid is log(1/(1+e⁻ˣ)).
func logSigmoid(x float64) float64 {
	return min(x, 0) - math.Log1p(math.Exp(-math.Abs(x)))
}
