package nuts

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"
)

// TestWindows: the last iterations of the metric's windows, counted from 1. For
// 1000 they are those of Stan's windowed_adaptation: 25, 50, 100 and 200
// iterations after the first 75, and what is left before the last 50.
func TestWindows(t *testing.T) {
	for warmup, want := range map[int][]int{
		1000: {100, 150, 250, 450, 950},
		150:  {100},
		500:  {100, 150, 250, 450},
		100:  {90},
		20:   {18},
		19:   nil,
		1:    nil,
	} {
		s := newSchedule(warmup)
		var ends []int
		for i := range warmup {
			if s.closes(i) {
				ends = append(ends, i+1)
			}
		}
		if !slices.Equal(ends, want) {
			t.Errorf("warm-up of %d: windows end at %v, want %v", warmup, ends, want)
		}
		if len(want) > 0 && (!s.observes(want[len(want)-1]-1) || s.observes(want[len(want)-1]) || s.observes(s.first-1)) {
			t.Errorf("warm-up of %d: the metric learns outside its windows", warmup)
		}
	}
}

// TestMaxGradients: a chain that evaluates the target more often than allowed, in warm-up or
// later, ends in an error, and one that does not is the same with the bound as without.
func TestMaxGradients(t *testing.T) {
	normal := func() LogDensity {
		return Func(2, func(grad, theta []float64) float64 {
			grad[0], grad[1] = -theta[0], -theta[1]
			return -(theta[0]*theta[0] + theta[1]*theta[1]) / 2
		})
	}
	config := Config{Chains: 1, Warmup: 50, Draws: 50, Seed: 1}
	free, err := Sample(t.Context(), normal, config)
	if err != nil {
		t.Fatal(err)
	}
	for most, enough := range map[int]bool{20: false, free[0].Gradients / 2: false, free[0].Gradients: true} {
		config.MaxGradients = most
		got, err := Sample(t.Context(), normal, config)
		if enough != (err == nil) || !enough && !errors.Is(err, ErrGradients) {
			t.Errorf("at most %d gradients of %d: %v", most, free[0].Gradients, err)
		}
		if enough && !reflect.DeepEqual(got, free) {
			t.Error("a bound that is not reached changes the draws")
		}
	}
	config.MaxGradients = -1
	if _, err := Sample(t.Context(), normal, config); err == nil {
		t.Error("a negative bound is taken")
	}
}

// TestDualAveraging: fed the acceptance of a sampler whose statistic falls with
// the step size as exp(-eps), the adapted step hits the target.
func TestDualAveraging(t *testing.T) {
	a := stepAdapter{target: 0.8}
	a.restart(0.01)
	eps := 0.01
	for range 2000 {
		eps = a.learn(math.Exp(-eps))
	}
	if got := math.Exp(-a.final()); math.Abs(got-0.8) > 0.01 {
		t.Errorf("the acceptance statistic settles at %v, want 0.8", got)
	}
}

// TestLeapfrogIsReversible: a trajectory taken back ends where it began.
func TestLeapfrogIsReversible(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		g := newGaussian([]float64{0, 1}, []float64{1, 0.5, 0.5, 2})
		h := hamiltonian{g, newMetric(rapid.SampledFrom([]MetricKind{Unit, Diagonal, Dense}).Draw(rt, "metric"), 2)}
		for range 20 {
			h.metric.observe([]float64{rng.NormFloat64(), 2 * rng.NormFloat64()})
		}
		h.metric.update()
		z := newState(2)
		z.theta[0], z.theta[1] = rng.NormFloat64(), rng.NormFloat64()
		h.evaluate(&z.point)
		h.refresh(&z, rng)
		there := newState(2)
		there.set(z)
		for _, eps := range []float64{0.1, -0.1} {
			for range 30 {
				h.leapfrog(&there, eps)
			}
		}
		if floats.Distance(there.theta, z.theta, 2) > 1e-10 || floats.Distance(there.p, z.p, 2) > 1e-10 {
			rt.Fatalf("there and back: %v %v, began at %v %v", there.theta, there.p, z.theta, z.p)
		}
	})
}

// quartic has density ∝ exp(-x⁴/4).
func quartic() LogDensity {
	return Func(1, func(grad, theta []float64) float64 {
		x := theta[0]
		grad[0] = -x * x * x
		return -x * x * x * x / 4
	})
}

