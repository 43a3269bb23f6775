package proptest

import (
	"fmt"
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/targets"
)

// priorAlarm bounds the probability that checkSampler rejects a right sampler.
const (
	priorAlarm = 1e-6
	priorLooks = 8 // three at quantiles and one at independence, in each of two passes
	degrees    = 4 // of the polynomials of a quantile
)

// checkSampler compares a PriorSampler's draws with LogPrior: given the other
// parameters, the place of each among the density's quantiles, by quadrature
// along it, is uniform.
func checkSampler(t rapid.TB, target targets.Target, o TargetOptions) {
	t.Helper()
	s, ok := target.(targets.PriorSampler)
	if !ok || t.Failed() {
		return
	}
	rng, d := rand64(o.Seed, 25), target.Dim()
	n := o.Effort.times(100_000, 5000)
	theta := make([]float64, d)
	scale := make([]float64, d)
	for range 200 {
		s.SamplePrior(theta, rng)
		for j, v := range theta {
			scale[j] += math.Abs(v) / 200
		}
	}
	for range 500 {
		seed, again := rng.Uint64(), make([]float64, d)
		fill(again, math.NaN())
		s.SamplePrior(theta, rand64(seed, 32))
		if s.SamplePrior(again, rand64(seed, 32)); !slices.EqualFunc(theta, again, identical) {
			failf(t, "SamplePrior draws %v and %v from one random stream; all randomness comes from rng, and nothing from what "+
				"theta held (Seed %d)", theta, again, o.Seed)
			t.FailNow()
		}
	}
	moments, draws := make([][]moment, d), make([][]float64, 0, n)
	for j := range moments {
		moments[j] = make([]moment, degrees+d)
	}
	for made := 1; made <= n; made++ {
		s.SamplePrior(theta, rng)
		if lp := target.LogPrior(theta); math.IsNaN(lp) || math.IsInf(lp, -1) {
			failf(t, "SamplePrior drew %v, where LogPrior is %v (Seed %d)", theta, lp, o.Seed)
			t.FailNow()
		}
		draws = append(draws, slices.Clone(theta))
		j := rng.IntN(d)
		if u := quantile(target, theta, j, scale[j]); !math.IsNaN(u) {
			for k, v := range polynomials(u) {
				moments[j][k].add(v)
			}
			for k, v := range theta { // given the others, so independent of them
				if k != j {
					moments[j][degrees+k].add((2*u - 1) * math.Tanh(v/scale[k]))
				}
			}
		}
		if made == n || made == n/4 || made == n/16 {
			checkQuantiles(t, moments, o)
		}
	}
	checkAtoms(t, draws, o)
	if e := dependence(draws, o.Seed); e.family() < priorAlarm/priorLooks {
		failf(t, "draws of SamplePrior are not independent: %s (p = %.2g in %d comparisons, Seed %d)", e.about, e.family(),
			e.count, o.Seed)
		t.FailNow()
	}
}

// checkAtoms expects no value of a parameter to come again and again, unless it is
// where numbers near an end of the support are rounded to: a density has no atoms.
func checkAtoms(t rapid.TB, draws [][]float64, o TargetOptions) {
	t.Helper()
	for j := range draws[0] {
		v := column(draws, j)
		slices.Sort(v)
		for i, few := len(v)/20, max(5, len(v)/5000); i < len(v)*19/20; i++ {
			if k := i + few; k < len(v)*19/20 && v[k] == v[i] {
				failf(t,
					"SamplePrior does not draw from LogPrior: parameter %d is %v in more than %d of %d draws, and a density has "+
						"no such atoms (Seed %d)", j, v[i], few, len(v), o.Seed)
				t.FailNow()
			}
		}
	}
}

// checkQuantiles is one of priorLooks looks at the draws' quantiles.
func checkQuantiles(t rapid.TB, moments [][]moment, o TargetOptions) {
	t.Helper()
	for j := range moments {
		for k := range moments[j] {
			m := moments[j][k]
			m.span = 2
			// Quadrature is good to a thousandth.
			m.less(2e-3)
			if p := m.p() * float64(len(moments)*(degrees+len(moments))); p < priorAlarm/priorLooks {
				what := fmt.Sprintf("the Legendre polynomial of degree %d of the quantiles of parameter %d", k+1, j)
				if k >= degrees {
					what = fmt.Sprintf("the quantiles of parameter %d times parameter %d", j, k-degrees)
				}
				failf(t, "SamplePrior does not draw from LogPrior: the mean of %s is %.2g over %d draws, not 0 (p = %.2g, Seed %d)",
					what, m.mean(), m.n, p, o.Seed)
				t.FailNow()
			}
		}
	}
}

// quantile is the place of coordinate j of theta in its density given the others,
// by the trapezoidal rule on points that are dense near 0 and near theta; NaN if
// they cannot resolve it.
func quantile(target targets.Target, theta []float64, j int, scale float64) float64 {
	const half = 120
	at := append([]float64(nil), theta...)
	here := theta[j]
	density := func(v float64) float64 {
		at[j] = v
		return target.LogPrior(at)
	}
	top := density(here)
	if scale == 0 || math.IsInf(scale, 0) || math.IsNaN(top) {
		return math.NaN()
	}
	side := func(sign float64) float64 {
		mass, before, was := 0.0, here, 1.0
		for i := 1; i <= half; i++ {
			v := here + sign*scale*0.02*math.Sinh(12*float64(i)/half)/math.Sinh(0.1)*0.1
			p := math.Exp(density(v) - top)
			if math.IsNaN(p) || math.IsInf(p, 0) {
				return math.NaN()
			}
			if (p == 0) != (was == 0) { // an end of the support
				in, out := before, v
				if was == 0 {
					in, out = v, before
				}
				for range 40 {
					if m := (in + out) / 2; math.IsInf(density(m), -1) || density(m)-top < -700 {
						out = m
					} else {
						in = m
					}
				}
				edge := math.Exp(density(in) - top)
				mass += math.Abs(in-before) * (was + edge) / 2
				if was == 0 {
					mass += math.Abs(v-in) * (p + edge) / 2
				}
			} else {
				mass += math.Abs(v-before) * (p + was) / 2
			}
			before, was = v, p
		}
		return mass
	}
	below, above := side(-1), side(1)
	return below / (below + above)
}
