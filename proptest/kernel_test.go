package proptest_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// mean is N(θ, 1) with a standard normal prior of θ. The posterior of n records
// with sum s is N(s/(n+1), 1/(n+1)).
func mean(t testing.TB) *targets.GaussianMean {
	t.Helper()
	m, err := targets.New(targets.GaussianMeanConfig{Features: 1, Prior: priors.Gaussian{SD: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var observations = []float64{1.5, 0.5, 2, 1, 2.5, 1.5}

func posterior(rng *rand.Rand, theta []float64) {
	sum := 0.0
	for _, x := range observations {
		sum += x
	}
	n := float64(len(observations))
	theta[0] = sum/(n+1) + rng.NormFloat64()/math.Sqrt(n+1)
}

func kernelOptions() proptest.KernelOptions {
	return proptest.KernelOptions{
		Records:   curator.Records{X: observations, Features: 1},
		Adjacency: accountant.Substitute,
		Start:     []float64{0.5},
		Exact:     posterior,
		Effort:    proptest.Quick,
	}
}

func barkerFactory(target targets.Target) proptest.Factory {
	return func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
		return barker.New(barker.Config{Target: target, Proposal: curator.Proposal{Scale: 0.6}, Clip: 50,
			Iterations: steps}, records)
	}
}

func TestBuiltInKernel(t *testing.T) {
	proptest.CheckKernel(t, barkerFactory(mean(t)), kernelOptions())
}

// walk is a kernel written by a user: uniform moves, accepted by the curator's
// Barker test.
type walk struct {
	bits   *curator.Bits
	target targets.Target
	next   []float64
	// What the mutants below break.
	mutation string
	junk     []float64
}

func newWalk(target targets.Target, mutation string) proptest.Factory {
	return func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
		bits, err := curator.Charge(records, curator.AcceptanceBit{Target: target, Clip: 50}, steps)
		return &walk{bits: bits, target: target, next: make([]float64, target.Dim()), mutation: mutation}, err
	}
}

func (w *walk) Name() string { return "user_walk" }
func (w *walk) Dim() int     { return len(w.next) }
func (w *walk) Left() int64  { return w.bits.Left() }

func (w *walk) Init(theta []float64) (*kernels.State, error) {
	return kernels.NewState(w.target, theta)
}

func (w *walk) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	for j, t := range s.Theta {
		w.next[j] = t + 2*rng.Float64() - 1
	}
	ratio := w.target.LogPrior(w.next) - w.target.LogPrior(s.Theta)
	accepted, err := w.bits.Accept(w.next, s.Theta, ratio)
	if err != nil {
		return kernels.Info{}, err
	}
	if accepted {
		copy(s.Theta, w.next)
	}
	s.Iteration++
	return kernels.Info{Accepted: accepted, StepSize: 1}, nil
}

// A kernel needs a factory that makes it over any curator; with Exact, the check
// also holds it to the law it should leave invariant.
func ExampleCheckKernel() {
	target, err := targets.New(targets.GaussianMeanConfig{Features: 1, Prior: priors.Gaussian{SD: 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, failed := proptest.Try("TestWalk", func(t rapid.TB) {
		proptest.CheckKernel(t, newWalk(target, ""), kernelOptions())
	})
	fmt.Println("failed", failed)
	// Output: failed false
}

// mutated is a user's kernel with one thing broken.
type mutated struct{ *walk }

func (m mutated) Name() string {
	if m.mutation == "name" {
		return "User Walk"
	}
	return m.walk.Name()
}

func (m mutated) Left() int64 {
	if m.mutation == "left" {
		return 1000
	}
	return m.walk.Left()
}

func (m mutated) Init(theta []float64) (*kernels.State, error) {
	switch m.mutation {
	case "start refused":
		return nil, errors.New("no")
	case "start kept":
		s, err := m.walk.Init(theta)
		if err == nil {
			s.Theta = theta
		}
		return s, err
	case "bad start":
		return &kernels.State{Theta: slices.Clone(theta)}, nil
	}
	return m.walk.Init(theta)
}

func (m mutated) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	before := s.Theta[0]
	switch m.mutation {
	case "error moves":
		s.Theta[0]++
		if info, err := m.walk.Step(rng, s); err != nil {
			return info, err
		}
		s.Theta[0] = before
		return kernels.Info{}, nil
	case "error swallowed":
		if m.walk.Left() == 0 {
			return kernels.Info{}, nil
		}
	case "panics on data":
		if math.IsNaN(m.seen()) {
			panic("a record is NaN")
		}
	}
	info, err := m.walk.Step(rng, s)
	if err != nil {
		return info, err
	}
	switch m.mutation {
	case "iteration":
		s.Iteration--
	case "allocates":
		m.junk = make([]float64, 10)
	case "grows":
		m.junk = append(m.junk, s.Theta...)
	case "not finite":
		s.Theta[0] = math.Inf(1)
	case "remembers":
		if m.junk == nil {
			m.junk = make([]float64, 1)
		}
		m.junk[0], info.StepSize = s.Theta[0], 1+1e-15*m.junk[0]
	case "slice replaced":
		s.Theta = slices.Clone(s.Theta)
	case "leaks":
		info.StepSize += 1e-9 * m.seen()
	case "leaks into state":
		s.Theta[0] += 1e-9 * m.seen()
	case "private randomness":
		s.Theta[0] += rand.NormFloat64()
	case "drifts":
		s.Theta[0] += 0.02
	case "always accepts":
		copy(s.Theta, m.next)
	}
	return info, nil
}

// seen reaches for the records through the target, which sees them.
func (m mutated) seen() float64 { return math.Float64frombits(m.target.(*spy).last.Load()) }

// spy is a target that remembers the sum of the last batch it has seen.
type spy struct {
	*targets.GaussianMean
	last atomic.Uint64
}

func (s *spy) Loss(dst, theta []float64, rows targets.Rows) {
	s.GaussianMean.Loss(dst, theta, rows)
	sum := 0.0
	for _, x := range rows.X {
		sum += x
	}
	s.last.Store(math.Float64bits(sum))
}

func TestBrokenKernelsAreRejected(t *testing.T) {
	for name, words := range map[string]string{
		"name":               "the name is",
		"left":               "Left is",
		"start refused":      "Init refuses",
		"start kept":         "it must copy",
		"bad start":          "Init accepts",
		"error moves":        "changes the state",
		"error swallowed":    "gives no error",
		"iteration":          "Iteration is",
		"allocates":          "allocations",
		"grows":              "allocations",
		"not finite":         "is +Inf",
		"remembers":          "remembers what is neither in State nor kept",
		"slice replaced":     "another slice into State",
		"leaks":              "beyond what was released",
		"leaks into state":   "beyond what was released",
		"private randomness": "beyond what was released",
		"panics on data":     "panic",
		"drifts":             "does not leave the exact law invariant",
		"always accepts":     "does not leave the exact law invariant",
	} {
		if words == "allocations" && proptest.RaceDetector {
			continue // allocations are not counted
		}
		t.Run(name, func(t *testing.T) {
			target := &spy{GaussianMean: mean(t)}
			mustReject(t, words, func(t rapid.TB) {
				proptest.CheckKernel(t, func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
					target.last.Store(0)
					k, err := newWalk(target, name)(records, steps)
					return mutated{k.(*walk)}, err
				}, kernelOptions())
			})
		})
	}
}

// TestInvarianceOfTheWrongLaw: a right kernel held to a posterior 10% too wide,
// or with its mean a fifth of a standard deviation off, is rejected.
func TestInvarianceOfTheWrongLaw(t *testing.T) {
	for name, wrong := range map[string]func(theta []float64){
		"wide":    func(theta []float64) { theta[0] = 9.0/7 + 1.1*(theta[0]-9.0/7) },
		"shifted": func(theta []float64) { theta[0] += 0.2 / math.Sqrt(7) },
	} {
		t.Run(name, func(t *testing.T) {
			o := kernelOptions()
			o.Exact = func(rng *rand.Rand, theta []float64) {
				posterior(rng, theta)
				wrong(theta)
			}
			factory := barkerFactory(mean(t))
			mustReject(t, "does not leave the exact law invariant", func(t rapid.TB) { proptest.CheckKernel(t, factory, o) })
		})
	}
}

// TestInvarianceAlone: what a failure prints repeats it, and passes for a right kernel.
func TestInvarianceAlone(t *testing.T) {
	target := mean(t)
	proptest.CheckInvariance(t, barkerFactory(target), kernelOptions())
	mustReject(t, "does not leave the exact law invariant", func(t rapid.TB) {
		proptest.CheckInvariance(t, func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
			k, err := newWalk(target, "drifts")(records, steps)
			return mutated{k.(*walk)}, err
		}, kernelOptions())
	})
}

// TestCostIsWhatIsCharged: a sampler's own Cost passes, and one of half the clip does not.
func TestCostIsWhatIsCharged(t *testing.T) {
	o, target := kernelOptions(), mean(t)
	o.Exact = nil
	for clip, words := range map[float64]string{50: "", 25: "the curator charged"} {
		o.Cost = func(f curator.Facts) (accountant.Event, error) {
			return barker.Cost(barker.Config{Target: target, Proposal: curator.Proposal{Scale: 0.6}, Clip: clip}, f)
		}
		check := func(t rapid.TB) { proptest.CheckKernel(t, barkerFactory(target), o) }
		if words == "" {
			check(t)
		} else {
			mustReject(t, words, check)
		}
	}
}
