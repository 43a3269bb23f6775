package proptest_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// ownKernel walks uniformly and asks the curator's Barker test.
type ownKernel struct {
	kernels.Frame // Dim and Init
	*curator.Bits // Accept and Left
	next          [1]float64
}

func (k *ownKernel) Name() string { return "own_walk" }

func (k *ownKernel) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	k.next[0] = s.Theta[0] + 2*rng.Float64() - 1
	// The prior's log-ratio is that of standard normal densities.
	accepted, err := k.Accept(k.next[:], s.Theta, (s.Theta[0]*s.Theta[0]-k.next[0]*k.next[0])/2)
	if err != nil {
		return kernels.Info{}, err
	}
	if s.Iteration++; accepted {
		s.Theta[0] = k.next[0]
	}
	return kernels.Info{Accepted: accepted, StepSize: 1}, nil
}

// The posterior of three normal records with the sum 4, under a standard normal prior,
// is N(1, ¼).
func TestOwnKernel(t *testing.T) {
	target, err := targets.New(targets.GaussianMeanConfig{Features: 1, Prior: priors.Gaussian{SD: 1}})
	if err != nil {
		t.Fatal(err)
	}
	proptest.CheckKernel(t, func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
		bits, err := curator.Charge(records, curator.AcceptanceBit{Target: target, Clip: 50}, steps)
		return &ownKernel{Frame: kernels.NewFrame("own", target), Bits: bits}, err
	}, proptest.KernelOptions{Records: curator.Records{X: []float64{1.5, 0.5, 2}, Features: 1},
		Adjacency: accountant.Substitute, Start: []float64{0}, Reversible: true, Effort: proptest.Quick,
		Exact: func(rng *rand.Rand, theta []float64) { theta[0] = 1 + rng.NormFloat64()/math.Sqrt(4) }})
}
