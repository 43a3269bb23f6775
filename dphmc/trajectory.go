package dphmc

import "math"

// trajectory is a point in phase space that leapfrog steps move.
type trajectory struct {
	mass                         []float64
	position, momentum, gradient []float64
}

func newTrajectory(mass []float64) trajectory {
	dim := len(mass)
	return trajectory{mass: mass, position: make([]float64, dim), momentum: make([]float64, dim),
		gradient: make([]float64, dim)}
}

// leapfrog makes n steps of the given size from position and momentum, where
// gradient already holds the force. It calls force for the gradient of the log
// posterior at each new position. It reports false, having called force no
// further, once a position is not finite.
func (t *trajectory) leapfrog(size float64, n int, force func(gradient, position []float64) error) (finite bool,
	err error) {
	for range n {
		t.kick(size / 2)
		for j, p := range t.momentum {
			t.position[j] += float64(size * p / t.mass[j])
			if math.IsNaN(t.position[j]) || math.IsInf(t.position[j], 0) {
				return false, nil
			}
		}
		if err := force(t.gradient, t.position); err != nil {
			return false, err
		}
		t.kick(size / 2)
	}
	return true, nil
}

// kick advances the momentum.
func (t *trajectory) kick(size float64) {
	for j, g := range t.gradient {
		t.momentum[j] += float64(size * g)
	}
}

// kinetic is the kinetic energy Σ p²/2m.
func (t *trajectory) kinetic() float64 {
	sum := 0.0
	for j, p := range t.momentum {
		sum += float64(p * p / (2 * t.mass[j]))
	}
	return sum
}
