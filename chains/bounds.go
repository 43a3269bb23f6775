package chains

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/anchors"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// boundsDoubt is that of anchors of order 1 whose responses count as their bound beyond it:
// what that does to the mean gradient of records that are simulated at the draws' mean, with
// the bounds and without. Sums have cutDoubts.
func (r *Plan) boundsDoubt(m *models.Model, chains [][][]float64, seed uint64) []Doubt {
	target, ok := r.Problem.Target.(targets.GradTarget)
	if !ok || !families[r.Settings.Kernel].anchored || anchors.Order(target) != 1 || m.Shape == nil || !m.Simulates() ||
		!m.Shape.HasTarget() || m.Shape.Labels != nil || m.Shape.Target.Refused {
		return nil
	}
	mean, sd := spread(chains, target.Dim())
	if !finite(mean) {
		return nil
	}
	free, shape := *m, *m.Shape
	width := beyond * (shape.Target.Upper - shape.Target.Lower)
	shape.Target.Lower, shape.Target.Upper = shape.Target.Lower-width, shape.Target.Upper+width
	free.Shape = &shape
	rows := simulated(m, mean, rand.New(rand.NewPCG(seed, clipStream)))
	wide := simulated(&free, mean, rand.New(rand.NewPCG(seed, clipStream)))
	share, d := 0.0, len(mean)
	for i, y := range wide.Y {
		if y != rows.Y[i] {
			share += 1.0 / simulatedRecords
		}
	}
	if share == 0 {
		return nil
	}
	cut, whole := make([]float64, simulatedRecords*d), make([]float64, simulatedRecords*d)
	target.LossGrad(cut, mean, rows)
	target.LossGrad(whole, mean, wide)
	information, left := mat.NewSymDense(d, nil), make([]float64, d)
	for i := range simulatedRecords {
		g := whole[i*d : (i+1)*d]
		information.SymRankOne(information, 1.0/simulatedRecords, mat.NewVecDense(d, g))
		floats.AddScaled(left, 1.0/simulatedRecords, cut[i*d:(i+1)*d])
		floats.AddScaled(left, -1.0/simulatedRecords, g)
	}
	var chol mat.Cholesky
	var shift mat.VecDense
	if !chol.Factorize(information) || chol.SolveVecTo(&shift, mat.NewVecDense(d, left)) != nil {
		return nil
	}
	worst, most := 0, 0.0
	for j := range d {
		if s := math.Abs(shift.AtVec(j)) / sd[j]; s > most {
			worst, most = j, s
		}
	}
	if !(most > mostShift) {
		return nil
	}
	return []Doubt{beyondBounds(share, m.Parameters[worst].Name, most)}
}

// beyond times their width is where bounds are that no response reaches.
const beyond = 1e6

// spread is the mean of draws after their first half, and their standard deviations.
func spread(chains [][][]float64, d int) (mean, sd []float64) {
	mean, sd = make([]float64, d), make([]float64, d)
	count := 0.0
	for _, chain := range chains {
		for _, theta := range chain[len(chain)/2:] {
			count++
			for j, v := range theta {
				away := v - mean[j]
				mean[j] += away / count
				sd[j] += away * (v - mean[j])
			}
		}
	}
	for j := range sd {
		sd[j] = math.Sqrt(sd[j] / max(1, count-1))
	}
	if count == 0 {
		mean[0] = math.NaN()
	}
	return mean, sd
}

// finite reports whether all values are.
func finite(values []float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
