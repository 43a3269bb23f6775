package planted

import (
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// answers is a mechanism that is a function of its records and a stream.
type answers struct {
	claim accountant.Event
	// begin is called once a call; it returns what makes one release.
	begin func(x []float64, rng *rand.Rand) func() []float64
	seed  func(seed uint64, i int) uint64 // of release i; nil: one stream a call
}

func (m answers) Claim() accountant.Event { return m.claim }

func (m answers) Release(r curator.Records, seed uint64, count int) ([][]float64, error) {
	rng, all := rand.New(rand.NewPCG(seed, 3)), make([][]float64, count)
	next := m.begin(r.X, rng)
	for i := range all {
		if m.seed != nil {
			next = m.begin(r.X, rand.New(rand.NewPCG(m.seed(seed, i), 3)))
		}
		all[i] = next()
	}
	return all, nil
}

// shared is a mechanism of answers whose noise depends on the seed alone.
type shared struct {
	answers
	sensitivity float64
}

func (m shared) Sensitivity() float64 { return m.sensitivity }
func (m shared) Step() float64        { return 0 }

// releases is answers whose releases are functions of the stream, each of them.
func releases(claim accountant.Event, release func(x []float64, rng *rand.Rand) []float64) answers {
	return answers{claim: claim, begin: eachRelease(release)}
}

func eachRelease(release func(x []float64, rng *rand.Rand) []float64) func(x []float64,
	rng *rand.Rand) func() []float64 {
	return func(x []float64, rng *rand.Rand) func() []float64 {
		return func() []float64 { return release(x, rng) }
	}
}

// one is a case of single numbers.
func one(name, effect string, m proptest.Mechanism, a, b []float64) Case {
	return mechanismCase(name, effect, m, 1, a, b)
}

// gone is a case whose first record is not in the second table.
func gone(name, effect string, m proptest.Mechanism) Case {
	return one(name, effect, m, []float64{1, 0.3, -0.2}, []float64{0.3, -0.2})
}

// ofEight is a case of eight records, and ofSeven one without the first of them.
var seven = []float64{0.3, -0.2, 0.4, -0.6, 0.2, -0.4, 0.1}

func ofEight(name, effect string, m proptest.Mechanism) Case {
	return one(name, effect, m, append([]float64{1}, seven...), append([]float64{-1}, seven...))
}

func ofSeven(name, effect string, m proptest.Mechanism) Case {
	return one(name, effect, m, append([]float64{1}, seven...), seven)
}

// The first record of these is another one in the other table.
var (
	plus, minus     = []float64{1, 0.3}, []float64{-1, 0.3}
	five, otherFive = []float64{1, 0.3, -0.2, 0.5, -1}, []float64{-1, 0.3, -0.2, 0.5, -1}
)

func ofFive(name, effect string, m proptest.Mechanism) Case {
	return one(name, effect, m, five, otherFive)
}

func clip1(x []float64) float64 {
	total := 0.0
	for _, v := range x {
		total += clipped(0, v)
	}
	return total
}

func laplace(rng *rand.Rand, scale float64) float64 {
	return scale * (rng.ExpFloat64() - rng.ExpFloat64())
}

func noisy(sum []float64, draw func() float64) []float64 {
	for j := range sum {
		sum[j] += draw()
	}
	return sum
}

// sortedClipped is the clipped records in order.
func sortedClipped(x []float64) []float64 {
	sorted := make([]float64, len(x))
	for i, v := range x {
		sorted[i] = clipped(i, v)
	}
	slices.Sort(sorted)
	return sorted
}

// noisyTotal is a function of the records with normal noise for a sensitivity of 2.
func noisyTotal(of func(x []float64) float64) answers {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		return []float64{of(x) + noiseSD*rng.NormFloat64()}
	})
}