// TestLeapfrogIsSecondOrder: halving the step divides the energy error over the
// same time by about 4; a mutant with a whole first kick has an error of first
// order, which halves.
func TestLeapfrogIsSecondOrder(t *testing.T) {
	h := hamiltonian{quartic(), newMetric(Unit, 1)}
	drift := func(kick float64, eps float64) float64 {
		z := newState(1)
		z.theta[0], z.p[0] = 1.3, 0.4
		h.evaluate(&z.point)
		h.metric.velocity(z.velocity, z.p)
		before := h.energy(&z)
		for range int(1 / eps) {
			z.p[0] += kick * eps * z.grad[0] // the mutant's extra kick, taken back below
			h.leapfrog(&z, eps)
			z.p[0] -= kick * eps * z.grad[0]
			h.metric.velocity(z.velocity, z.p)
		}
		return math.Abs(h.energy(&z) - before)
	}
	if ratio := drift(0, 1./64) / drift(0, 1./128); ratio < 3.8 || ratio > 4.2 {
		t.Errorf("halving the step divides the error by %v, want 4", ratio)
	}
	if ratio := drift(0.5, 1./64) / drift(0.5, 1./128); ratio > 3 {
		t.Errorf("the mutant's error is of second order: ratio %v", ratio)
	}
}

// TestMetricEstimates: the metrics learn the variances and covariances of what
// they observe, shrunk as Stan does, and momenta have the inverse covariance.
func TestMetricEstimates(t *testing.T) {
	const n = 400
	rng := rand.New(rand.NewPCG(1, 9))
	diagonal, dense := newMetric(Diagonal, 2), newMetric(Dense, 2)
	var x, y []float64
	for i := range n {
		x = append(x, 1e3+rng.NormFloat64())
		y = append(y, 0.01*(x[i]-1e3)+0.01*rng.NormFloat64())
		diagonal.observe([]float64{x[i], y[i]})
		dense.observe([]float64{x[i], y[i]})
	}
	diagonal.update()
	dense.update()
	weight, add := n/(n+5.), 1e-3*5/(n+5.)
	xx, yy, xy := weight*stat.Variance(x, nil)+add, weight*stat.Variance(y, nil)+add, weight*stat.Covariance(x, y, nil)
	if got, want := diagonal.inverse(), []float64{xx, yy}; !floats.EqualApprox(got, want, 1e-12) {
		t.Errorf("diagonal %v, want %v", got, want)
	}
	if got, want := dense.inverse(), []float64{xx, xy, xy, yy}; !floats.EqualApprox(got, want, 1e-12) {
		t.Errorf("dense %v, want %v", got, want)
	}
	// p·M⁻¹p is χ² with 2 degrees of freedom: mean 2, variance 4. Over 20000 draws
	// the mean has standard deviation 0.0141, so 6 of them are a false alarm of 2e-9.
	for name, m := range map[string]metric{"diagonal": diagonal, "dense": dense, "unit": newMetric(Unit, 2)} {
		p, v := make([]float64, 2), make([]float64, 2)
		var sum float64
		for range 20000 {
			m.momentum(p, rng)
			m.velocity(v, p)
			sum += floats.Dot(p, v)
		}
		if mean := sum / 20000; math.Abs(mean-2) > 0.085 {
			t.Errorf("%s: p·M⁻¹p has mean %v, want 2", name, mean)
		}
	}
}

