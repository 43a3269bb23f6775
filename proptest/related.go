package proptest

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/curator"
)

// relations make a record of two others.
var relations = []func(dst, a, b []float64){
	eachOf(func(a, _ float64) float64 { return 2 * a }),
	eachOf(func(a, _ float64) float64 { return -a }),
	eachOf(func(a, _ float64) float64 { return 3 * a }),
	eachOf(func(a, _ float64) float64 { return 10 * a }),
	eachOf(func(a, _ float64) float64 { return 1 / a }),
	eachOf(func(a, _ float64) float64 { return a * a }),
	eachOf(func(a, _ float64) float64 { return math.Abs(a) }),
	eachOf(func(a, _ float64) float64 { return math.Round(a) }),
	eachOf(func(a, _ float64) float64 { return a + 1 }),
	eachOf(func(a, _ float64) float64 { return 1 - a }),
	eachOf(func(a, b float64) float64 { return a + b }),
	eachOf(func(a, b float64) float64 { return a - b }),
	eachOf(func(a, b float64) float64 { return a * b }),
	eachOf(func(a, b float64) float64 { return (a + b) / 2 }),
	eachOf(func(a, b float64) float64 { return 2*a - b }),
	eachOf(math.Max),
	eachOf(math.Min),
	func(dst, a, _ []float64) { // the other way round
		copy(dst, a)
		slices.Reverse(dst)
	},
	func(dst, a, b []float64) { // as long as another
		copy(dst, a)
		times(dst, norm(b)/norm(a))
	},
	func(dst, a, _ []float64) { // one number again and again
		fill(dst, a[0])
	},
	func(dst, a, _ []float64) { // a sum of 0
		copy(dst, a)
		dst[0] = 0
		for _, v := range a[1:] {
			dst[0] -= v
		}
	},
}

// eachOf makes each number of the numbers in its place.
func eachOf(of func(a, b float64) float64) func(dst, a, b []float64) {
	return func(dst, a, b []float64) {
		for j := range dst {
			dst[j] = of(a[j], b[j])
		}
	}
}

// relatives are records as far out as those of r, whole ones now and then, many of which a relation makes of two
// before, and so with responses: what a kernel does where one record is twice another shows in no records at random.
func relatives(r curator.Records, relation func(dst, a, b []float64), rng *rand.Rand) curator.Records {
	relate := func(v []float64, size int) {
		elsewhere(rng, v)
		if rng.IntN(3) == 0 {
			for i := range v {
				v[i] = math.Round(v[i])
			}
		}
		for i := size; i+size <= len(v); i += size {
			if rng.IntN(2) == 0 {
				a, b := size*rng.IntN(i/size), size*rng.IntN(i/size)
				relation(v[i:i+size], v[a:a+size], v[b:b+size])
			}
		}
	}
	return edited(r, func(x, y []float64) {
		relate(x, max(1, r.Features))
		relate(y, 1)
	})
}

// replayRelated replays over records that are made of each other, by each relation.
func (c kernelCheck) replayRelated() {
	c.t.Helper()
	base, rng := c.o.Seed, rand64(c.o.Seed, 48)
	for i := range c.o.Effort.times(4*len(relations), len(relations)) {
		c.o.Seed = base + uint64(2000+i)
		to := relatives(c.o.Records, relations[i%len(relations)], rng)
		c.compare(c.o.Records, to, c.o.Steps, "when its releases are replayed over records of which some are made of others")
	}
}
