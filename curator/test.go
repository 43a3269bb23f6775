package curator

// Proof: docs/proofs/acceptance.md.

import (
	"fmt"
	"sync"

	"github.com/dpmcmc/dpmcmc/internal/accept"
)

// Test is an acceptance test: the probability a(u) of accepting a move whose log-odds are
// u. The zero value is Barker's: accept when u plus standard logistic noise is positive,
// a(u) = 1/(1+e⁻ᵘ). Detailed balance is exact on the full data. On batches the batch's
// noise comes on top.
type Test struct {
	// Corrected, if not 0, is Barker's test with the logistic noise split into
	// N(0, Corrected) and a fitted mixture (Heikkilä et al. 2019). On batches the batch's own
	// variance, clamped at half of that, is taken out of the Gaussian part, so that the chain
	// is not biased by it. There are fits for 0.5, 1, 1.5 and 2.
	Corrected float64
	// Penalty, if not 0, is the penalty test with Gaussian noise of this variance (Ceperley
	// and Dewing 1999; Yıldırım and Ermiş 2019), of which only the decision is released:
	// accept when u + N(0, Penalty) + E − Penalty/2 > 0, E ~ Exp(1). Detailed balance is exact
	// on the full data, where it may be 0.25 to 9. On batches the batch's own variance,
	// clamped at half of it, is absorbed, and beyond log-odds of ±4 the test is continued
	// exponentially. A larger variance makes a lazier chain whose decisions say less.
	Penalty float64
}

type testKind uint8

const (
	logisticTest testKind = iota
	correctedTest
	penaltyTest
)

func (t Test) kind() testKind {
	switch {
	case t.Penalty != 0:
		return penaltyTest
	case t.Corrected != 0:
		return correctedTest
	}
	return logisticTest
}

// variance is that of the Gaussian part.
func (t Test) variance() float64 {
	if t.kind() == penaltyTest {
		return t.Penalty
	}
	return t.Corrected
}

// String describes the test.
func (t Test) String() string {
	switch t.kind() {
	case correctedTest:
		return fmt.Sprintf("Gaussian-mixture corrected test of variance %v", t.variance())
	case penaltyTest:
		return fmt.Sprintf("penalty test of variance %v", t.variance())
	}
	return "exact logistic test"
}

// maxLogOdds is where the noisy tests stop being evaluated and are continued
// exponentially; steeper slopes further out would only raise their price. A
// penalty test steepens as u grows, so on batches it stops earlier; on the full
// data its price is a direct supremum that needs no end (docs/proofs/penalty.md).
func (t Test) maxLogOdds(b Batch) float64 {
	switch {
	case t.kind() != penaltyTest:
		return 8
	case b.IsFull():
		return 32
	}
	return 4
}

// batchVariance is the largest batch variance the test takes out of its noise.
func (t Test) batchVariance(b Batch) float64 {
	if b.IsFull() || t.kind() == logisticTest {
		return 0
	}
	return t.variance() / 2
}

// built remembers tests, whose Lipschitz constants are certified numerically.
var built sync.Map // builtKey → accept.Test

type builtKey struct {
	test        Test
	maxVariance float64
}

// build returns the test's acceptance function for batches of the given kind.
func (t Test) build(b Batch) (accept.Test, error) {
	if t.kind() == logisticTest {
		return accept.Logistic{}, nil
	}
	if t.Corrected != 0 && t.Penalty != 0 {
		return nil, fmt.Errorf("curator: the test has Corrected %v and Penalty %v; give one of them", t.Corrected, t.Penalty)
	}
	key := builtKey{t, t.batchVariance(b)}
	if v, ok := built.Load(key); ok {
		return v.(accept.Test), nil
	}
	made, err := t.make(key.maxVariance, t.maxLogOdds(b))
	if err != nil {
		return nil, fmt.Errorf("curator: %v: %w", t, err)
	}
	built.Store(key, made)
	return made, nil
}

func (t Test) make(maxVariance, maxLogOdds float64) (accept.Test, error) {
	if t.kind() == correctedTest {
		return accept.NewCorrected(t.variance(), maxVariance, maxLogOdds)
	}
	return accept.NewPenalty(t.variance(), maxVariance, maxLogOdds)
}