// TestParallelEqualsSerial: the draws do not depend on the number of workers, a
// chain does not depend on how many others there are, and a seed matters.
func TestParallelEqualsSerial(t *testing.T) {
	sample := func(workers, chains int, seed uint64) []Chain {
		out, err := Sample(t.Context(), func() LogDensity { return three() },
			Config{Workers: workers, Chains: chains, Seed: seed, Warmup: 200, Draws: 50, Metric: Dense})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	serial := sample(1, 4, 7)
	if !reflect.DeepEqual(serial, sample(4, 4, 7)) || !reflect.DeepEqual(serial[:2], sample(2, 2, 7)) {
		t.Error("scheduling changes the draws")
	}
	if slices.Equal(serial[0].Draws[0], serial[1].Draws[0]) ||
		slices.Equal(serial[0].Draws[0], sample(1, 1, 8)[0].Draws[0]) {
		t.Error("two chains or two seeds give the same draw")
	}
}

// TestFunnel: a funnel's neck makes trajectories diverge, and that is reported.
func TestFunnel(t *testing.T) {
	chains, err := Sample(t.Context(), func() LogDensity { return Func(10, funnel) }, Config{Seed: 1, Draws: 500})
	if err != nil {
		t.Fatal(err)
	}
	r := Diagnose(chains)
	if r.Divergent == 0 || r.Draws != 2000 || !strings.Contains(strings.Join(r.Warnings(), "\n"), "transitions diverged") {
		t.Errorf("report %+v: %v", r, r.Warnings())
	}
}

// funnel is Neal's: v ~ N(0, 3), the others N(0, exp(v/2)).
func funnel(grad, theta []float64) float64 {
	v := theta[0]
	logp := -v * v / 18
	grad[0] = -v / 9
	for i := 1; i < len(theta); i++ {
		square := theta[i] * theta[i] * math.Exp(-v)
		logp -= (square + v) / 2
		grad[0] += (square - 1) / 2
		grad[i] = -theta[i] * math.Exp(-v)
	}
	return logp
}

func TestMaxTreeDepthIsReported(t *testing.T) {
	g := newGaussian([]float64{0, 0}, []float64{1, 0.999, 0.999, 1})
	chains, err := Sample(t.Context(), func() LogDensity { return g },
		Config{Seed: 1, Chains: 1, Draws: 200, MaxTreeDepth: 2})
	if err != nil {
		t.Fatal(err)
	}
	r := Diagnose(chains)
	if r.AtMaxDepth < 100 || len(r.Warnings()) == 0 {
		t.Errorf("report %+v", r)
	}
	for _, s := range chains[0].Stats {
		if s.TreeDepth > 2 || s.Leapfrogs > 3 || s.AcceptStat < 0 || s.AcceptStat > 1 {
			t.Fatalf("stats %+v", s)
		}
	}
}

func TestEBFMI(t *testing.T) {
	energies := func(x ...float64) []Stats {
		out := make([]Stats, len(x))
		for i, e := range x {
			out[i].Energy = e
		}
		return out
	}
	if got := EBFMI(energies(1, 3, 2)); got != 5./2 { // changes 4 + 1; squared deviations 1 + 1 + 0
		t.Errorf("E-BFMI %v, want 2.5", got)
	}
	if !math.IsNaN(EBFMI(nil)) || !math.IsNaN(EBFMI(energies(1))) || !math.IsNaN(EBFMI(energies(1, 1))) {
		t.Error("too few or constant energies have an E-BFMI")
	}
	if w := (Report{EBFMI: []float64{1, 0.1}}).Warnings(); len(w) != 1 ||
		!strings.HasPrefix(w[0], "chain 1 has E-BFMI 0.10") {
		t.Errorf("warnings %v", w)
	}
}

func TestRefusedConfigurations(t *testing.T) {
	for name, c := range map[string]Config{
		"chains": {Chains: -1}, "warm-up": {Warmup: -1}, "draws": {Draws: -1}, "workers": {Workers: -1},
		"metric": {Metric: 3}, "target": {TargetAccept: 1}, "NaN target": {TargetAccept: math.NaN()},
		"depth":  {MaxTreeDepth: 21},
		"points": {Chains: 2, Init: [][]float64{{0, 0, 0}}}, "point": {Chains: 1, Init: [][]float64{{0}}},
		"NaN point": {Chains: 1, Init: [][]float64{{0, 0, math.NaN()}}},
	} {
		if _, err := Sample(t.Context(), func() LogDensity { return three() }, c); err == nil ||
			!strings.HasPrefix(err.Error(), "nuts: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestRefusedTargets(t *testing.T) {
	flat := func(grad, _ []float64) float64 { clear(grad); return 0 }
	empty := func([]float64, []float64) float64 { return math.Inf(-1) }
	broken := func(grad, _ []float64) float64 { grad[0] = math.NaN(); return 0 }
	for want, f := range map[string]func(grad, theta []float64) float64{
		"improper": flat, "no finite density": empty, "no finite density ": broken,
	} {
		_, err := Sample(t.Context(), func() LogDensity { return Func(1, f) }, Config{})
		if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := Sample(t.Context(), func() LogDensity { return Func(1, empty) },
		Config{Chains: 1, Init: [][]float64{{0}}}); err == nil {
		t.Error("an impossible starting point is accepted")
	}
	if _, err := Sample(t.Context(), func() LogDensity { return Func(0, flat) }, Config{}); err == nil {
		t.Error("no coordinates are accepted")
	}
	dim := 0
	if _, err := Sample(t.Context(), func() LogDensity { dim++; return Func(dim, flat) }, Config{}); err == nil {
		t.Error("targets of different dimension are accepted")
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Sample(ctx, func() LogDensity { return three() }, Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestInitIsUsed(t *testing.T) {
	var first []float64
	target := Func(1, func(grad, theta []float64) float64 {
		if first == nil {
			first = []float64{theta[0]}
		}
		grad[0] = -theta[0]
		return -theta[0] * theta[0] / 2
	})
	if _, err := Sample(t.Context(), func() LogDensity { return target },
		Config{Chains: 1, Draws: 1, Warmup: 20, Init: [][]float64{{0.125}}}); err != nil {
		t.Fatal(err)
	}
	if first[0] != 0.125 {
		t.Errorf("the chain starts at %v", first)
	}
}

// TestStepsAllocateNothing holds for whole transitions, so for leapfrog steps.
func TestStepsAllocateNothing(t *testing.T) {
	for _, kind := range []MetricKind{Diagonal, Dense, Unit} {
		g := newGaussian(make([]float64, 5), []float64{
			1, 0, 0, 0, 0,
			0, 1, 0, 0, 0,
			0, 0, 1, 0, 0,
			0, 0, 0, 1, 0,
			0, 0, 0, 0, 1,
		})
		tr := newTransition(g, kind, 10, rand.New(rand.NewPCG(1, 2)))
		tr.evaluate(&tr.current.point)
		if n := testing.AllocsPerRun(200, func() { tr.step(0.05) }); n != 0 {
			t.Errorf("metric %d: %v allocations per transition", kind, n)
		}
	}
}
