package chains

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// boundsDoubt is that of anchored chains with bits, whose responses count as their bound beyond
// it: what that does to the mean gradient of records that are simulated at the draws' mean, with
// the bounds and without. A score's likelihood knows of the largest count. Sums have cutDoubts.
func (r *Plan) boundsDoubt(m *models.Model, chains [][][]float64, seed uint64) []Doubt {
	target, ok := r.Problem.Target.(targets.GradTarget)
	if !ok || !families[r.Settings.Kernel].anchored || !aims[r.Settings.Aim].Bits() || m.Shape == nil || !m.Simulates() ||
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
	share := 0.0
	for i, y := range wide.Y {
		if y != rows.Y[i] {
			share += 1.0 / simulatedRecords
		}
	}
	if share == 0 {
		return nil
	}
	worst, most := moved(target, mean, sd, rows, wide)
	if !(most > mostShift) {
		return nil
	}
	return []Doubt{beyondBounds(share, m.Parameters[worst].Name, most)}
}

// shortenedDoubt is about rows longer than the radius: what shortening or weighing them does to
// the mean gradient of records that the schema's centres and scales and the draws' mean
// simulate. Coefficients do not move where they are weighed, nor does the scale of errors whose
// sums are released: these say how many records there are.
func (r *Plan) shortenedDoubt(m *models.Model, chains [][][]float64, seed uint64) []Doubt {
	target, ok := r.Problem.Target.(targets.GradTarget)
	if !ok || m.Shape == nil || !m.Simulates() {
		return nil
	}
	scales := slices.ContainsFunc(m.Parameters, func(p models.Parameter) bool { return p.Scale })
	if m.Weighs() && (!scales || r.Settings.Aim == "sums") {
		return nil
	}
	share, _ := m.Shape.Longer()
	mean, sd := spread(chains, target.Dim())
	if share == 0 || !finite(mean) {
		return nil
	}
	free, shape := *m, *m.Shape
	shape.Radius, free.Shape = math.MaxFloat64, &shape
	whole := simulated(&free, mean, rand.New(rand.NewPCG(seed, clipStream)))
	cut := &data.Table{Shape: *m.Shape, X: slices.Clone(whole.X), Y: whole.Y}
	cut.Records = simulatedRecords
	for i := range simulatedRecords {
		cut.Shorten(cut.Row(i))
	}
	cut = m.Weigh(cut)
	worst, most := moved(target, mean, sd, targets.Rows{X: cut.X, P: whole.P, Y: cut.Y}, whole)
	if !(most > mostShift) {
		return nil
	}
	of := cmp.Or(m.Parameters[worst].Label, m.Parameters[worst].Name)
	headline := "Not usable as it stands: the radius shortens rows, which moves coefficients."
	if most < 4*mostShift {
		headline = "Usable if rows are seldom longer than the radius: longer ones are shortened."
	}
	return []Doubt{{
		Headline: headline,
		Reason: fmt.Sprintf("If numbers spread as their scales say, %.2g%% of rows are longer than %.4g. Shortening them "+
			"moves %s by about %.2g of its standard deviations.", 100*share, m.Shape.Radius, of, most),
		Advice: "Leave radius out of the schema, which gives one that few rows exceed, or state a larger one. Either is a " +
			"new release.",
		Conditional: most < 4*mostShift,
	}}
}

// moved says by how many standard deviations a parameter moves, at most, if records are given
// as cut and not as whole: which one, and how far.
func moved(target targets.GradTarget, mean, sd []float64, cut, whole targets.Rows) (worst int, most float64) {
	d := len(mean)
	of, to := make([]float64, simulatedRecords*d), make([]float64, simulatedRecords*d)
	target.LossGrad(of, mean, whole)
	target.LossGrad(to, mean, cut)
	information, left := mat.NewSymDense(d, nil), make([]float64, d)
	for i := range simulatedRecords {
		g := of[i*d : (i+1)*d]
		information.SymRankOne(information, 1.0/simulatedRecords, mat.NewVecDense(d, g))
		floats.AddScaled(left, 1.0/simulatedRecords, to[i*d:(i+1)*d])
		floats.AddScaled(left, -1.0/simulatedRecords, g)
	}
	var chol mat.Cholesky
	var shift mat.VecDense
	if !chol.Factorize(information) || chol.SolveVecTo(&shift, mat.NewVecDense(d, left)) != nil {
		return 0, 0
	}
	for j := range d {
		if s := math.Abs(shift.AtVec(j)) / sd[j]; s > most {
			worst, most = j, s
		}
	}
	return worst, most
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
