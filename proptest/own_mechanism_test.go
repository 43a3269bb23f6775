package proptest_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// ownMechanism answers "is the first record positive?" by randomised response.
type ownMechanism struct{ claim accountant.Event }

func (m ownMechanism) Claim() accountant.Event { return m.claim }

func (m ownMechanism) Release(r curator.Records, seed uint64, count int) ([][]float64, error) {
	rng, all := rand.New(rand.NewPCG(seed, 0)), make([][]float64, count)
	for i := range all {
		answer := 0.0
		if (r.X[0] > 0) != (rng.Float64() < 0.25) { // the truth, three times in four
			answer = 1
		}
		all[i] = []float64{answer}
	}
	return all, nil
}

func TestOwnMechanism(t *testing.T) {
	claim, err := accountant.RandomizedResponse(accountant.Substitute, 1.0987, 2) // log 3, rounded up
	if err != nil {
		t.Fatal(err)
	}
	proptest.CheckMechanism(t, ownMechanism{claim}, proptest.MechanismOptions{Effort: proptest.Quick, Delta: 1e-6,
		A: curator.Records{X: []float64{1, 0}, Features: 1}, B: curator.Records{X: []float64{-1, 0}, Features: 1}})
}
