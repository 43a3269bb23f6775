package curator

import (
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/targets"
)

// broad has a square loss, and as many parameters as it says.
type broad struct {
	squareGrad
	dim int
}

var _ targets.GradTarget = broad{}

func (b broad) Dim() int { return b.dim }

// TestDimensionsBeyondTheProofsAreRefused: every mechanism has the largest dimension that
// its proof of rounding covers, and none above.
func TestDimensionsBeyondTheProofsAreRefused(t *testing.T) {
	facts := func(features int) Facts {
		return Facts{Records: 10, Features: features, Response: true, Radius: 1, RowsPerPerson: 1,
			Adjacency: accountant.Substitute}
	}
	bare := Facts{Records: 10, Features: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	for name, c := range map[string]struct {
		most  int
		event func(dim int) error
	}{
		"bit": {room.MostParameters, func(dim int) error {
			_, err := AcceptanceBit{Target: broad{dim: dim}, Clip: 0.1}.Event(bare)
			return err
		}},
		"thinned bit": {room.MostParameters, func(dim int) error {
			_, err := ThinnedBit{Target: broad{dim: dim}, Clip: 0.1, Rate: 0.5}.Event(bare)
			return err
		}},
		"ratio": {room.MostParameters, func(dim int) error {
			_, err := NoisyRatio{Target: broad{dim: dim}, Clip: 0.1, NoiseMultiplier: 1}.Event(bare)
			return err
		}},
		"gradient": {room.MostParameters, func(dim int) error {
			_, err := NoisyGradient{Target: broad{dim: dim}, Clip: 0.1, NoiseMultiplier: 1}.Event(bare)
			return err
		}},
		"signs": {room.MostParameters, func(dim int) error {
			_, err := GradientSigns{Target: broad{dim: dim}, Clip: 1e-9, Scale: 1}.Event(bare)
			return err
		}},
		"clip along a move": {mostAlong, func(dim int) error {
			f := facts(dim)
			f.Response = false
			_, err := AcceptanceBit{Target: newToy(dim), Proposal: Proposal{Scale: 1e-3}}.Event(f)
			return err
		}},
		"optimum": {mostFeatures, func(dim int) error {
			_, err := Optimum{Ridge: 1, NoiseMultiplier: 100}.Event(facts(dim))
			return err
		}},
		"second moments": {5792, func(dim int) error { // 5792·5793/2 < 2²⁴
			_, err := SecondMoment{NoiseMultiplier: 1}.Event(facts(dim))
			return err
		}},
	} {
		if err := c.event(c.most); err != nil {
			t.Errorf("%s of %d: %v", name, c.most, err)
		}
		if c.event(c.most+1) == nil {
			t.Errorf("%s of %d: priced", name, c.most+1)
		}
	}
}
