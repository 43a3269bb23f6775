package planted

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

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
	grid  float64 // of releases; 0 for none
	// clip is what each value becomes; noise draws that of release i.
	clip  func(i int, x float64) float64
	noise func(m *sum, rng *rand.Rand, i int, total float64) float64
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

// form is how a mechanism is offered to the check.
type form struct {
	name string
	dim  int
	grid float64
	bare bool // no Additive
}

var (
	plain = form{"additive", 1, 0, false}
	grid  = form{"on a grid", 1, 0x1p-30, false}
	wide  = form{"of three numbers", 3, 0x1p-30, false}
	bare  = form{"not additive", 1, 0, true}
)

// mechanismCase is a mechanism on two data sets of so many features.
func mechanismCase(name, effect string, m proptest.Mechanism, features int, a, b []float64) Case {
	return Case{Name: name, Effect: effect,
		Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
			proptest.CheckMechanism(t, m, proptest.MechanismOptions{Delta: 1e-6, Seed: seed, Effort: effort,
				A: curator.Records{X: a, Features: features}, B: curator.Records{X: b, Features: features}})
		}}
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

// truncated is noise without what lies beyond so many standard deviations, periodic comes again,
// and lagged is correlated with that so many draws before.
func truncated(at float64) func(m *sum, rng *rand.Rand, i int, total float64) float64 {
	return func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
		for {
			if z := rng.NormFloat64(); math.Abs(z) < at {
				return noiseSD * z
			}
		}
	}
}

func periodic(n int) func(m *sum, rng *rand.Rand, i int, total float64) float64 {
	return func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
		if len(m.kept) < n {
			m.kept = append(m.kept, noiseSD*rng.NormFloat64())
		}
		return m.kept[i%n]
	}
}

func lagged(lag int, rho float64) func(m *sum, rng *rand.Rand, i int, total float64) float64 {
	return func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
		z := rng.NormFloat64()
		if n := len(m.kept); n >= lag {
			z = rho*m.kept[n-lag] + math.Sqrt(1-rho*rho)*z
		}
		m.kept = append(m.kept, z)
		return noiseSD * z
	}
}

func noiseDefects() (all []Case) {
	add := func(name, effect string, f form, noise func(m *sum, rng *rand.Rand, i int, total float64) float64) {
		all = append(all, mechanism(name, effect, f, func(m *sum) { m.noise = noise }))
	}
	scaled := func(by float64) func(m *sum, rng *rand.Rand, i int, total float64) float64 {
		return func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 { return by * noiseSD * rng.NormFloat64() }
	}
	add("noise too small", "10%", plain, scaled(0.9))
	add("noise too small", "3%", plain, scaled(0.97))
	add("noise too small", "1%", grid, scaled(0.99))
	add("noise too small", "1%", wide, scaled(0.99))
	add("noise too small", "10%", bare, scaled(0.9))
	add("noise too small", "5%", bare, scaled(0.95))
	mixed := func(p float64, other func(rng *rand.Rand, total float64) float64) func(m *sum, rng *rand.Rand, i int,
		total float64) float64 {
		return func(_ *sum, rng *rand.Rand, _ int, total float64) float64 {
			z := noiseSD * rng.NormFloat64()
			if rng.Float64() < p {
				return other(rng, total)
			}
			return z
		}
	}
	zero := func(*rand.Rand, float64) float64 { return 0 }
	add("an atom at 0", "1%", plain, mixed(0.01, zero))
	add("an atom at 0", "0.1%", grid, mixed(0.001, zero))
	add("an atom at 0", "1%", bare, mixed(0.01, zero))
	add("an atom at 0", "0.1%", bare, mixed(0.001, zero))
	add("an atom at 1.5 sd", "0.5%", plain, mixed(0.005, func(*rand.Rand, float64) float64 { return 3 }))
	add("Laplace noise of the same sd", "shape", grid, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
		return noiseSD / math.Sqrt2 * (rng.ExpFloat64() - rng.ExpFloat64())
	})
	add("uniform noise of the same sd", "shape", plain, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
		return noiseSD * math.Sqrt(12) * (rng.Float64() - 0.5)
	})
	add("sum of twelve uniforms", "tails", plain, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
		s := -6.0
		for range 12 {
			s += rng.Float64()
		}
		return noiseSD * s
	})
	add("tails cut off", "at 3 sd", plain, truncated(3))
	add("tails cut off", "at 4 sd", wide, truncated(4))
	add("one tail folded", "beyond 3 sd", grid, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
		z := rng.NormFloat64()
		if z > 3 {
			z = -z
		}
		return noiseSD * z
	})
	add("a hole in the body", "width 0.05 sd", plain, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
		for {
			if z := rng.NormFloat64(); math.Abs(z-0.5) > 0.025 {
				return noiseSD * z
			}
		}
	})
	add("a mixture of two sds", "0.8 and 1.17", plain, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
		return []float64{0.8, 1.166}[rng.IntN(2)] * noiseSD * rng.NormFloat64()
	})
	add("noise on a coarser grid", "×2", grid, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
		return 0x1p-29 * math.Round(noiseSD*rng.NormFloat64()/0x1p-29)
	})
	add("noise on a much coarser grid", "×4096", grid, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
		return 0x1p-18 * math.Round(noiseSD*rng.NormFloat64()/0x1p-18)
	})
	add("bit 3 of the noise stuck", "half", grid, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
		k := int64(math.Round(noiseSD * rng.NormFloat64() / 0x1p-30))
		if rng.IntN(2) == 0 {
			k &^= 8
		}
		return float64(k) * 0x1p-30
	})
	return all
}

