package curator

import (
	"errors"
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/core/room"
)

// TestReleasesDoNotNest: a program that sees its move drawn, and may look at the
// grant before it says what the prior makes of the move, cannot have another drawn
// in the meantime: the first would be decided along the second, so that of many
// moves all could be decided along the longest, while the average is paid for.
func TestReleasesDoNotNest(t *testing.T) {
	x := []float64{0.5, -1, 0.25, 1}
	m := AcceptanceBit{Target: newToy(1), Proposal: Proposal{Scale: 0.1}}
	c := seal(t, Records{X: x, Features: 1, Radius: 1})
	b := grantBits(t, c, m, 10)
	coordinate := m
	coordinate.Proposal = Proposal{Scale: 0.1, OneComponent: true}
	along := grantBits(t, c, coordinate, 10)
	thinned, err := Charge(c, ThinnedBit{Target: newToy(1), Proposal: Proposal{Scale: 0.1}, Rate: 0.9}, 10)
	if err != nil {
		t.Fatal(err)
	}
	for name, move := range map[string]func(next, theta []float64, logRatio func([]float64) float64) (bool, error){
		"Move": b.Move, "thinned": thinned.Move,
		"MoveAlong": func(next, theta []float64, logRatio func([]float64) float64) (bool, error) {
			return along.MoveAlong(next, theta, []float64{1}, logRatio)
		},
	} {
		g := map[string]*Bits{"Move": b, "thinned": thinned, "MoveAlong": along}[name]
		theta, next, other := []float64{0}, []float64{0}, []float64{0}
		var nested error
		_, err := move(next, theta, func([]float64) float64 {
			_, nested = move(other, theta, func([]float64) float64 { return 0 })
			return 0
		})
		if err != nil || !errors.Is(nested, room.ErrBusy) {
			t.Errorf("%s: a nested release returned %v, want room.ErrBusy; the first %v", name, nested, err)
		}
		if g.Left() != 9 || math.Abs(g.moveStep[0]-next[0]) > 1e-12 {
			t.Errorf("%s: %d left, decided along %v, moved by %v", name, g.Left(), g.moveStep, next)
		}
		// A callback that panics does not lock the grant.
		func() {
			defer func() { _ = recover() }()
			_, _ = move(next, theta, func([]float64) float64 { panic("the caller's") })
		}()
		if _, err := move(next, theta, func([]float64) float64 { return 0 }); err != nil || g.Left() != 7 {
			t.Errorf("%s: after a panic of the caller's: %v, %d left", name, err, g.Left())
		}
	}
}

// TestOptimaAndMomentsKeepToOneRelease: while one is under way in another
// goroutine, the next is refused and costs nothing.
func TestOptimaAndMomentsKeepToOneRelease(t *testing.T) {
	c := seal(t, Records{X: []float64{0.5, -1, 0.25, 1}, Y: []float64{0, 1, 1, 0}, Features: 1, Radius: 1})
	o, err1 := Charge(c, Optimum{Ridge: 1, NoiseMultiplier: 5}, 2)
	m, err2 := Charge(c, SecondMoment{NoiseMultiplier: 5}, 2)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]struct {
		prepaid
		release func([]float64) error
	}{"optima": {o.prepaid, o.Release}, "moments": {m.prepaid, func(dst []float64) error { return m.Release(dst, nil) }}} {
		if err := g.room.Enter(); err != nil {
			t.Fatal(err)
		}
		if err := g.release([]float64{0}); !errors.Is(err, room.ErrBusy) || g.Left() != 2 {
			t.Errorf("%s: a second release at once: %v, %d left", name, err, g.Left())
		}
		g.room.Leave()
		if err := g.release([]float64{0}); err != nil || g.Left() != 1 {
			t.Errorf("%s: %v, %d left", name, err, g.Left())
		}
		if err := g.room.Enter(); err != nil {
			t.Errorf("%s is busy after its release: %v", name, err)
		}
	}
}
