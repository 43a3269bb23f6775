package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/internal/accept"
)

const (
	spacing   = 0.125 // between candidate atoms
	reach     = 16.0  // of the candidate atoms
	step      = 0.05  // between the points where the two distributions are compared
	last      = 20.0  // of those points
	tailFloor = 0.1   // errors are weighted by 1/(tailFloor + tail probability)
	maxRounds = 40
)

// fit returns a correction for Gaussian variance c whose distribution function is
// within tolerance of the logistic one. It solves a non-negative least-squares
// problem over a dictionary of atom pairs, then, for as long as the largest error
// is above the tolerance, gives more weight to the points where the error is large
// (Lawson's reweighting, which tends to the minimax fit). The first fit within
// tolerance is the one wanted: later ones pay for a smaller largest error with
// worse tails and steeper log-odds.
func fit(c, tolerance float64) (accept.Mixture, error) {
	points := grid(step/2, last, step)
	weights := make([]float64, len(points))
	for i, x := range points {
		weights[i] = 1 / (tailFloor + logisticTail(x))
	}
	best := math.Inf(1)
	for range maxRounds {
		m := solve(c, points, weights)
		sup := m.SupError()
		if sup <= tolerance {
			return m, nil
		}
		best = min(best, sup)
		reweight(m, points, weights)
	}
	return accept.Mixture{}, fmt.Errorf("fit: at variance %v the best error is %v, above %v", c, best, tolerance)
}

// solve fits the atoms' weights by non-negative least squares on the distribution
// function, with the sum of the weights as one more, heavy, equation.
func solve(c float64, points, weights []float64) accept.Mixture {
	const sumWeight = 1e3
	means := grid(0, reach, spacing)
	a := mat.NewDense(len(points)+1, len(means), nil)
	b := make([]float64, len(points)+1)
	for j, mean := range means {
		single := accept.Mixture{C: c, Atoms: []accept.Atom{{Mean: mean, Weight: 1}}}
		for i, x := range points {
			a.Set(i, j, weights[i]*(0.5-single.Tail(x, c)))
		}
		a.Set(len(points), j, sumWeight)
	}
	for i, x := range points {
		b[i] = weights[i] * (0.5 - logisticTail(x))
	}
	b[len(points)] = sumWeight

	m := accept.Mixture{C: c}
	total := 0.0
	solution := nnls(a, b)
	for _, w := range solution {
		total += w
	}
	for j, w := range solution {
		if w > 0 {
			m.Atoms = append(m.Atoms, accept.Atom{Mean: means[j], Weight: w / total})
		}
	}
	return m
}

// reweight multiplies each weight by the square root of the error there, plus a
// little of the largest so that no point is forgotten.
func reweight(m accept.Mixture, points, weights []float64) {
	errors := make([]float64, len(points))
	worst := 0.0
	for i, x := range points {
		errors[i] = math.Abs(m.Tail(x, m.C) - logisticTail(x))
		worst = max(worst, errors[i])
	}
	for i, e := range errors {
		weights[i] *= math.Sqrt(e/worst + 0.05)
	}
}

// logisticTail returns P(Logistic(0,1) > x).
func logisticTail(x float64) float64 { return 1 / (1 + math.Exp(x)) }

// grid returns from, from+step, … up to to.
func grid(from, to, step float64) []float64 {
	points := make([]float64, int((to-from)/step)+1)
	for i := range points {
		points[i] = from + float64(i)*step
	}
	return points
}
