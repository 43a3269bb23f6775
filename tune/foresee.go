package tune

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Forecast is what chains are predicted to be worth at a budget, before anything is
// spent. Figures that are not known are NaN.
type Forecast struct {
	// Epsilon is the budget that was asked about. Met reports whether it meets any
	// settings; where it does not nothing else is set.
	Epsilon float64
	Met     bool
	// Settings are what package chains chooses, and Cost is what they cost.
	Settings chains.Settings
	Cost     accountant.Guarantee
	// ESS is the least over parameters of the bulk effective sample size after warm-up, of
	// all chains together.
	ESS float64
	// Widening is the width of intervals over that without privacy, its median over
	// parameters and simulated tables. A temperature τ widens intervals by 1/√τ.
	Widening float64
	// Between are the least and the largest of the simulated tables' widenings: they differ in how
	// far columns and responses spread within their bounds. Of anchored chains; else both are 0.
	Between [2]float64
	// Error is the root mean square distance of the released mean from the non-private
	// one, in standard deviations of the non-private posterior.
	Error float64
	// Clipping is what the clip is predicted to do to the posterior, at the mean of that of
	// a simulated table. The zero value where nothing is cut, and for anchored chains.
	Clipping chains.Clipping
	// Doubted is the verdict on most simulated tables if it says that nothing can be used, for
	// anchors of order 1; otherwise empty.
	Doubted string
	// Verdict is the headline of most simulated tables' verdicts, empty if it simply says that
	// intervals can be used. It is known only for anchored chains on tables that no smaller one
	// represents.
	Verdict string
	// Time is how long the chains take, on this machine and as busy as it is.
	Time time.Duration
}

// Posterior reports whether the draws can be expected to show a posterior: an ESS of at
// least chains.LeastESS, and no verdict that nothing can be used.
func (f Forecast) Posterior() bool { return f.Met && f.ESS >= chains.LeastESS && f.Doubted == "" }

// Foresee predicts from public facts what chains of the settings are worth at each of
// several ε. Of c it reads the first model, the adjacency, δ, Warmup, Repeats, Work,
// CoefficientSD and Seed. The kernel is the one that is chosen at the first ε.
//
// Anchored chains are run for a few steps, on Repeats tables that are simulated from the model with
// parameters drawn from its prior. Other kernels start at a draw of the posterior of one simulated
// table, and their ESS is read off their moves, as in Run. That promises too much where a chain
// starts far away. Tables of many records are represented by smaller ones, with noise reduced in
// proportion.
//
// Errors: a model that cannot be simulated; settings that make no sense; ctx's.
func Foresee(ctx context.Context, c Config, s chains.Settings, epsilons ...float64) ([]Forecast, error) {
	if len(epsilons) == 0 || len(c.Models) == 0 || c.Models[0] == nil {
		return nil, errors.New("tune: Foresee needs a model and at least one ε")
	}
	c.Models, c.Fixed, c.Kernels, c.Temperatures = c.Models[:1], chains.Settings{}, nil, nil
	c.Epsilon, c.Objective, c.SearchOnly = epsilons[0], ESS, true
	full := c.Models[0]
	if full.Shape == nil {
		return nil, errors.New("tune: a custom model cannot be simulated, so nothing can be foreseen of it")
	}
	out, plans := make([]Forecast, len(epsilons)), make([]*chains.Plan, len(epsilons))
	anchored := false
	for i, epsilon := range epsilons {
		f := &out[i]
		*f = Forecast{Epsilon: epsilon, ESS: math.NaN(), Widening: math.NaN(), Error: math.NaN()}
		plan, err := chains.Choose(s, chains.ProblemOf(full, c.facts(), epsilon, c.Delta))
		var unreachable *accountant.UnreachableError
		if errors.As(err, &unreachable) {
			continue
		}
		if err == nil {
			f.Cost, err = costOf(plan, c.Delta)
		}
		if err != nil {
			return nil, err
		}
		plans[i] = plan
		f.Met, f.Settings, s.Kernel = true, plan.Settings, plan.Settings.Kernel
		if about, err := chains.Describe(s.Kernel); err == nil {
			anchored = about.Anchored
		}
	}
	if s.Kernel == "" { // no budget meets any settings
		return out, nil
	}
	if anchored {
		return out, c.foreseeAnchored(ctx, out, mostAnchored)
	}
	return out, c.foreseeWalks(ctx, s, plans, out)
}

func costOf(plan *chains.Plan, delta float64) (accountant.Guarantee, error) {
	event, err := plan.Cost()
	if err != nil {
		return accountant.Guarantee{}, err
	}
	return event.Epsilon(delta)
}

