package laws

import (
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/rights"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestMain keeps rapid from writing files about failures that are provoked.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// law is a kernel, what it runs on, and what it leaves invariant.
type law = rights.Kernel

func mean(testing.TB) *targets.GaussianMean     { return rights.Mean() }
func regression(testing.TB) *targets.Regression { return rights.Regression() }

// TestKernels holds every sampler to the laws of package proptest. Tests of
// invariance have a false-alarm rate of 10⁻⁶ each.
func TestKernels(t *testing.T) {
	for _, k := range rights.Kernels() {
		t.Run(k.Name, func(t *testing.T) { proptest.CheckKernel(t, k.Factory, k.Options()) })
	}
}

// negated has the inverse of its prior, as a kernel with the wrong sign of the
// log-prior ratio sees it.
type negated struct{ *targets.GaussianMean }

func (n negated) LogPrior(theta []float64) float64 { return -n.GaussianMean.LogPrior(theta) }

// stale is a Barker chain that, after a rejection, takes the losses of the
// rejected proposal for those of its state.
type stale struct {
	bits     *curator.Bits
	target   targets.Target
	at, next []float64
}

func (k *stale) Name() string { return "stale" }
func (k *stale) Dim() int     { return len(k.next) }
func (k *stale) Left() int64  { return k.bits.Left() }
func (k *stale) Init(theta []float64) (*kernels.State, error) {
	return kernels.NewState(k.target, theta)
}

func (k *stale) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if s.Iteration == 0 || math.IsNaN(s.Theta[0]) {
		copy(k.at, s.Theta)
	}
	for j, v := range s.Theta {
		k.next[j] = v + 0.4*rng.NormFloat64()
	}
	accepted, err := k.bits.Accept(k.next, k.at, k.target.LogPrior(k.next)-k.target.LogPrior(s.Theta))
	if err != nil {
		return kernels.Info{}, err
	}
	if accepted {
		copy(s.Theta, k.next)
	}
	copy(k.at, k.next)
	s.Iteration++
	return kernels.Info{Accepted: accepted, StepSize: 0.4}, nil
}

// TestMutantsAreRejected: the mistakes that kernels like to make change the law.
func TestMutantsAreRejected(t *testing.T) {
	m, move := mean(t), curator.Proposal{Scale: 0.4}
	cached := law{Records: curator.Records{X: rights.Points, Features: 2}, Exact: rights.Exactly(rights.Points, 1)}
	cached.Factory = func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
		bits, err := curator.Charge(records, curator.AcceptanceBit{Target: m, Clip: 50}, steps)
		return &stale{bits, m, make([]float64, 2), make([]float64, 2)}, err
	}
	missing := rights.Barker("", rights.Alike, barker.Config{Target: m, Proposal: move, Clip: 50,
		Batch:       curator.Batch{Size: 2},
		Temperature: 2.0 / 8}, 1)
	for name, l := range map[string]law{
		"wrong sign of the log-prior ratio": rights.Barker("", rights.Points,
			barker.Config{Target: negated{m}, Proposal: move, Clip: 50}, 1),
		"missing N/b":                   missing,
		"stale cache after a rejection": cached,
		"temperature forgotten": rights.Barker("", rights.Points,
			barker.Config{Target: m, Proposal: move, Clip: 50}, 0.5),
		"contributions clipped unawares": rights.Barker("", rights.Points,
			barker.Config{Target: m, Proposal: move, Clip: 0.05}, 1),
	} {
		t.Run(name, func(t *testing.T) {
			report, failed := proptest.Try(t.Name(), func(t rapid.TB) { proptest.CheckInvariance(t, l.Factory, l.Options()) })
			if !failed || !strings.Contains(report, "does not leave the exact law invariant") {
				t.Errorf("not rejected:\n%s", report)
			}
		})
	}
}