func dependenceDefects() (all []Case) {
	add := func(name, effect string, f form, noise func(m *sum, rng *rand.Rand, i int, total float64) float64) {
		all = append(all, mechanism(name, effect, f, func(m *sum) { m.noise = noise }))
	}
	again := func(every int) func(m *sum, rng *rand.Rand, i int, total float64) float64 {
		return func(m *sum, rng *rand.Rand, i int, total float64) float64 {
			z := noiseSD * rng.NormFloat64()
			if len(m.kept) == 0 {
				m.kept = []float64{z}
			}
			if i%every == every-1 {
				z = m.kept[0]
			}
			m.kept[0] = z
			return z
		}
	}
	add("noise repeated every second release", "half", plain, again(2))
	add("noise repeated every 100th release", "1%", plain, again(100))
	add("noise repeated every 100th release", "1%", bare, again(100))
	add("noise of period 4096", "all", grid, periodic(4096))
	add("noise correlated with the last", "0.1", plain, lagged(1, 0.1))
	add("noise correlated with the last", "0.03", bare, lagged(1, 0.03))
	add("antithetic pairs", "−1", plain, func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
		z := noiseSD * rng.NormFloat64()
		if i%2 == 1 {
			return -m.kept[0]
		}
		m.kept = []float64{z}
		return z
	})
	add("antithetic pairs from the second release on", "−1", plain, func(m *sum, rng *rand.Rand, i int,
		_ float64) float64 {
		z := noiseSD * rng.NormFloat64()
		if i%2 == 0 && i > 0 {
			return -m.kept[0]
		}
		m.kept = []float64{z}
		return z
	})
	add("noise shrinks late", "5% in the last fifth", bare, func(_ *sum, rng *rand.Rand, i int, _ float64) float64 {
		z := noiseSD * rng.NormFloat64()
		z *= either(i > 32_000, 0.9, 1)
		return z
	})
	add("coordinates share noise", "correlation 0.05", wide, func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
		z := rng.NormFloat64()
		if len(m.kept) == 0 {
			m.kept = []float64{z}
		}
		v := math.Sqrt(1-0.0025)*z + 0.05*m.kept[0]
		m.kept[0] = z
		return noiseSD * v
	})
	all = append(all, mechanism("the seed is ignored", "all", plain, func(m *sum) {
		m.seeds = func(uint64) uint64 { return 1 }
	}))
	all = append(all, mechanism("randomness of its own", "10⁻⁹", plain, func(m *sum) {
		m.last = func(total, noise float64) float64 { return total + noise + 1e-9*rand.Float64() }
	}))
	return all
}

