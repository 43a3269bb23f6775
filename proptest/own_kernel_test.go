package proptest_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// ownKernel walks uniformly and asks the curator's Barker test.
type ownKernel struct {
	*curator.Bits
	target targets.Target
	next   []float64
}

func (k *ownKernel) Name() string { return "own_walk" }
func (k *ownKernel) Dim() int     { return len(k.next) }
func (k *ownKernel) Init(theta []float64) (*kernels.State, error) {
	return kernels.NewState(k.target, theta)
}

func (k *ownKernel) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	k.next[0] = s.Theta[0] + 2*rng.Float64() - 1
	accepted, err := k.Accept(k.next, s.Theta, k.target.LogPrior(k.next)-k.target.LogPrior(s.Theta))
	if err != nil {
		return kernels.Info{}, err
	}
	if accepted {
		s.Theta[0] = k.next[0]
	}
	s.Iteration++
	return kernels.Info{Accepted: accepted, StepSize: 1}, nil
}

// kernelOptions has public test records, a start, and exact draws of what the
// kernel should leave invariant.
func TestOwnKernel(t *testing.T) {
	target, o := mean(t), kernelOptions()
	o.Reversible = true
	proptest.CheckKernel(t, func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
		bits, err := records.GrantBits(curator.AcceptanceBit{Target: target, Clip: 50}, steps)
		return &ownKernel{bits, target, make([]float64, 1)}, err
	}, o)
}
