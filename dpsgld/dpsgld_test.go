package dpsgld

import (
	"math"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

const testClip = 20 // far beyond any gradient of the test's records

func mean(dim int) targets.GradTarget { return posteriors.NewCloud(dim, 1).Target }

// sample draws records, and returns them with the posterior's mean and the
// curvature of each coordinate.
func sample(dim int, seed uint64) (x, center []float64, curvature float64) {
	c := posteriors.NewCloud(dim, seed)
	return c.X, c.Center, c.Curvature
}

func seal(dim int, x []float64, opts ...curator.Option) *curator.Curator {
	return posteriors.Seal(curator.Records{X: x, Features: dim}, opts...)
}

// within holds a coordinate's draws to a mean and a standard deviation, within 5
// Monte Carlo standard errors. False-alarm rate: 6·10⁻⁷ each, and the seeds of
// these tests are fixed.
func within(t testing.TB, what string, x []float64, mean, sd float64) bool {
	t.Helper()
	return posteriors.Moments{Mean: []float64{mean}, SD: []float64{sd}}.Agree(t, what, [][]float64{x}, 5, 0)
}

func walk(t testing.TB, k kernels.Kernel, start []float64) [][]float64 {
	t.Helper()
	draws, _ := posteriors.Walk(t, k, start, steps)
	return draws
}

// langevinSD is the exact stationary standard deviation of the step
// θ + drift·h·∇ + N(0, variance) on a Gaussian of the given curvature.
func langevinSD(curvature, h, drift, variance float64) float64 {
	pull := 1 - drift*h*curvature
	return math.Sqrt(variance / (1 - pull*pull))
}

const steps = 50_000

// TestStationaryVariance holds the Langevin kernel to its exact stationary law
// on a Gaussian, with none, some and nearly all of the noise from the release.
// The mutant of the drift, h in place of h/2, must be rejected, and is what
// AsPublished does.
func TestStationaryVariance(t *testing.T) {
	x, center, curvature := sample(1, 3)
	const h = 0.002
	for _, tc := range []struct {
		name       string
		multiplier float64
		config     func(*Config)
		variance   float64 // of the noise of a step
		drift      float64
	}{
		{"little privacy noise", 0.1, func(*Config) {}, h, 0.5},
		{"half of the noise", 0.79, func(*Config) {}, h, 0.5},
		{"almost all of the noise", 1.1, func(*Config) {}, h, 0.5},
		{"hot", 2, func(c *Config) { c.Hot = true }, h * h / 4 * 80 * 80, 0.5},
		{"published", 0.5, func(c *Config) { c.AsPublished = true }, h, 1},
	} {
		c := Config{Driven: kernels.Driven{Target: mean(1), Iterations: steps, Step: kernels.Constant(h),
			NoiseMultiplier: tc.multiplier, Clip: testClip}}
		tc.config(&c)
		k := posteriors.Must(New(c, seal(1, x)))
		draws := walk(t, k, center)[0]
		if !within(t, tc.name, draws, center[0], langevinSD(curvature, h, tc.drift, tc.variance)) {
			t.Errorf("%s: not the stationary law", tc.name)
		}
		if within(t, tc.name+", other drift", draws, center[0], langevinSD(curvature, h, 1.5-tc.drift, tc.variance)) {
			t.Errorf("%s: the test does not tell a drift of h from one of h/2", tc.name)
		}
	}
}

// TestClipThatBindsIsNoticed: a clip that binds flattens the posterior's drift, which
// the comparison with the stationary law rejects; one that no record reaches does not.
// (A target cannot clip a sum: it sees one record at a time.)
func TestClipThatBindsIsNoticed(t *testing.T) {
	x, center, curvature := sample(1, 3)
	const h = 0.002
	for _, c := range []struct {
		clip  float64
		right bool
	}{{5, true}, {0.4, false}} {
		k := posteriors.Must(New(Config{Driven: kernels.Driven{Target: mean(1), Iterations: steps, Step: kernels.Constant(h),
			NoiseMultiplier: 0.1, Clip: c.clip}}, seal(1, x)))
		if right := within(t, "clipped", walk(t, k, center)[0], center[0],
			langevinSD(curvature, h, 0.5, h)); right != c.right {
			t.Errorf("a clip of %v: the stationary law: %v, want %v", c.clip, right, c.right)
		}
	}
}

// TestPreconditionedAndDecaying checks that a preconditioner multiplies the
// step, and that a schedule's steps are those it says.
func TestPreconditionedAndDecaying(t *testing.T) {
	x, center, curvature := sample(2, 4)
	const h = 0.001
	k := posteriors.Must(New(Config{Driven: kernels.Driven{Target: mean(2), Iterations: steps, Step: kernels.Constant(h),
		NoiseMultiplier: 0.7, Clip: testClip, Precondition: []float64{1, 4}}}, seal(2, x)))
	draws := walk(t, k, center)
	for j, m := range []float64{1, 4} {
		if !within(t, "preconditioned", draws[j], center[j], langevinSD(curvature, h*m, 0.5, h*m)) {
			t.Errorf("coordinate %d: not the stationary law for a step of %v", j, h*m)
		}
	}
	s := kernels.Polynomial(0.5, 10, 0.55)
	for step, want := range map[int64]float64{0: 0.5, 10: 0.5 * math.Pow(2, -0.55), 990: 0.5 * math.Pow(100, -0.55)} {
		if got := s.At(step); math.Abs(got-want) > 1e-15 {
			t.Errorf("step %d is %v, want %v", step, got, want)
		}
	}
}

// TestMinibatchNoise holds chains on batches to the variance that the batch's
// own noise adds: (h/2)²·Var over batches, at the mode, to first order.
func TestMinibatchNoise(t *testing.T) {
	x, center, curvature := sample(1, 3)
	const h = 0.001
	squares := 0.0
	for _, v := range x {
		squares += (v - center[0]) * (v - center[0])
	}
	for name, tc := range map[string]struct {
		batch curator.Batch
		extra float64 // variance of the scaled batch gradient, averaged over the posterior
	}{
		"poisson": {curator.Batch{Rate: 0.4}, 0.6 / 0.4 * (squares + 50/curvature)},
		"fixed":   {curator.Batch{Size: 20}, 50. * 50 / 20 * (1 - 20./50) * squares / 49},
	} {
		k := posteriors.Must(New(Config{Driven: kernels.Driven{Target: mean(1), Iterations: steps, Step: kernels.Constant(h),
			NoiseMultiplier: 0.3, Clip: testClip, Batch: tc.batch}}, seal(1, x)))
		if !within(t, name, walk(t, k, center)[0], center[0], langevinSD(curvature, h, 0.5, h+h*h/4*tc.extra)) {
			t.Errorf("%s: not the stationary law", name)
		}
	}
}

// TestEpochs: a chain on batches into which records are allocated costs its epochs, steps
// allocate nothing, and the same releases over other records are the same chain. The
// stationary law's mean is the posterior's.
func TestEpochs(t *testing.T) {
	x, center, curvature := sample(1, 3)
	const h, per = 0.001, 5
	c := Config{Driven: kernels.Driven{Target: mean(1), Iterations: 20 * per, Step: kernels.Constant(h),
		NoiseMultiplier: 0.3, Clip: testClip, Batch: curator.Batch{Steps: per}}}
	sealed := seal(1, x)
	k := posteriors.Must(New(c, sealed))
	price := posteriors.Must(Cost(c, sealed.Facts()))
	if want := posteriors.Must(price.Times(20)); k.Left() != 20*per ||
		sealed.Budget().Events().String() != want.String() {
		t.Errorf("%d steps are paid for by %v; 20 epochs cost %v", k.Left(), sealed.Budget().Events(), want)
	}
	if c.Iterations++; c.Iterations%per != 0 {
		if _, err := New(c, seal(1, x)); err == nil {
			t.Error("a part of an epoch was sold")
		}
	}
	options := proptest.KernelOptions{Records: posteriors.NewCloud(1, 3).Records(), Adjacency: accountant.Substitute,
		Start: []float64{0}, Steps: 60 * per}
	proptest.CheckReplay(t, factory(c), options.Records, posteriors.NewCloud(1, 99).Records(), options)
	c.Iterations = 2000
	k, at := posteriors.Must(New(c, seal(1, x))), posteriors.Must(k.Init([]float64{0}))
	rng := kernels.Stream(1, 0)
	if got := testing.AllocsPerRun(100, func() { posteriors.Must(k.Step(rng, at)) }); got != 0 {
		t.Errorf("%v allocations a step", got)
	}
	c.Iterations = steps
	k = posteriors.Must(New(c, seal(1, x)))
	if !within(t, "epochs", walk(t, k, center)[0], center[0], langevinSD(curvature, h, 0.5, h)) {
		t.Error("not the stationary law")
	}
}

func TestExcessNoiseIsRefused(t *testing.T) {
	x, _, _ := sample(1, 3)
	records := seal(1, x)
	c := Config{Driven: kernels.Driven{Target: mean(1), Iterations: 10, Step: kernels.Constant(0.01), NoiseMultiplier: 1,
		Clip: testClip}}
	_, err := New(c, records)
	if err == nil || !strings.Contains(err.Error(), "at most 0.0025") {
		t.Errorf("privacy noise of four times the Langevin noise: %v", err)
	}
	if spent, err := records.Budget().Spent(); err != nil || spent.Epsilon != 0 {
		t.Errorf("a refused chain spent %v (%v)", spent, err)
	}
	c.Step = kernels.Constant(0.0025)
	if _, err := New(c, records); err != nil {
		t.Errorf("at the largest step that the error named: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	x, _, _ := sample(2, 3)
	good := Config{Driven: kernels.Driven{Target: mean(2), Iterations: 10, Step: kernels.Constant(0.001),
		NoiseMultiplier: 0.5, Clip: testClip}}
	for name, change := range map[string]func(*Config){
		"no target":             func(c *Config) { c.Target = nil },
		"no iterations":         func(c *Config) { c.Iterations = 0 },
		"no step":               func(c *Config) { c.Step = kernels.Schedule{} },
		"negative step":         func(c *Config) { c.Step = kernels.Constant(-1) },
		"NaN step":              func(c *Config) { c.Step = kernels.Constant(math.NaN()) },
		"power above 1":         func(c *Config) { c.Step = kernels.Polynomial(0.1, 1, 2) },
		"no power":              func(c *Config) { c.Step = kernels.Polynomial(0.1, 1, 0) },
		"no offset":             func(c *Config) { c.Step = kernels.Polynomial(0.1, 0, 0.6) },
		"no noise":              func(c *Config) { c.NoiseMultiplier = 0 },
		"NaN noise":             func(c *Config) { c.NoiseMultiplier = math.NaN() },
		"nothing bounds":        func(c *Config) { c.Clip = 0 },
		"temperature above 1":   func(c *Config) { c.Temperature = 2 },
		"short preconditioner":  func(c *Config) { c.Precondition = []float64{1} },
		"zero preconditioner":   func(c *Config) { c.Precondition = []float64{1, 0} },
		"a rate that is no one": func(c *Config) { c.Batch = curator.Batch{Rate: 1.5} },
	} {
		c := good
		change(&c)
		if _, err := New(c, seal(2, x)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	k := posteriors.Must(New(Config{Driven: kernels.Driven{Target: mean(2), Iterations: 1, Step: kernels.Constant(0.001),
		NoiseMultiplier: 0.5, Clip: testClip}}, seal(2, x)))
	if _, err := k.Init([]float64{0, math.Inf(1)}); err == nil {
		t.Error("an infinite start was accepted")
	}
}

func factory(c Config) posteriors.Factory {
	return func(sealed *curator.Curator, n int64) (kernels.Kernel, error) {
		c.Iterations = n
		return New(c, sealed)
	}
}

// TestLeavingTheSupport checks that steps out of the prior's support, which begins just
// below the posterior's mean, are not made, but are paid for.
func TestLeavingTheSupport(t *testing.T) {
	cloud := posteriors.NewCloud(1, 3)
	k := posteriors.Must(New(Config{Driven: kernels.Driven{Target: posteriors.Above{GradTarget: cloud.Target, Low: 0.6},
		Iterations: 1000, Step: kernels.Constant(0.002), NoiseMultiplier: 0.1, Clip: testClip}}, cloud.Seal()))
	posteriors.CheckSupport(t, k, cloud.Center, 0.6)
}
