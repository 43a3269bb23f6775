package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Of the non-private reference.
const (
	referenceWarmup = 300
	referenceDraws  = 500
	mostReference   = 32 * referenceDraws // where modes are far apart, or nearly
	referenceESS    = 100                 // of every parameter, or its figures are too rough
)

// reference is what a non-private sampler says of a simulated posterior.
type reference struct {
	mean, sd []float64
	draws    [][]float64
}

// refer samples the tempered posterior of a simulated table, with four times the draws
// where they do not do, up to the most.
func (c Config) refer(ctx context.Context, m *models.Model, t *data.Table, temperature float64,
	most int) (reference, error) {
	for draws := referenceDraws; ; draws *= 4 {
		r, err := c.referTo(ctx, m, t, temperature, draws)
		var short *tooShortError
		if !errors.As(err, &short) || 4*draws > most {
			return r, err
		}
	}
}

// ErrReference says that a non-private reference needs more work than Config.Reference allows.
var ErrReference = errors.New("tune: the non-private reference of a simulated table needs more work than Reference " +
	"allows; raise it, or take fewer records or parameters")

// tooShortError says that a reference has too small an effective sample size.
type tooShortError struct{ error }

// referTo is refer with so many draws.
func (c Config) referTo(ctx context.Context, m *models.Model, t *data.Table, temperature float64,
	draws int) (reference, error) {
	most := 0
	if c.Reference > 0 {
		most = int(1 + c.Reference/int64(t.Records*m.Target.Dim()))
	}
	chains, err := nuts.Sample(ctx, func() nuts.LogDensity {
		return nuts.Posterior(m.Target.(targets.GradTarget), targets.Rows{X: t.X, P: t.Features(), Y: t.Y}, temperature)
	}, nuts.Config{
		Chains: 1, Workers: 1, Warmup: referenceWarmup, Draws: draws, Seed: c.Seed, MaxGradients: most,
	})
	if errors.Is(err, nuts.ErrGradients) {
		return reference{}, ErrReference
	}
	if err != nil {
		return reference{}, err
	}
	r := reference{draws: chains[0].Draws}
	for j := range m.Target.Dim() {
		column := make([]float64, draws)
		for i, d := range r.draws {
			column[i] = d[j]
		}
		mean, sd := moments(column)
		if ess := diag.ESSBulk([][]float64{column}); !(ess >= referenceESS) || !(sd > 0) {
			return r, &tooShortError{fmt.Errorf("tune: the reference of model %q at temperature %v has an ESS of %.3g for "+
				"parameter %d; the simulated posterior is too hard: state CoefficientSD, or a narrower prior",
				m.Options.LossName(), temperature, ess, j+1)}
		}
		r.mean, r.sd = append(r.mean, mean), append(r.sd, sd)
	}
	return r, nil
}

// near stands for the posterior of a network, which takes a sampler too long to explore, by
// the normal approximation of the mode at the parameters that the table was simulated with.
func near(m *models.Model, t *data.Table, values []float64, temperature float64, seed uint64) (reference, error) {
	const draws = 8
	target := m.Target.(targets.GradTarget)
	theta := stateOf(m, values)
	d, n := len(theta), t.Records
	gradients := make([]float64, n*d)
	target.LossGrad(gradients, theta, targets.Rows{X: t.X, P: t.Features(), Y: t.Y})
	information := mat.NewSymDense(d, nil)
	for i := range n {
		information.SymRankOne(information, temperature, mat.NewVecDense(d, gradients[i*d:(i+1)*d]))
	}
	const h = 1e-4
	up, down := make([]float64, d), make([]float64, d)
	for j, v := range theta {
		theta[j] = v + h
		target.GradLogPrior(up, theta)
		theta[j] = v - h
		target.GradLogPrior(down, theta)
		theta[j] = v
		information.SetSym(j, j, information.At(j, j)+max(0, (down[j]-up[j])/(2*h)))
	}
	var chol mat.Cholesky
	var spread mat.SymDense
	if !chol.Factorize(information) || chol.InverseTo(&spread) != nil || !chol.Factorize(&spread) {
		return reference{}, fmt.Errorf("tune: the model %s leaves a parameter without bounds; state a narrower prior", m.Name)
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	r, rng := reference{mean: theta}, rand.New(rand.NewPCG(seed, nearStream))
	for j := range d {
		r.sd = append(r.sd, math.Sqrt(spread.At(j, j)))
	}
	for range draws {
		z, draw := mat.NewVecDense(d, nil), mat.NewVecDense(d, nil)
		for j := range d {
			z.SetVec(j, rng.NormFloat64())
		}
		draw.MulVec(&lower, z)
		draw.AddVec(draw, mat.NewVecDense(d, theta))
		r.draws = append(r.draws, draw.RawVector().Data)
	}
	return r, nil
}

const nearStream = 0x4ea2

// stateOf is the state of which the values are, by bisection where they differ: a scale is
// the larger the larger its coordinate.
func stateOf(m *models.Model, values []float64) []float64 {
	theta, at := append([]float64(nil), values...), make([]float64, len(values))
	for j, p := range m.Parameters {
		if !p.Scale {
			continue
		}
		low, high := -40.0, 40.0
		for range 60 {
			theta[j] = (low + high) / 2
			if m.Output(at, theta); at[j] < values[j] {
				low = theta[j]
			} else {
				high = theta[j]
			}
		}
	}
	return theta
}

// moments are the mean and the standard deviation.
func moments(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	for _, v := range x {
		sd += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sd / float64(len(x)-1))
}