func dataDefects() (all []Case) {
	add := func(name, effect string, f form, plant func(m *sum)) {
		all = append(all, mechanism(name, effect, f, plant))
	}
	noise := func(f func(rng *rand.Rand, i int, total float64) float64) func(m *sum) {
		return func(m *sum) {
			m.noise = func(_ *sum, rng *rand.Rand, i int, total float64) float64 { return f(rng, i, total) }
		}
	}
	add("noise smaller for one data set", "2%", plain, noise(func(rng *rand.Rand, _ int, total float64) float64 {
		return either(total > 0.5, 0.98, 1) * noiseSD * rng.NormFloat64()
	}))
	add("noise left out at 1/1000 for one data set", "0.1%", plain,
		noise(func(rng *rand.Rand, i int, total float64) float64 {
			z := noiseSD * rng.NormFloat64()
			return either(i%1000 == 999 && total > 0, 0, z)
		}))
	add("noise of another sign for one data set", "sign", plain, noise(func(rng *rand.Rand, _ int, total float64) float64 {
		z := noiseSD * rng.NormFloat64()
		return either(total > 0, -z, z)
	}))
	bit := func(m *sum) {
		m.last = func(total, noise float64) float64 {
			b := math.Float64bits(total+noise) &^ 1
			if total > 0 {
				b |= 1
			}
			return math.Float64frombits(b)
		}
	}
	add("the lowest bit is the record's", "1 bit", bare, bit)
	add("the low eight bits are the record's", "8 bits", bare, func(m *sum) {
		m.last = func(total, noise float64) float64 {
			b := math.Float64bits(total+noise) &^ 255
			return math.Float64frombits(b | uint64(int64(total*50))&255)
		}
	})
	add("the lowest grid bit is the record's", "1 bit", grid, func(m *sum) {
		m.last = func(total, noise float64) float64 {
			k := int64(math.Round((total+noise)/0x1p-30)) &^ 1
			if total > 0 {
				k |= 1
			}
			return float64(k) * 0x1p-30
		}
	})
	add("a sign that follows the record", "60%", bare, noise(func(rng *rand.Rand, _ int, total float64) float64 {
		z := noiseSD * rng.NormFloat64()
		return either(z*total < 0 && rng.Float64() < 0.3, -z, z)
	}))
	add("clip not applied beyond 10⁴", "huge records", plain, func(m *sum) {
		m.clip = func(_ int, x float64) float64 {
			return either(math.Abs(x) > 1e4 && !math.IsInf(x, 0), 2*math.Copysign(1, x), clipped(0, x))
		}
	})
	add("the last record is not clipped", "one place", plain, func(m *sum) {
		m.clip = func(i int, x float64) float64 {
			return either(i == 1 && !math.IsNaN(x), max(-10, min(10, x)), clipped(0, x))
		}
	})
	add("clip 5% too wide", "5%", plain, func(m *sum) {
		m.clip = func(_ int, x float64) float64 {
			return either(math.IsNaN(x), 0, max(-1.05, min(x, 1.05)))
		}
	})
	add("NaN counts as 3", "NaN", plain, func(m *sum) {
		m.clip = func(_ int, x float64) float64 {
			return either(math.IsNaN(x), 3, clipped(0, x))
		}
	})
	add("−Inf gives NaN", "NaN", plain, func(m *sum) {
		m.clip = func(_ int, x float64) float64 {
			return either(math.IsInf(x, -1), math.NaN(), clipped(0, x))
		}
	})
	add("an error for NaN", "error", bare, func(m *sum) {
		m.check = func(r curator.Records) error {
			for _, x := range r.X {
				if math.IsNaN(x) {
					return errors.New("a record is NaN")
				}
			}
			return nil
		}
	})
	add("a panic for huge records", "panic", bare, func(m *sum) {
		m.check = func(r curator.Records) error {
			for _, x := range r.X {
				if x > 1e200 {
					panic(fmt.Sprint(x))
				}
			}
			return nil
		}
	})
	add("sorts its records", "writes", bare, func(m *sum) {
		m.check = func(r curator.Records) error {
			slices.Sort(r.X)
			return nil
		}
	})
	add("claims less from the second call on", "half", bare, func(m *sum) {
		m.check = func(curator.Records) error {
			m.claim = gaussian(2)
			return nil
		}
	})
	add("price of add/remove", "half the sensitivity", plain, func(m *sum) { m.claim = gaussian(2) })
	add("price 5% too low", "5%", plain, func(m *sum) { m.claim = gaussian(1.05) })
	add("price 10% too low", "10%", bare, func(m *sum) { m.claim = gaussian(1.1) })
	return all
}

