package proptest_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// endless waits for what never comes, once it was called so many times.
type endless struct {
	calls, from int
	never       chan struct{}
}

func (e *endless) call() {
	if e.calls++; e.calls > e.from {
		<-e.never
	}
}

type endlessMechanism struct {
	ownMechanism
	*endless
}

func (m endlessMechanism) Release(r curator.Records, seed uint64, count int) ([][]float64, error) {
	m.call()
	return m.ownMechanism.Release(r, seed, count)
}

type endlessTarget struct {
	*targets.GaussianMean
	*endless
}

func (m endlessTarget) LossGrad(dst, theta []float64, rows targets.Rows) {
	m.call()
	m.GaussianMean.LossGrad(dst, theta, rows)
}

type endlessKernel struct {
	kernels.Kernel
	*endless
}

func (k endlessKernel) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	k.call()
	return k.Kernel.Step(rng, s)
}

// TestCallsThatNeverEndAreFailures: of each suite, with what was called. The goroutine that is left behind stops
// when its call returns, and says nothing more.
func TestCallsThatNeverEndAreFailures(t *testing.T) {
	const limit = time.Second
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	after := func(calls int) *endless { return &endless{0, calls, never} }
	claim, err := accountant.RandomizedResponse(accountant.Substitute, 1.0987, 2)
	if err != nil {
		t.Fatal(err)
	}
	target, err := targets.New(targets.GaussianMeanConfig{Features: 1, Prior: priors.Gaussian{SD: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, suite := range map[string]struct {
		check func(t rapid.TB)
		says  []string
	}{
		"target": {func(t rapid.TB) {
			proptest.CheckTarget(t, endlessTarget{target, after(100)},
				proptest.TargetOptions{Effort: proptest.Quick, Seed: 3, Limit: limit})
		}, []string{"endlessTarget, Seed 3", "endlessTarget.LossGrad"}},
		"kernel": {func(t rapid.TB) {
			proptest.CheckKernel(t, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
				bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: 50}, steps)
				return endlessKernel{&ownKernel{Frame: kernels.NewFrame("own", target), Bits: bits}, after(50)}, err
			}, proptest.KernelOptions{Records: curator.Records{X: []float64{1.5, 0.5, 2}, Features: 1},
				Adjacency: accountant.Substitute, Start: []float64{0}, Effort: proptest.Quick, Limit: limit})
		}, []string{"1 parameters on 3 records of 1 features, Seed 1", "endlessKernel.Step"}},
		"mechanism": {func(t rapid.TB) {
			proptest.CheckMechanism(t, endlessMechanism{ownMechanism{claim}, after(20)},
				proptest.MechanismOptions{Effort: proptest.Quick, Delta: 1e-6, Limit: limit,
					A: curator.Records{X: []float64{1, 0}, Features: 1}, B: curator.Records{X: []float64{-1, 0}, Features: 1}})
		}, []string{"Release of 2 records of 1 features with seed", "endlessMechanism.Release"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, failed := proptest.Try("Test", suite.check)
			for _, words := range append(suite.says, "has not returned in 1s", "left behind") {
				if !failed || !strings.Contains(report, words) {
					t.Errorf("failed %v, where %q was expected:\n%s", failed, words, report)
				}
			}
		})
	}
}
