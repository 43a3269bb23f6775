package kernels

import (
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Walk is the chain that all kernels have in common whose only look at the records is
// an acceptance bit: a move is proposed, and made if the curator's bit says so. What
// the bit is, and which Name the chain goes by, is the sampler's affair.
type Walk struct {
	Frame
	// Bits are the acceptance bits, which a grant sets before the first step.
	Bits *curator.Bits

	name       string
	proposal   curator.Proposal
	drawn      bool // moves are the curator's
	next, room []float64
	theta      []float64 // the chain's state during a step
	prior      float64   // log prior there
	ratio      func(next []float64) float64
}

var _ Kernel = (*Walk)(nil)

// NewWalk returns the chain of the given kernel name, whose errors begin with the
// sampler's name. Bits that draw moves themselves must have been asked for with
// proposal.
func NewWalk(name, sampler string, target targets.Target, proposal curator.Proposal) *Walk {
	w := &Walk{Frame: NewFrame(sampler, target), name: name, proposal: proposal, drawn: proposal.Drawn()}
	w.next, w.room = make([]float64, target.Dim()), make([]float64, target.Dim())
	w.ratio = w.logRatio
	return w
}

// Name is the kernel's name.
func (w *Walk) Name() string { return w.name }

// Left is the number of steps still paid for.
func (w *Walk) Left() int64 { return w.Bits.Left() }

// Step proposes a move and makes it if the curator's bit says so.
func (w *Walk) Step(rng *rand.Rand, s *State) (Info, error) {
	w.theta, w.prior = s.Theta, w.target.LogPrior(s.Theta)
	var accepted bool
	var err error
	if w.drawn {
		accepted, err = w.Bits.Move(w.next, s.Theta, w.ratio)
	} else {
		w.proposal.Propose(rng, w.next, s.Theta)
		accepted, err = w.Bits.Accept(w.next, s.Theta, w.logRatio(w.next))
	}
	if err != nil {
		return Info{}, err
	}
	w.Decided(w.next, s.Theta, accepted)
	if accepted {
		copy(s.Theta, w.next)
	}
	s.Iteration++
	return Info{Accepted: accepted, StepSize: w.proposal.StepSize()}, nil
}

// logRatio is the public part of a move's log-odds: the prior's and the proposal's.
func (w *Walk) logRatio(next []float64) float64 {
	return w.target.LogPrior(next) - w.prior + w.proposal.LogRatio(next, w.theta, w.room)
}
