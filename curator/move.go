package curator

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/internal/core/noise"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// Move is what the curator knows of the moves whose acceptance it decides.
// The zero value knows nothing, which leaves only bounds that hold for every
// move.
type Move struct {
	kind  moveKind
	scale float64
	shape *shape // of shaped moves
}

type moveKind uint8

const (
	anyMove moveKind = iota
	isotropicMove
	coordinateMove
	boundedMove
	shapedMove
)

// Isotropic moves are drawn by the curator from N(0, scale²·I), with fresh
// randomness that it publishes. Because the curator draws them after sealing,
// a chain pays for the average move instead of the worst one (theory 2.7).
func Isotropic(scale float64) Move { return Move{kind: isotropicMove, scale: scale} }

// Coordinate moves change one coordinate, chosen uniformly, by N(0, scale²);
// the curator draws them like Isotropic ones.
func Coordinate(scale float64) Move { return Move{kind: coordinateMove, scale: scale} }

// Within allows any move of Euclidean length at most radius, drawn by the
// sampler from whatever public randomness it has.
func Within(radius float64) Move { return Move{kind: boundedMove, scale: radius} }

// Drawn reports whether the curator draws the moves.
func (m Move) Drawn() bool {
	return m.kind == isotropicMove || m.kind == coordinateMove || m.kind == shapedMove
}

// String describes the move.
func (m Move) String() string {
	switch m.kind {
	case isotropicMove:
		return fmt.Sprintf("isotropic Gaussian moves of scale %v", m.scale)
	case coordinateMove:
		return fmt.Sprintf("one-coordinate Gaussian moves of scale %v", m.scale)
	case shapedMove:
		return fmt.Sprintf("shaped Gaussian moves of scale %v", m.scale)
	case boundedMove:
		return fmt.Sprintf("moves of length at most %v", m.scale)
	}
	return "any move"
}

func (m Move) check() error {
	if m.kind != anyMove && (!(m.scale > 0) || math.IsInf(m.scale, 0)) {
		return fmt.Errorf("curator: %v: the scale must be positive and finite", m)
	}
	return nil
}

// longestMove bounds a drawn move by this many scales in any one direction.
// Longer ones are clipped like any large contribution, which only lowers what
// a record can do; their probability is below 10⁻⁵⁶.
const longestMove = 16

// draw adds a move to theta, giving next, and writes the move itself to step.
func (m Move) draw(step, next, theta []float64, src *noise.Source) {
	if m.kind == coordinateMove {
		clear(step)
		step[noise.Uint64n(src, uint64(len(step)))] = m.scale * noise.StandardNormal(src)
	} else {
		for j := range step {
			step[j] = m.scale * noise.StandardNormal(src)
		}
	}
	if m.kind == shapedMove {
		m.shape.apply(step)
	}
	for j, t := range theta {
		next[j] = t + step[j]
	}
}

// accepts reports an error for a sampler's move that the mechanism does not
// allow. Moves are public, so the error is too.
func (m Move) accepts(step []float64) error {
	if m.kind != boundedMove {
		return nil
	}
	if length := record.Norm(step); !(length <= m.scale) {
		return fmt.Errorf("curator: a move of length %v was proposed where moves of at most %v were paid for",
			length, m.scale)
	}
	return nil
}
