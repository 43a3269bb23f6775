package anchors

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// replay is a chain whose states have been drawn already, from a density that sees no
// record.
type replay struct {
	name   string
	target targets.Target
	draws  [][]float64
	left   int64
}

var _ kernels.Kernel = (*replay)(nil)

func (k *replay) Name() string { return k.name }
func (k *replay) Dim() int     { return k.target.Dim() }
func (k *replay) Left() int64  { return k.left }

func (k *replay) Init(theta []float64) (*kernels.State, error) {
	s, err := kernels.NewState(k.target, theta)
	if err != nil {
		return nil, fmt.Errorf("anchors: %w", err)
	}
	return s, nil
}

var errPlayed = errors.New("anchors: every draw of this chain has been used; ask for more Iterations")

// Step goes to the next draw. Where more were made than steps asked for, they are the
// last ones.
func (k *replay) Step(_ *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if k.left == 0 {
		return kernels.Info{}, errPlayed
	}
	copy(s.Theta, k.draws[int64(len(k.draws))-k.left])
	k.left--
	s.Iteration++
	return kernels.Info{Accepted: true}, nil
}
