package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/targets"
)

// State is where a chain is: what the next step needs.
type State struct {
	// Theta is the current parameter vector. A kernel changes it in place.
	Theta []float64
	// Iteration is the number of steps made, counting rejected ones.
	Iteration int64
}

// Info is what an observer may want to know of a step. It holds released
// values and public facts only: never an exact log posterior, an acceptance
// probability or a clip count.
type Info struct {
	// Accepted reports whether the chain moved; always true for kernels without
	// an acceptance test.
	Accepted bool
	// StepSize is the public scale of the step.
	StepSize float64
	// Gradients is the number of gradient releases the step used.
	Gradients int
}

// Kernel is one chain's transition, over records that only its curator sees.
// A Kernel belongs to one chain and is not safe for concurrent use.
type Kernel interface {
	// Name is the kernel's name as files and certificates print it.
	Name() string
	// Dim is the number of parameters.
	Dim() int
	// Init returns the state of a chain that starts at theta, which is copied, and
	// forgets what the kernel remembers of an earlier one.
	// It reads no record. Errors: a wrong length, a value that is not finite or
	// has zero prior density.
	Init(theta []float64) (*State, error)
	// Step makes one transition in place. rng supplies the chain's public
	// randomness; what the curator draws is its own. On an error the state is
	// unchanged. Step allocates nothing.
	Step(rng *rand.Rand, s *State) (Info, error)
	// Left is the number of steps still paid for.
	Left() int64
}

// Keeper is a Kernel whose next step depends on more than its State: on what it drew or
// was given by earlier steps, such as a momentum. What it remembers holds released
// values and public randomness only, so that it may be written out. A chain that goes
// on in another process needs it, its State and its stream.
type Keeper interface {
	Kernel
	// Keep appends what the kernel remembers to dst: nothing before its first step, and
	// finite values.
	Keep(dst []float64) []float64
	// Recall has a kernel go on with what another one kept, after Init. Nothing stands for
	// a chain that has made no step. Errors: a memory that is none of this kernel's.
	Recall(memory []float64) error
}

// Keep returns what a kernel remembers; nothing for one that is no Keeper.
func Keep(k Kernel) []float64 {
	if keeper, ok := k.(Keeper); ok {
		return keeper.Keep(nil)
	}
	return nil
}

// Recall has a kernel go on with what Keep returned.
func Recall(k Kernel, memory []float64) error {
	if len(memory) == 0 {
		return nil
	}
	keeper, ok := k.(Keeper)
	if !ok {
		return fmt.Errorf("kernels: %d values were kept for the kernel %s, which keeps none", len(memory), k.Name())
	}
	return keeper.Recall(memory)
}

// NewState returns the state of a chain that starts at theta, after checking
// that theta is a finite point where the target's prior is positive.
func NewState(t targets.Target, theta []float64) (*State, error) {
	if len(theta) != t.Dim() {
		return nil, fmt.Errorf("the start has %d values, the target %d parameters", len(theta), t.Dim())
	}
	for j, v := range theta {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("value %d of the start is %v; it must be finite", j+1, v)
		}
	}
	if lp := t.LogPrior(theta); math.IsNaN(lp) || math.IsInf(lp, 0) {
		return nil, fmt.Errorf("the start has log prior density %v; choose a point inside the prior's support", lp)
	}
	return &State{Theta: slices.Clone(theta)}, nil
}