// bits is an acceptance bit of the sum: log-odds scale·total + offset.
type bits struct {
	claim   accountant.Event
	scale   float64
	certain float64 // the probability of a bit without any noise
	twin    bool    // every twentieth bit repeats the one before
	every   int     // every so manieth bit has no noise; 0 for none
	probit  float64 // the offset of a probit that takes the logistic's place; 0 for none
	ones    int     // after so many ones comes a zero; 0 for none
}

func (b bits) Claim() accountant.Event { return b.claim }

func (b bits) Release(r curator.Records, seed uint64, count int) ([][]float64, error) {
	total := 0.0
	for i, x := range r.X {
		total += clipped(i, x)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	all := make([][]float64, count)
	ones := 0
	for i := range all {
		all[i] = []float64{0}
		p := 1 / (1 + math.Exp(-b.scale*total/2))
		if b.probit > 0 {
			p = math.Erfc(-(total/2+b.probit)/math.Sqrt2) / 2
		}
		if b.certain > 0 && rng.Float64() < b.certain || b.every > 0 && i%b.every == b.every-1 {
			p = math.Round(p)
		}
		if rng.Float64() < p {
			all[i][0] = 1
		}
		if b.twin && i%20 == 19 {
			all[i][0] = all[i-1][0]
		}
		if b.ones > 0 && ones == b.ones {
			all[i][0] = 0
		}
		if ones++; all[i][0] == 0 {
			ones = 0
		}
	}
	return all, nil
}

func bit(name, effect string, b bits) Case {
	b.claim = event(accountant.Bit{Contribution: 0.5}.Event(accountant.Substitute)) // contributions of at most ½ each way
	return mechanismCase(name, effect, b, 1, []float64{1, 0}, []float64{-1, 0})
}

func bitDefects() []Case {
	return []Case{
		bit("log-odds too steep", "10%", bits{scale: 1.1}),
		bit("log-odds too steep", "5%", bits{scale: 1.05}),
		bit("certain now and then", "10%", bits{scale: 1, certain: 0.1}),
		bit("one in twenty repeats the one before", "5%", bits{scale: 1, twin: true}),
	}
}

func mechanismControls() []Case {
	none := func(*sum) {}
	return []Case{
		mechanism("sum", "", plain, none),
		mechanism("sum", "", grid, none),
		mechanism("sum", "", wide, none),
		mechanism("sum", "", bare, none),
		mechanism("more noise than claimed", "", plain, func(m *sum) {
			m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 { return 1.3 * noiseSD * rng.NormFloat64() }
		}),
		mechanism("a far tail becomes one value", "", bare, func(m *sum) { // as anything may that is released
			m.last = func(total, noise float64) float64 {
				return either(total+noise > 1.3+3.9*noiseSD, 0.5, total+noise)
			}
		}),
		bit("bit", "", bits{scale: 1}),
	}
}
