package dphmc_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// mutant is a Hamiltonian kernel with fresh starts over released gradients and
// bits, with one thing broken.
type mutant struct {
	target            targets.GradTarget
	gradients         *curator.Gradients
	bits              *curator.Bits
	next, momentum    []float64
	likelihood, prior []float64 // gradients
	mutation          string
	left              int64
}

const mutantSteps, mutantSize = 3, 0.3

func (m *mutant) Name() string { return "mutant" }
func (m *mutant) Dim() int     { return len(m.next) }
func (m *mutant) Left() int64  { return m.left }
func (m *mutant) Init(theta []float64) (*kernels.State, error) {
	return kernels.NewState(m.target, theta)
}

// kick adds size times a released gradient of the log posterior to the momentum.
func (m *mutant) kick(size float64, theta []float64) error {
	if err := m.gradients.Release(m.likelihood, theta); err != nil {
		return err
	}
	m.target.GradLogPrior(m.prior, theta)
	for j := range m.momentum {
		m.momentum[j] += size * (m.prior[j] - m.likelihood[j])
	}
	return nil
}

func (m *mutant) kinetic() float64 {
	return (m.momentum[0]*m.momentum[0] + m.momentum[1]*m.momentum[1]) / 2
}

// trajectory moves next and the momentum. The force at a point is kicked with
// once on arrival and, a whole step at a time, before leaving it.
func (m *mutant) trajectory() error {
	first := mutantSize / 2
	if m.mutation == "whole first kick" {
		first = mutantSize
	}
	if err := m.kick(first, m.next); err != nil {
		return err
	}
	for step := range mutantSteps {
		for j, p := range m.momentum {
			m.next[j] += mutantSize * p
		}
		size := mutantSize
		if step == mutantSteps-1 {
			size = mutantSize / 2
		}
		if err := m.kick(size, m.next); err != nil {
			return err
		}
	}
	return nil
}

func (m *mutant) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if m.left == 0 || math.IsNaN(s.Theta[0]) {
		return kernels.Info{}, curator.ErrSpent
	}
	copy(m.next, s.Theta)
	if m.mutation != "momentum not refreshed" || s.Iteration == 0 {
		m.momentum[0], m.momentum[1] = rng.NormFloat64(), rng.NormFloat64()
	}
	before := m.kinetic()
	if err := m.trajectory(); err != nil {
		return kernels.Info{}, err
	}
	public := m.target.LogPrior(m.next) - m.target.LogPrior(s.Theta) + before - m.kinetic()
	if m.mutation == "kinetic energy forgotten" {
		public -= before - m.kinetic()
	}
	accepted, err := m.bits.Accept(m.next, s.Theta, public)
	if err != nil {
		return kernels.Info{}, err
	}
	if accepted {
		copy(s.Theta, m.next)
	}
	m.left--
	s.Iteration++
	return kernels.Info{Accepted: accepted, StepSize: mutantSize}, nil
}

// TestInvarianceRejectsMutants runs the sequential test of invariance
// (false-alarm rate 10⁻⁶) on broken trajectories, and on unbroken ones.
func TestInvarianceRejectsMutants(t *testing.T) {
	target := posteriors.StandardMean()
	records, exact := posteriors.Conjugate()
	options := proptest.KernelOptions{Records: records, Adjacency: accountant.Substitute, Start: []float64{0.5, 0},
		Exact: exact, Effort: proptest.Quick}
	for _, mutation := range []string{"", "whole first kick", "momentum not refreshed", "kinetic energy forgotten"} {
		t.Run("mutant "+mutation, func(t *testing.T) {
			report, failed := proptest.Try(t.Name(), func(t rapid.TB) {
				proptest.CheckInvariance(t, func(sealed *curator.Curator, steps int64) (kernels.Kernel, error) {
					m := &mutant{target: target, mutation: mutation, left: steps, next: make([]float64, 2),
						momentum:   make([]float64, 2),
						likelihood: make([]float64, 2), prior: make([]float64, 2)}
					err := sealed.Grant(
						curator.RequestFor(&m.gradients, curator.NoisyGradient{Target: target, Clip: 20, NoiseMultiplier: 0.02},
							(mutantSteps+1)*steps),
						curator.RequestFor(&m.bits, curator.AcceptanceBit{Target: target, Clip: 200}, steps))
					return m, err
				}, options)
			})
			if failed != (mutation != "") || failed && !strings.Contains(report, "does not leave the exact law invariant") {
				t.Errorf("failed is %v: %s", failed, report)
			}
		})
	}
}
