package proptest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
)

// seededBy releases one number a seed, which of a release's place and the call's seed is made.
type seededBy struct {
	seed  func(seed uint64, i int) string
	whole bool // numbers come again by themselves
}

func (seededBy) Claim() accountant.Event {
	e, err := accountant.Gaussian(accountant.Substitute, 1)
	if err != nil {
		panic(err)
	}
	return e
}

func (m seededBy) Release(_ curator.Records, seed uint64, count int) ([][]float64, error) {
	all := make([][]float64, count)
	for i := range all {
		var key [32]byte
		copy(key[:], m.seed(seed, i))
		v := rand.New(rand.NewChaCha8(key)).NormFloat64()
		if m.whole {
			v = math.Round(v)
		}
		all[i] = []float64{v}
	}
	return all, nil
}

// TestPlainSeeds: calls that have releases in common are seen, wherever in them, and those of few values are not taken
// for such.
func TestPlainSeeds(t *testing.T) {
	for name, c := range map[string]struct {
		m     seededBy
		wrong bool
	}{
		"apart":           {seededBy{func(seed uint64, i int) string { return fmt.Sprint(seed, "/", i) }, false}, false},
		"of whole values": {seededBy{func(seed uint64, i int) string { return fmt.Sprint(seed, "/", i) }, true}, false},
		"joined":          {seededBy{func(seed uint64, i int) string { return fmt.Sprintf("%d%d", seed, i) }, false}, true},
		"added":           {seededBy{func(seed uint64, i int) string { return fmt.Sprint(seed + uint64(i)) }, false}, true},
		"in another order": {seededBy{func(seed uint64, i int) string { return fmt.Sprint(seed ^ uint64(i)) }, false},
			true},
		"without a sign": {seededBy{func(seed uint64, i int) string { return fmt.Sprint(min(seed, -seed), "/", i) }, false},
			true},
	} {
		onA, _ := c.m.Release(curator.Records{}, 5, 20_000)
		e := &evidence{}
		if err := plainCalls(e, c.m, onA, MechanismOptions{}); err != nil {
			t.Fatal(err)
		}
		if found := e.family() < 1e-8; found != c.wrong {
			t.Errorf("%s: p = %.2g, %s", name, e.family(), e.about)
		}
	}
}
