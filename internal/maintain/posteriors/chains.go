package posteriors

import (
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/processor"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Factory makes a kernel over sealed records that may make the given number of
// steps; it is assignable to proptest.Factory.
type Factory = func(sealed *curator.Curator, steps int64) (kernels.Kernel, error)

// Must returns v, and ends a test whose preparation failed.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// unlimited is a budget that no test exhausts.
func unlimited() *accountant.Budget {
	return Must(accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1e300, Delta: 1e-6,
		Adjacency: accountant.Substitute}))
}

// Seal makes a curator with a budget that no test exhausts. Its randomness is
// fixed, so that a failure can be repeated; the false-alarm rates that tests
// state are those of a fresh seed.
func Seal(r curator.Records, opts ...curator.Option) *curator.Curator {
	return Must(curator.Seal(r, unlimited(), append([]curator.Option{curator.InsecureSeed(11)}, opts...)...))
}

// Walk makes steps of a kernel and returns each parameter's draws and the share
// of accepted moves.
func Walk(t testing.TB, k kernels.Kernel, start []float64, steps int64) (draws [][]float64, accepted float64) {
	t.Helper()
	s, err := k.Init(start)
	if err != nil {
		t.Fatal(err)
	}
	rng := kernels.Stream(11, 0)
	draws = make([][]float64, k.Dim())
	for range steps {
		info, err := k.Step(rng, s)
		if err != nil {
			t.Fatal(err)
		}
		if info.Accepted {
			accepted++
		}
		for j, v := range s.Theta {
			draws[j] = append(draws[j], v)
		}
	}
	return draws, accepted / float64(steps)
}

// Simulated are n records of d standard normal features, to be projected, with
// fair labels.
func Simulated(n, d int) curator.Records {
	rng := rand.New(rand.NewPCG(1, 2))
	r := curator.Records{X: make([]float64, n*d), Features: d, Y: make([]float64, n), Radius: 1}
	for i := range r.X {
		r.X[i] = rng.NormFloat64()
	}
	for i := range r.Y {
		r.Y[i] = float64(rng.IntN(2))
	}
	return r
}

// BenchmarkSteps times a kernel's steps over sealed records, with the operating
// system's randomness, by the clock and by processor time, which other work on the machine
// changes less; allocations are reported and must be 0.
func BenchmarkSteps(b *testing.B, records curator.Records, start []float64, factory Factory) {
	b.Helper()
	k, err := factory(Must(curator.Seal(records, unlimited())), 1<<30) // priced, not run
	if err != nil {
		b.Fatal(err)
	}
	s, err := k.Init(start)
	if err != nil {
		b.Fatal(err)
	}
	rng := kernels.Stream(1, 0)
	if _, err := k.Step(rng, s); err != nil { // fills the cache of losses
		b.Fatal(err)
	}
	b.ReportAllocs()
	began := processor.Seconds()
	for b.Loop() {
		if _, err := k.Step(rng, s); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
	b.ReportMetric(float64(b.N)/(processor.Seconds()-began), "steps/core-s")
}

// CheckSupport runs a kernel until it is spent. Steps to θ₁ below low are not made, but
// are paid for, and there are some.
func CheckSupport(t testing.TB, k kernels.Kernel, start []float64, low float64) {
	t.Helper()
	s := Must(k.Init(start))
	stayed, rng := 0, kernels.Stream(1, 0)
	for k.Left() > 0 {
		before := s.Theta[0]
		info, err := k.Step(rng, s)
		if err != nil {
			t.Fatal(err)
		}
		if s.Theta[0] < low {
			t.Fatalf("the chain is at %v, outside the prior's support", s.Theta)
		}
		if info.Accepted == (s.Theta[0] == before) {
			t.Fatalf("accepted is %v for a step from %v to %v", info.Accepted, before, s.Theta[0])
		}
		if !info.Accepted {
			stayed++
		}
	}
	if stayed == 0 {
		t.Error("no step left the support")
	}
	if _, err := k.Step(rng, s); err == nil {
		t.Error("a step that was not paid for was made")
	}
}

// BenchmarkGradients times a step on logistic regression with 10 features: the full
// data of 10⁵ records, and Poisson batches of 1000 out of 10⁶.
func BenchmarkGradients(b *testing.B, factory func(target targets.GradTarget, batch curator.Batch) Factory) {
	b.Helper()
	logistic := Must(targets.New(targets.RegressionConfig{Features: 10, Prior: priors.Gaussian{SD: 3}}))
	for _, bc := range []struct {
		name  string
		n     int
		batch curator.Batch
	}{{"full/N=1e5", 100_000, curator.Batch{}}, {"poisson/N=1e6/b=1000", 1_000_000, curator.Batch{Rate: 0.001}}} {
		b.Run(bc.name, func(b *testing.B) {
			BenchmarkSteps(b, Simulated(bc.n, 10), make([]float64, 10), factory(logistic, bc.batch))
		})
	}
}
