package penalty_test

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
	"github.com/dpmcmc/dpmcmc/penalty"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

func options() proptest.KernelOptions {
	records, exact := posteriors.Conjugate()
	return proptest.KernelOptions{Records: records, Adjacency: accountant.Substitute, Start: []float64{0.5, 0},
		Exact: exact, Effort: proptest.Quick}
}

func factory(c penalty.Config) proptest.Factory {
	return func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
		c.Iterations = steps
		return penalty.New(c, records)
	}
}

// TestKernels puts every combination of proposal, noise and release through the
// conformance suite, tape replay and the test of invariance (false-alarm rate
// 10⁻⁶ each). The clips are too large ever to bind.
func TestKernels(t *testing.T) {
	target := posteriors.StandardMean()
	walks := map[string]penalty.Config{
		"isotropic":     {Proposal: curator.Proposal{Scale: 0.5}},
		"one component": {Proposal: curator.Proposal{Scale: 0.8, OneComponent: true}},
		"guided":        {Proposal: curator.Proposal{Scale: 0.8, OneComponent: true}, Guided: true},
		"truncated":     {Proposal: curator.Proposal{Scale: 0.5, Radius: 1.5}},
	}
	for walk, c := range walks {
		for name, set := range map[string]func(*penalty.Config){
			"bit":      func(c *penalty.Config) { c.Noise, c.Clip = penalty.Fixed(1), 50 },
			"lazy bit": func(c *penalty.Config) { c.Noise, c.Clip = penalty.Fixed(6), 50 },
			"published fixed": func(c *penalty.Config) {
				c.Noise, c.Clip, c.Accounting = penalty.Fixed(1), 50, "published"
			},
			"published scaled": func(c *penalty.Config) {
				c.Noise, c.Clip, c.Accounting = penalty.Scaled(0.05), 20, "published"
			},
		} {
			t.Run(walk+", "+name, func(t *testing.T) {
				c := c
				c.Target = target
				set(&c)
				proptest.CheckKernel(t, factory(c), options())
			})
		}
	}
}

// mutant is a kernel over released noisy ratios with one thing broken.
type mutant struct {
	target   targets.Target
	ratios   *curator.Ratios
	next     []float64
	mutation string
}

func (m *mutant) Name() string { return "mutant" }
func (m *mutant) Dim() int     { return len(m.next) }
func (m *mutant) Left() int64  { return m.ratios.Left() }
func (m *mutant) Init(theta []float64) (*kernels.State, error) {
	return kernels.NewState(m.target, theta)
}

func (m *mutant) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	curator.Proposal{Scale: 0.5}.Propose(rng, m.next, s.Theta)
	length := math.Hypot(m.next[0]-s.Theta[0], m.next[1]-s.Theta[1])
	clip := 20 * length
	switch m.mutation {
	case "asymmetric noise":
		clip *= 1 + m.next[0]*m.next[0]
	case "noise not scaled with the move": // that of a short move
		clip = 20 * 0.2
	}
	noisy, err := m.ratios.ReleaseWithin(m.next, s.Theta, clip)
	if err != nil {
		return kernels.Info{}, err
	}
	sd := m.ratios.NoiseSD()
	correction := sd * sd / 2
	switch m.mutation {
	case "noise not scaled with the move":
		correction *= math.Pow(length/0.2, 2)
	case "no correction":
		correction = 0
	case "correction not scaled with the move": // that of a short move
		correction = 0.5 * math.Pow(sd/length*0.2, 2)
	case "correction doubled":
		correction *= 2
	case "clip after the sum":
		noisy = max(-length, min(noisy, length))
	}
	public := m.target.LogPrior(m.next) - m.target.LogPrior(s.Theta)
	if m.mutation == "no prior" {
		public = 0
	}
	accepted := noisy-correction+public+rng.ExpFloat64() > 0
	if accepted {
		copy(s.Theta, m.next)
	}
	s.Iteration++
	return kernels.Info{Accepted: accepted, StepSize: 0.5}, nil
}

// TestMutantsAreRejected runs the same check on broken kernels, and on the
// unbroken one.
func TestMutantsAreRejected(t *testing.T) {
	target := posteriors.StandardMean()
	for _, mutation := range []string{"", "no correction", "correction not scaled with the move",
		"noise not scaled with the move", "correction doubled",
		"asymmetric noise", "no prior", "clip after the sum"} {
		t.Run("mutant "+mutation, func(t *testing.T) {
			report, failed := proptest.Try(t.Name(), func(t rapid.TB) {
				proptest.CheckKernel(t, func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
					r, err := curator.Charge(records, curator.NoisyRatio{Target: target, Clip: 1, NoiseMultiplier: 0.05}, steps)
					return &mutant{target: target, ratios: r, next: make([]float64, 2), mutation: mutation}, err
				}, options())
			})
			if failed != (mutation != "") || failed && !strings.Contains(report, "does not leave the exact law invariant") {
				t.Errorf("failed is %v: %s", failed, report)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	target := posteriors.StandardMean()
	facts := curator.Facts{Records: 6, Features: 2, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	good := penalty.Config{Target: target, Proposal: curator.Proposal{Scale: 0.5}, Noise: penalty.Fixed(1), Clip: 1}
	if _, err := penalty.Cost(good, facts); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*penalty.Config){
		"Target":         func(c *penalty.Config) { c.Target = nil },
		"proposal":       func(c *penalty.Config) { c.Proposal = curator.Proposal{} },
		"Noise":          func(c *penalty.Config) { c.Noise = penalty.Noise{} },
		"Fixed":          func(c *penalty.Config) { c.Noise = penalty.Fixed(math.NaN()) },
		"variance":       func(c *penalty.Config) { c.Noise = penalty.Fixed(10) },
		"one-component":  func(c *penalty.Config) { c.Guided = true },
		"Accounting is":  func(c *penalty.Config) { c.Accounting = "tightened" },
		"Scaled noise":   func(c *penalty.Config) { c.Noise = penalty.Scaled(1) },
		"Clip is -1":     func(c *penalty.Config) { c.Clip = -1 },
		"nothing bounds": func(c *penalty.Config) { c.Clip = 0 },
		"full data":      func(c *penalty.Config) { c.Accounting, c.Batch = "published", curator.Batch{Rate: 0.5} },
		"for all moves":  func(c *penalty.Config) { c.Accounting, c.Clip = "published", 0 },
		"Radius": func(c *penalty.Config) {
			c.Accounting, c.Clip, c.Noise = "published", 0, penalty.Scaled(1)
		},
	} {
		c := good
		change(&c)
		if _, err := penalty.Cost(c, facts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
}