// shrunk stands for its tables by such of at most so many records, and says how many
// times fewer they are.
func (c Config) shrunk(records int) (Config, float64, error) {
	m := c.Models[0]
	shape := *m.Shape
	shape.Records = min(shape.Records, records)
	small, err := models.New(m.Name, &shape, m.Options)
	if err != nil {
		return c, 0, err
	}
	c.Models = []*models.Model{small}
	c, err = c.filled()
	return c, float64(m.Shape.Records) / float64(shape.Records), err
}

// plentiful is the ε of a simulated curator that charges nobody.
const plentiful = 1e9

// widened are the settings that were given, for tables of fewer records: their posterior
// is √grown times as wide.
func widened(s chains.Settings, grown float64) chains.Settings {
	s.MaxMove *= math.Sqrt(grown)
	s.Noise /= math.Sqrt(grown)
	s.Batch = int64(math.Ceil(float64(s.Batch) / grown))
	if s.Kernel == "dpsgld" {
		s.Step *= grown // of units θ²
		return s
	}
	s.Step *= math.Sqrt(grown)
	if about, err := chains.Describe(s.Kernel); err == nil && !about.ClipsGradients {
		s.Clip *= math.Sqrt(grown)
	}
	return s
}

// parallelism is how many of so many chains run at once.
func (c Config) parallelism(chains int64) float64 { return float64(min(int64(c.Workers), chains)) }

// clipStream is the public stream of the records that clips are held against.
const clipStream = 0xc11b

// Walks are foreseen on tables of at most so many records: fewer where the reference has
// more than a linear predictor to follow.
const (
	mostWalked       = 4_000
	mostWalkedSlowly = 500
)

// foreseeWalks measures moves from a stationary start. plans are those that are foreseen.
func (c Config) foreseeWalks(ctx context.Context, s chains.Settings, plans []*chains.Plan, out []Forecast) error {
	if s.Temperature != 0 {
		c.Temperatures = []float64{s.Temperature}
	}
	c.CoefficientSD = cmp.Or(c.CoefficientSD, 1)
	c.Kernels = []string{s.Kernel}
	c.Repeats, c.foreseen = 1, true
	full, facts := c.Models[0], c.facts() // of all records
	most := mostWalkedSlowly
	if _, linear := c.Models[0].Target.(targets.LinearTarget); linear {
		most = mostWalked
	}
	c, grown, err := c.shrunk(most)
	if err != nil {
		return err
	}
	stages, err := c.stages(ctx, all)
	if err != nil {
		return err
	}
	for i := range out {
		f := &out[i]
		if !f.Met {
			continue
		}
		at := *stages[key{c.Models[0].Options.LossName(), c.Temperatures[0], 0}]
		plan, err := chains.Choose(widened(s, grown), chains.ProblemOf(at.model, c.facts(), f.Epsilon*math.Sqrt(grown),
			c.Delta))
		if err != nil {
			return err
		}
		each, err := c.moves(ctx, f, at, plan, float64(c.Work)/float64(len(out)))
		if err != nil {
			return err
		}
		f.Clipping, _ = plans[i].Clipping(full, at.reference.mean, rand.New(rand.NewPCG(c.Seed, clipStream)))
		set := f.Settings
		f.Widening = 1 / math.Sqrt(set.Temperature)
		if f.ESS >= 1 { // where less, the mean stays where the chain starts
			f.Error = f.Widening / math.Sqrt(f.ESS)
		}
		steps := float64(set.Iterations*set.Chains) / c.parallelism(set.Chains)
		f.Time = time.Duration(each * steps * looks(&chains.Plan{Settings: set}, facts) * float64(time.Second))
	}
	return nil
}

// moves fills in the ESS of a plan's moves, and returns the seconds of a look at a record.
func (c Config) moves(ctx context.Context, f *Forecast, at stage, plan *chains.Plan, work float64) (float64, error) {
	at.config.Epsilon = plentiful
	search, t := &search{stage: &at}, &trial{plan: plan}
	began := time.Now()
	if err := search.measure(ctx, t, work, 0); err != nil {
		return 0, err
	}
	each := time.Since(began).Seconds() / t.looks
	f.ESS = math.Inf(1)
	for _, p := range t.Parameters {
		f.ESS = min(f.ESS, p.ESS)
	}
	if !c.through {
		return each, nil
	}
	all, err := at.whole(ctx, plan)
	f.ESS = math.Inf(1)
	for _, p := range all {
		f.ESS = min(f.ESS, p.Diagnosed*float64(f.Settings.Chains))
	}
	return each, err
}
