package tune

import (
	"context"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/models"
)

// stage is a simulated posterior that candidates are tried on.
type stage struct {
	config    Config
	model     *models.Model
	table     *data.Table
	values    []float64 // of the parameters that it was simulated with
	reference reference
	seed      uint64 // of the chains' noise
}

// run makes the first steps of one chain of the plan, on a curator of its own with
// the whole budget: from start, or from where a real chain starts if that is nil.
func (s *stage) run(ctx context.Context, r *chains.Plan, steps int64, start []float64) ([][]float64, error) {
	budget, err := s.config.budget()
	if err != nil {
		return nil, err
	}
	sealed, err := curator.Seal(chains.Records(s.table), budget, curator.InsecureSeed(s.seed))
	if err != nil {
		return nil, err
	}
	session, err := r.Open(sealed, s.seed)
	if err != nil {
		return nil, err
	}
	chain := kernels.Chain{Kernel: session.Kernels()[0], Start: start}
	if about, err := chains.Describe(r.Settings.Kernel); err != nil {
		return nil, err
	} else if start == nil || about.Anchored {
		all, err := session.Chains(ctx)
		if err != nil {
			return nil, err
		}
		if chain = all[0]; start != nil {
			chain.Start = start
		}
	}
	sink := kernels.NewMemory(1)
	err = kernels.Run(ctx, []kernels.Chain{chain}, kernels.Options{Iterations: steps, Seed: s.seed, Sink: sink})
	return sink.Draws(0), err
}

// looks is the number of records that a step looks at, and a surcharge for what a
// step costs otherwise.
func looks(r *chains.Plan, facts curator.Facts) float64 {
	const overhead = 1000
	n := float64(facts.Records)
	s, records := r.Settings, n
	switch {
	case s.FullData:
	case s.Rate != 0:
		records = s.Rate * n
	case s.Batch != 0:
		records = float64(s.Batch)
	}
	if s.Leapfrog != 0 {
		records = records*float64(s.Leapfrog) + n // and the test, on all records
	}
	return records + overhead
}

// probe predicts the bulk ESS of all chains after warm-up, one a parameter, from the
// first steps of one after a start in the stationary law. Rounds differ in their start
// and in all randomness.
func (s *stage) probe(ctx context.Context, r *chains.Plan, steps int64, round int) ([]float64, error) {
	return s.kept(fmt.Sprintf("%d steps in round %d of %+v", steps, round, r.Settings), func() ([]float64, error) {
		return s.probed(ctx, r, steps, round)
	})
}

func (s *stage) probed(ctx context.Context, r *chains.Plan, steps int64, round int) ([]float64, error) {
	other := *s
	other.seed += uint64(round) << 32
	draws, err := other.run(ctx, r, steps, s.reference.draws[len(s.reference.draws)/(round+1)-1])
	if err != nil {
		return nil, err
	}
	ess := s.ess(draws, float64(r.Settings.Chains)*float64(r.Settings.Iterations)*(1-s.config.warmup(r.Settings)))
	if hot := s.excess(draws[len(draws)/2:]); hot > tolerated {
		for j := range ess {
			ess[j] = min(ess[j], 1/hot)
		}
	}
	return ess, nil
}

// tolerated is the excess that the start, a single draw, easily has by itself. A chain
// with more of it is not sampling the posterior, and is worth less than a draw.
const tolerated = 3

// excess is how far draws are from the reference's mean, squared and over its
// variance, on average over draws and parameters. A chain that its own noise heats
// moves fast, and leaves the posterior.
func (s *stage) excess(draws [][]float64) float64 {
	sum := 0.0
	for _, d := range draws {
		for j, v := range d {
			z := (v - s.reference.mean[j]) / s.reference.sd[j]
			sum += z * z
		}
	}
	return sum / float64(len(draws)*len(s.reference.sd))
}

// ess predicts the effective sample size of steps steps that move like the draws.
func (s *stage) ess(draws [][]float64, steps float64) []float64 {
	ess := make([]float64, len(s.reference.sd))
	for j, sd := range s.reference.sd {
		x := make([]float64, len(draws))
		for i, d := range draws {
			x[i] = d[j]
		}
		ess[j] = min(steps/autocorrelationTime(x, sd), steps)
	}
	return ess
}

// windows is the number of displacements of the largest lag, end to end, that fit a
// chain whose autocorrelation time is measured.
const windows = 32

// autocorrelationTime is the sum of a chain's autocorrelations over all lags, in
// steps, from its mean squared displacements (see the package comment): at the
// smallest lag, among powers of 2, at which half of the correlation is lost, or at
// the largest that the chain allows. sd is the stationary standard deviation.
func autocorrelationTime(x []float64, sd float64) float64 {
	lag, lost := 1, 0.0
	for k := 1; k*windows <= len(x); k *= 2 {
		lag, lost = k, displacement(x, k)/(2*sd*sd)
		if lost >= 0.5 {
			break
		}
	}
	if !(lost > 0) {
		return math.Inf(1)
	}
	// 1 + 2Σρᵏ for the autocorrelation ρ of one step.
	rho := math.Pow(max(1-lost, 0.05), 1/float64(lag))
	return (1 + rho) / (1 - rho)
}

// displacement is the mean squared displacement at a lag.
func displacement(x []float64, lag int) float64 {
	sum := 0.0
	for i := lag; i < len(x); i++ {
		d := x[i] - x[i-lag]
		sum += d * d
	}
	return sum / float64(len(x)-lag)
}

// whole runs the whole chain from where a real one starts, and compares what is left
// after warm-up with the reference.
func (s *stage) whole(ctx context.Context, r *chains.Plan) ([]Parameter, error) {
	const figures = 4
	flat, err := s.kept(fmt.Sprintf("all steps of %+v", r.Settings), func() ([]float64, error) {
		parameters, err := s.ran(ctx, r)
		flat := make([]float64, 0, figures*len(parameters))
		for _, p := range parameters {
			flat = append(flat, p.ESS, p.Diagnosed, p.MeanError, p.SDRatio)
		}
		return flat, err
	})
	if err != nil {
		return nil, err
	}
	out := make([]Parameter, len(flat)/figures)
	for j := range out {
		f := flat[figures*j:]
		out[j] = Parameter{ESS: f[0], Diagnosed: f[1], MeanError: f[2], SDRatio: f[3]}
	}
	return out, nil
}

func (s *stage) ran(ctx context.Context, r *chains.Plan) ([]Parameter, error) {
	draws, err := s.run(ctx, r, r.Settings.Iterations, nil)
	if err != nil {
		return nil, err
	}
	kept := draws[int(s.config.warmup(r.Settings)*float64(len(draws))):]
	ess := s.ess(kept, float64(int(r.Settings.Chains)*len(kept)))
	out := make([]Parameter, len(ess))
	for j := range out {
		x := make([]float64, len(kept))
		for i, d := range kept {
			x[i] = d[j]
		}
		mean, sd := moments(x)
		bulk := diag.ESSBulk([][]float64{x})
		if math.IsNaN(bulk) { // too few draws, or none that differ
			bulk = 0
		}
		out[j] = Parameter{ESS: ess[j], Diagnosed: bulk, MeanError: (mean - s.reference.mean[j]) / s.reference.sd[j],
			SDRatio: sd / s.reference.sd[j]}
	}
	return out, nil
}
