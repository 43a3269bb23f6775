package surrogates

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestClassesOfManyRecords: of 4·10⁴ records the error of few rows is more than noise and responses
// make. Truths are about as far from the posterior's centre as it says. The mean square of 112
// directions is about 1, and above 2.5 by chance less than once in 10⁹ runs. Few rows alone fail.
func TestClassesOfManyRecords(t *testing.T) {
	square, alone := 0.0, 0.0
	const sets, p = 4, mostClassNumbers + 2
	for seed := range uint64(sets) {
		c, truth := farClasses(rand.New(rand.NewPCG(seed, 7)), p, 40_000, 1, 1, 4, 0.5)
		post, err := NewClasses(c)
		if err != nil {
			t.Fatal(err)
		}
		square += meanSquare(post, truth) / sets
		for _, r := range post.rows { // a mutant
			r.many.pairs, r.many.known = r.pairs, r.known
		}
		if err := post.settle(); err != nil {
			t.Fatal(err)
		}
		alone += meanSquare(post, truth) / sets
	}
	t.Logf("mean squares of %.2f, and of few rows alone %.2f", square, alone)
	if square > 2.5 || alone <= 2.5 {
		t.Errorf("mean squares of %v, and of few rows alone %v; at most 2.5 and more are meant", square, alone)
	}
}

// meanSquare is that of contrasts of truths, in standard deviations from the centre.
func meanSquare(c *Classes, truth []float64) (square float64) {
	at, of := c.contrasts(c.mean), c.contrasts(truth)
	for j := range at {
		square += math.Pow((at[j]-of[j])/c.sdOf(j), 2) / float64(c.dim)
	}
	return square
}
