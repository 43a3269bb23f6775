package tunamh_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
	"github.com/dpmcmc/dpmcmc/tunamh"
)

func options() proptest.KernelOptions {
	records, exact := posteriors.Conjugate()
	records.Radius = 3
	return proptest.KernelOptions{Records: records, Adjacency: accountant.Substitute, Start: []float64{0.5, 0},
		Exact: exact, Stride: 10, Effort: proptest.Quick}
}

func factory(c tunamh.Config) proptest.Factory {
	return func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
		c.Iterations = steps
		return tunamh.New(c, records)
	}
}

// TestKernels puts the kernel through the conformance suite, tape replay and the
// test of invariance (false-alarm rate 10⁻⁶ each): with moves limited by a
// certificate, so that nothing is clipped whatever the records, at rates at
// which much is left out.
func TestKernels(t *testing.T) {
	for name, c := range map[string]tunamh.Config{
		"isotropic":     {Proposal: curator.Proposal{Scale: 0.1}, Limit: 0.5, Rate: 0.64},
		"one component": {Proposal: curator.Proposal{Scale: 0.15, OneComponent: true}, Limit: 0.6, Rate: 0.72},
		"truncated":     {Proposal: curator.Proposal{Scale: 0.1, Radius: 0.3}, Limit: 0.8, Rate: 0.81},
	} {
		t.Run(name, func(t *testing.T) {
			c.Target = posteriors.StandardMean()
			proptest.CheckKernel(t, factory(c), options())
		})
	}
}

// skewed is a target whose loss differences are one tenth larger when asked
// about a move up: the mutant of a record ratio that is not antisymmetric.
type skewed struct{ *targets.GaussianMean }

func (s skewed) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	s.GaussianMean.LossRatio(dst, theta, next, rows)
	if next[0] > theta[0] {
		for i := range dst {
			dst[i] *= 1.3
		}
	}
}

// doubled is a target that counts every record twice.
type doubled struct{ *targets.GaussianMean }

func (d doubled) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	d.GaussianMean.LossRatio(dst, theta, next, rows)
	for i := range dst {
		dst[i] *= 2
	}
}

// TestMutantsAreRejected: the invariance test sees a wrong ratio, and clipping
// that binds. (Batches that are not thinned are a mutant of package curator's.)
func TestMutantsAreRejected(t *testing.T) {
	mean := posteriors.StandardMean()
	base := tunamh.Config{Proposal: curator.Proposal{Scale: 0.25}, Clip: 1.2, Rate: 0.92}
	for name, broken := range map[string]proptest.Factory{
		"ratio not antisymmetric": factory(with(base, skewed{mean})),
		"records counted twice":   factory(with(base, doubled{mean})),
		"clip that binds": factory(tunamh.Config{Target: mean, Proposal: curator.Proposal{Scale: 0.5}, Clip: 0.1,
			Rate: 0.5}),
	} {
		report, failed := proptest.Try(t.Name(), func(t rapid.TB) {
			proptest.CheckKernel(t, broken, options())
		})
		if !failed || !strings.Contains(report, "invariance") && !strings.Contains(report, "invariant") {
			t.Errorf("%s: failed is %v: %s", name, failed, report)
		}
	}
}

func with(c tunamh.Config, target targets.Target) tunamh.Config {
	c.Target = target
	return c
}

func TestRefusals(t *testing.T) {
	facts := curator.Facts{Records: 6, Features: 2, RowsPerPerson: 1, Radius: 3, Adjacency: accountant.Substitute}
	good := tunamh.Config{Target: posteriors.StandardMean(), Proposal: curator.Proposal{Scale: 0.1}, Limit: 0.3, Rate: 0.5}
	if _, err := tunamh.Cost(good, facts); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*tunamh.Config){
		"Target":     func(c *tunamh.Config) { c.Target = nil },
		"proposal":   func(c *tunamh.Config) { c.Proposal = curator.Proposal{} },
		"rate is 0":  func(c *tunamh.Config) { c.Rate = 0 },
		"full data":  func(c *tunamh.Config) { c.Rate = 1 },
		"at least 1": func(c *tunamh.Config) { c.Limit = 2 },
		"bounds":     func(c *tunamh.Config) { c.Limit = 0 },
	} {
		c := good
		change(&c)
		if _, err := tunamh.Cost(c, facts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
}

// TestCostFollowsTheBoundNotTheRate: a smaller batch costs no less, and a larger
// one approaches Barker's test on the full data.
func TestCostFollowsTheBoundNotTheRate(t *testing.T) {
	facts := curator.Facts{Records: 1000, Features: 2, RowsPerPerson: 1, Radius: 3, Adjacency: accountant.Substitute}
	barker, err := curator.AcceptanceBit{Target: posteriors.StandardMean(), Clip: 0.1}.Event(facts)
	if err != nil {
		t.Fatal(err)
	}
	var ratios []float64
	for _, rate := range []float64{0.2, 0.4, 0.8, 0.99} {
		e, err := tunamh.Cost(tunamh.Config{Target: posteriors.StandardMean(),
			Proposal: curator.Proposal{Scale: 0.1}, Clip: 0.1,
			Rate: rate}, facts)
		if err != nil {
			t.Fatal(err)
		}
		ratios = append(ratios, e.RDP(8)/barker.RDP(8))
	}
	if !slices.IsSortedFunc(ratios, func(a, b float64) int { return cmp.Compare(b, a) }) || ratios[0] > 1.9 ||
		ratios[3] > 1.003 || ratios[3] < 1 {
		t.Errorf("costs over Barker's on the full data: %v", ratios)
	}
}
