package planted

import (
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// sum releases the sum of records clipped to [−1, 1], with normal noise of
// standard deviation 2, and hooks that spoil it. Its floating-point noise would
// not protect anybody; it is a double for tests.
type sum struct {
	claim accountant.Event
	dim   int
	grid  float64                        // of releases; 0 for none
	clip  func(i int, x float64) float64 // what each value becomes
	noise noises
	last  func(total, noise float64) float64 // what is released
	check func(r curator.Records) error
	seeds func(seed uint64) uint64  // the seed that is used
	extra func(x []float64) float64 // added to the sum
	kept  []float64

	// What Release was called with.
	x     []float64
	seed  uint64
	count int
}

func (m *sum) Claim() accountant.Event { return m.claim }

func (m *sum) Release(r curator.Records, seed uint64, count int) ([][]float64, error) {
	if m.check != nil {
		if err := m.check(r); err != nil {
			return nil, err
		}
	}
	totals := make([]float64, m.dim)
	for i, x := range r.X {
		totals[i%m.dim] += m.clip(i, x)
	}
	if m.extra != nil {
		totals[0] += m.extra(r.X)
	}
	if m.seeds != nil {
		seed = m.seeds(seed)
	}
	m.kept, m.x, m.seed, m.count = nil, r.X, seed, count
	rng := rand.New(rand.NewPCG(seed, 7))
	all := make([][]float64, count)
	for i := range all {
		all[i] = make([]float64, m.dim)
		for j, total := range totals {
			noise := m.noise(m, rng, i, total)
			if m.grid > 0 {
				noise = m.grid * math.Round(noise/m.grid)
				total = m.grid * math.Round(total/m.grid)
			}
			all[i][j] = m.last(total, noise)
		}
	}
	return all, nil
}

// additive says that the noise depends on the seed alone.
type additive struct{ *sum }

func (m additive) Sensitivity() float64 { return 2 * math.Sqrt(float64(m.dim)) }
func (m additive) Step() float64        { return m.grid }

// noises draws that of release i.
type noises = func(m *sum, rng *rand.Rand, i int, total float64) float64

const noiseSD = 2.0

func normal(_ *sum, rng *rand.Rand, _ int, _ float64) float64 { return noiseSD * rng.NormFloat64() }

func clipped(_ int, x float64) float64 {
	return either(math.IsNaN(x), 0, max(-1, min(x, 1)))
}

func gaussian(multiplier float64) accountant.Event {
	e, err := accountant.Gaussian(accountant.Substitute, multiplier)
	if err != nil {
		panic(err)
	}
	return e
}

func event(e accountant.Event, err error) accountant.Event {
	if err != nil {
		panic(err)
	}
	return e
}

func pure(epsilon float64) accountant.Event {
	return event(accountant.Pure(accountant.Substitute, epsilon))
}

// newSum is a right sum of dim numbers.
func newSum(dim int, grid float64) *sum {
	return &sum{claim: gaussian(1 / math.Sqrt(float64(dim))), dim: dim, grid: grid, clip: clipped, noise: normal,
		last: func(total, noise float64) float64 { return total + noise }}
}

// additions is a sum whose records come and go.
func additions() *sum {
	m := newSum(1, 0)
	m.claim = event(accountant.Gaussian(accountant.AddRemove, 2))
	return m
}

// onItsGrid has the noise and the total on a grid, or low bits would tell records apart.
func onItsGrid(m *sum) *sum {
	m.grid = 0x1p-30
	return m
}

// half is a sum whose records come and go.
type half struct{ additive }

func (half) Sensitivity() float64 { return 1 }

// form is how a mechanism is offered to the check.
type form struct {
	name string
	dim  int
	grid float64
	bare bool // no Additive
}

var (
	plain  = form{"additive", 1, 0, false}
	grid   = form{"on a grid", 1, 0x1p-30, false}
	wide   = form{"of three numbers", 3, 0x1p-30, false}
	bare   = form{"not additive", 1, 0, true}
	pair   = form{"of two numbers", 2, 0, true}
	triple = form{"of three numbers, not additive", 3, 0, true}
)

// mechanismCase is a mechanism on two data sets of so many features.
func mechanismCase(name, effect string, m proptest.Mechanism, features int, a, b []float64) Case {
	return Case{Name: name, Effect: effect,
		Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
			proptest.CheckMechanism(t, m, proptest.MechanismOptions{Delta: 1e-6, Seed: seed, Effort: effort,
				A: curator.Records{X: a, Features: features}, B: curator.Records{X: b, Features: features}})
		}}
}

func mechanism(name, effect string, f form, plant func(m *sum)) Case {
	a, b := make([]float64, 2*f.dim), make([]float64, 2*f.dim)
	for j := range f.dim {
		a[j], b[j] = 1, -1
	}
	if f.dim == 1 {
		a[1], b[1] = 0.3, 0.3
	}
	return Case{Name: name + ", " + f.name, Effect: effect,
		Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
			m := newSum(f.dim, f.grid)
			plant(m)
			var offered proptest.Mechanism = additive{m}
			if f.bare {
				offered = m
			}
			mechanismCase("", "", offered, f.dim, a, b).Check(t, seed, effort)
		}}
}

// noise is a case whose noise is spoilt.
func noise(name, effect string, f form, draw noises) Case {
	return mechanism(name, effect, f, func(m *sum) { m.noise = draw })
}

func mechanismControls() []Case {
	none := func(*sum) {}
	return append([]Case{
		mechanism("sum", "", plain, none),
		mechanism("sum", "", grid, none),
		mechanism("sum", "", wide, none),
		mechanism("sum", "", bare, none),
		noise("more noise than claimed", "", plain, sized(1.3)),
		mechanism("a far tail becomes one value", "", bare, func(m *sum) { // as anything may that is released
			m.last = func(total, noise float64) float64 {
				return either(total+noise > 1.3+3.9*noiseSD, 0.5, total+noise)
			}
		}),
		bit("bit", "", bits{scale: 1}),
	}, unusualMechanisms()...)
}
