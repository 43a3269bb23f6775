package chains

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Clipping is what an enforced clip is predicted to do at a state, from records that are
// simulated there: it costs no privacy. Without the clip the mean gradient at the
// parameters that records were drawn with is 0, so what is left of it shifts the chain.
type Clipping struct {
	// Share is that of records which are cut.
	Share float64
	// Shift is about how far the parameter that moves most is from where it would be, in
	// standard deviations of the posterior. Parameter is its index; −1 for kernels that
	// clip likelihood ratios, whose shift is that along the typical move.
	Shift     float64
	Parameter int
}

// mostShift is the largest Clipping.Shift of draws that can be used.
const mostShift = 0.5

// simulatedRecords are drawn with the public stream clipStream, or for lengths of gradients
// with lengthStream.
const (
	simulatedRecords = 4096
	clipStream       = 1<<31 - 3
	lengthStream     = 1<<31 - 4
)

// Clipping predicts what the plan's clip does to a model at theta. ok is false where
// nothing is clipped, or where records cannot be simulated.
func (r *Plan) Clipping(m *models.Model, theta []float64, rng *rand.Rand) (c Clipping, ok bool) {
	target, differentiable := r.Problem.Target.(targets.GradTarget)
	k := families[r.Settings.Kernel]
	if !(r.Clip > 0) || k.anchored || !differentiable || m.Shape == nil || !m.Simulates() ||
		!finite(theta) {
		return c, false
	}
	rows := simulated(m, theta, rng)
	d := len(theta)
	gradients := make([]float64, simulatedRecords*d)
	target.LossGrad(gradients, theta, rows)
	floats.Scale(r.Settings.Temperature, gradients)
	information := mat.NewSymDense(d, nil) // of a record, tempered
	for i := range simulatedRecords {
		g := gradients[i*d : (i+1)*d]
		information.SymRankOne(information, 1/(r.Settings.Temperature*simulatedRecords), mat.NewVecDense(d, g))
	}
	n := float64(r.Problem.Facts.Records)
	if k.clipsGradients {
		return r.clippedGradients(gradients, information, n)
	}
	return r.clippedRatios(target, theta, rows, information, n, rng), true
}

// clippedGradients is Clipping of kernels that follow clipped gradients: Newton's step
// back to where the mean clipped gradient is 0.
func (r *Plan) clippedGradients(gradients []float64, information *mat.SymDense, n float64) (c Clipping, ok bool) {
	d := information.SymmetricDim()
	left := make([]float64, d)
	for i := range simulatedRecords {
		g := gradients[i*d : (i+1)*d]
		length := floats.Norm(g, 2)
		if length > r.Clip {
			c.Share += 1.0 / simulatedRecords
			floats.AddScaled(left, (r.Clip/length-1)/simulatedRecords, g)
		}
	}
	var chol mat.Cholesky
	var spread mat.SymDense
	var shift mat.VecDense
	if !chol.Factorize(information) || chol.InverseTo(&spread) != nil ||
		chol.SolveVecTo(&shift, mat.NewVecDense(d, left)) != nil {
		return c, false
	}
	for j := range d {
		s := math.Abs(shift.AtVec(j)) / math.Sqrt(spread.At(j, j)/n)
		if s > c.Shift {
			c.Shift, c.Parameter = s, j
		}
	}
	return c, true
}

// clippedRatios is Clipping of kernels that accept on clipped ratios: what of the odd
// part of a move's log-odds is lost, over the standard deviations that the move makes.
// It is the median over moves.
func (r *Plan) clippedRatios(target targets.Target, theta []float64, rows targets.Rows, information *mat.SymDense,
	n float64, rng *rand.Rand) Clipping {
	const moves = 15
	d := len(theta)
	here, there := make([]float64, simulatedRecords), make([]float64, simulatedRecords)
	target.Loss(here, theta, rows)
	tau, c, shifts := r.Settings.Temperature, Clipping{Parameter: -1}, make([]float64, moves)
	move, next := make([]float64, d), make([]float64, d)
	for i := range moves {
		for j := range move {
			move[j] = r.Settings.Step * rng.NormFloat64()
		}
		lost := 0.0
		for _, sign := range []float64{1, -1} {
			copy(next, theta)
			floats.AddScaled(next, sign, move)
			target.Loss(there, next, rows)
			for q := range here {
				v := tau * (here[q] - there[q])
				if cut := max(-r.Clip, min(r.Clip, v)); cut != v {
					c.Share += 1.0 / (2 * moves * simulatedRecords)
					lost += sign * (cut - v) / (2 * simulatedRecords)
				}
			}
		}
		along := mat.Inner(mat.NewVecDense(d, move), information, mat.NewVecDense(d, move))
		if along > 0 {
			shifts[i] = math.Abs(lost) * n / math.Sqrt(n*along)
		}
	}
	slices.Sort(shifts)
	c.Shift = shifts[moves/2]
	return c
}

// certified reports whether the model bounds what the clip does, so that records which
// the model does not expect are cut no more than others.
func (r *Plan) certified() bool {
	c := &choice{Settings: r.Settings, Problem: r.Problem}
	if !families[r.Settings.Kernel].clipsGradients {
		return c.slope() > 0
	}
	certificate, ok := r.Problem.Target.(targets.GradCertificate)
	return ok && r.Settings.Temperature*certificate.GradBound(r.Problem.Facts.Radius) <= r.Clip
}

// clipDoubt is that of draws whose mean a clip moved, or would have moved with records
// that the model does not expect.
func (r *Plan) clipDoubt(m *models.Model, chains [][][]float64, rng *rand.Rand) []Doubt {
	mean, _ := spread(chains, r.Problem.Target.Dim())
	c, ok := r.Clipping(m, mean, rng)
	switch {
	case !ok || c.Shift <= mostShift && r.certified():
		return nil
	case c.Shift <= mostShift:
		return []Doubt{{
			Headline: "Usable if the model is believed: records that it does not expect are cut.",
			Reason: fmt.Sprintf("Of records simulated at the draws' mean, %.2g%% are cut at the clip %v. If more of the real "+
				"ones are, such as outliers, the parameters are those of the cut records, and nothing shows it.",
				100*c.Share, r.Clip),
			Advice: "A larger clip cuts fewer and costs more noise. For regressions a loss with a certificate (--loss beta " +
				"--beta 1.5) bounds every record, and the kernel anchored needs no clip.",
			Conditional: true,
		}}
	}
	what := "the chain along its moves"
	if c.Parameter >= 0 {
		what = m.Parameters[c.Parameter].Name
	}
	return []Doubt{{
		Headline: "Not usable as it stands: the clip moves the posterior.",
		Reason: fmt.Sprintf("Of records simulated at the draws' mean, %.2g%% are cut at the clip %v. That moves %s by %.2g "+
			"standard deviations of the posterior, or more.", 100*c.Share, r.Clip, what, c.Shift),
		Advice: "Use a larger clip, which costs more noise, a loss with a certificate (--loss beta --beta 1.5), or the " +
			"kernel anchored.",
	}}
}
