package anchors

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Kernel is one anchored chain. It can be handed out before the anchor is known; its
// steps begin when Begin has returned.
type Kernel struct {
	name   string
	target targets.Target
	left   int64 // before Begin
	chain  kernels.Kernel
}

var _ kernels.Kernel = (*Kernel)(nil)

// Name is "dp_anchored_" and the aim.
func (k *Kernel) Name() string { return k.name }

// Dim is the number of parameters.
func (k *Kernel) Dim() int { return k.target.Dim() }

// Left is the number of steps still paid for.
func (k *Kernel) Left() int64 {
	if k.chain == nil {
		return k.left
	}
	return k.chain.Left()
}

// Init starts a chain at theta.
func (k *Kernel) Init(theta []float64) (*kernels.State, error) {
	s, err := kernels.NewState(k.target, theta)
	if err != nil {
		return nil, fmt.Errorf("anchors: %w", err)
	}
	return s, nil
}

var errNotBegun = errors.New("anchors: the anchor has not been released; call Begin before the first step")

// Step makes one transition: a proposal from the surrogate that the curator's bit
// decides, or the next draw of a density that sees no record.
func (k *Kernel) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if k.chain == nil {
		return kernels.Info{}, errNotBegun
	}
	return k.chain.Step(rng, s)
}

// replay is a chain whose states have been drawn already, from a density that sees no
// record. Its Kernel starts it.
type replay struct {
	kernels.Kernel
	draws       [][]float64
	total, left int64 // steps of the chain, and those to go
}

func (k *replay) Left() int64 { return k.left }

var errPlayed = errors.New("anchors: every draw of this chain has been used; ask for more Iterations")

// Step goes to the next draw. Where more were made than steps asked for, because the chains
// had not explored by then, those left out are spread evenly.
func (k *replay) Step(_ *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if k.left == 0 {
		return kernels.Info{}, errPlayed
	}
	k.left--
	copy(s.Theta, k.draws[(k.total-k.left)*int64(len(k.draws))/k.total-1])
	s.Iteration++
	return kernels.Info{Accepted: true}, nil
}
