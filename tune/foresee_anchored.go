package tune

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/anchors"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

const (
	mostAnchored  = 10_000 // records of a table that anchored chains are foreseen on
	shortRun      = 100    // steps of each of two chains, of which ESS and time are read
	bitsRun       = 400    // the same, where bits decide: a shorter run says nothing of slow chains
	shortestRun   = 20     // steps, where only the release is looked at
	leftOut       = 0.2    // of a short run
	usualForetold = 5      // simulated tables
)

// foreseeAnchored runs anchored chains shortly on simulated tables of at most so many
// records.
func (c Config) foreseeAnchored(ctx context.Context, out []Forecast, most int) error {
	c.Repeats = cmp.Or(c.Repeats, usualForetold)
	if out[0].Settings.Aim == "sums" { // whose widening varies more, and whose runs are cheap
		c.Repeats *= 4
	}
	whole := c.Models[0]
	c, grown, err := c.shrunk(most)
	if err != nil {
		return err
	}
	var timed, others []foretold
	for i := range out {
		for r := range c.Repeats {
			table := foretold{seed: c.Seed + uint64(r), into: &out[i]}
			switch {
			case out[i].Met && r == 0:
				timed = append(timed, table)
			case out[i].Met:
				others = append(others, table)
			}
		}
	}
	one := func(r *foretold, first bool) error { return c.release(ctx, r, whole, grown, first) }
	err = parallel(ctx, 1, len(timed), func(i int) error { return one(&timed[i], true) })
	if err == nil { // by themselves, since their chains share the cores
		err = parallel(ctx, c.Workers, len(others), func(i int) error { return one(&others[i], false) })
	}
	if err != nil {
		return err
	}
	all := slices.Concat(timed, others)
	for i := range out {
		out[i].takeFrom(all, refusable(c.Models[0].Target, out[i].Settings), grown)
	}
	return nil
}

// foretold is what the release of one simulated table says.
type foretold struct {
	seed    uint64
	into    *Forecast
	widened float64 // 0 where it is not known
	ess     float64 // 0 where it is not looked at
	doubt   *chains.Doubt
}

// refusable reports whether what is foretold may refuse a run: of bits on remainders of order 1.
func refusable(t targets.Target, s chains.Settings) bool {
	return anchors.Order(t) == 1 && s.Aim != "score"
}

// takeFrom fills in verdict, ESS, widening and error.
func (f *Forecast) takeFrom(all []foretold, refusable bool, grown float64) {
	var widened, ess []float64
	var doubts []*chains.Doubt
	for _, r := range all {
		if r.into == f {
			widened = append(widened, cmp.Or(r.widened, math.Inf(1)))
			if r.ess > 0 {
				ess = append(ess, r.ess)
			}
			doubts = append(doubts, r.doubt)
		}
	}
	f.Verdict = usual(doubts, func(d *chains.Doubt) bool { return d != nil && !d.Conditional })
	if refusable {
		f.Doubted = f.Verdict
	}
	if f.Verdict == "" {
		f.Verdict = usual(doubts, func(d *chains.Doubt) bool { return d != nil })
	}
	if grown > 1 {
		f.Verdict = f.Doubted
	}
	if len(widened) == 0 {
		return
	}
	slices.Sort(ess)
	f.ESS = ess[0] // chains have to explore whatever table it is
	slices.Sort(widened)
	if f.Widening = widened[len(widened)/2]; math.IsInf(f.Widening, 1) {
		f.Widening = math.NaN()
	} else if most := widened[len(widened)-1]; !math.IsInf(most, 1) {
		f.Between = [2]float64{widened[0], most}
	}
	f.Error = math.Sqrt(max(0, f.Widening*f.Widening-1))
}

// usual is the most frequent headline of doubts of a kind, if more than half are of it.
func usual(doubts []*chains.Doubt, kind func(*chains.Doubt) bool) (headline string) {
	of, count, most := map[string]int{}, 0, 0
	for _, d := range doubts {
		if kind(d) {
			count++
			if of[d.Headline]++; of[d.Headline] > most {
				headline, most = d.Headline, of[d.Headline]
			}
		}
	}
	if 2*count <= len(doubts) {
		return ""
	}
	return headline
}

// release makes the releases of r's simulated table, and fills in by how much they widen intervals,
// the doubt that they leave, and of the first table and of bits the ESS. The first one's is also timed.
func (c Config) release(ctx context.Context, r *foretold, whole *models.Model, grown float64, first bool) error {
	m, f := c.Models[0], r.into
	rng := rand.New(rand.NewPCG(r.seed, 0xf0e5))
	drawn := c
	drawn.CoefficientSD = 0
	usual := uneven(m, rng)
	table := usual.Simulate(drawn.parameters(usual, rng), rng)

	s, bits := scaled(f.Settings, grown, anchors.Order(m.Target)), refusable(m.Target, f.Settings)
	s.Chains, s.Iterations, s.ESS = 2, shortestRun, 1
	if bits {
		s.Iterations = min(bitsRun, f.Settings.Iterations)
	} else if first {
		s.Iterations = min(shortRun, f.Settings.Iterations)
	}
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: plentiful, Delta: c.Delta,
		Adjacency: c.Adjacency})
	if err != nil {
		return err
	}
	sealed, err := chains.Seal(m, table, budget, curator.InsecureSeed(r.seed))
	if err != nil {
		return err
	}
	plan, err := chains.Price(s, chains.ProblemOn(m, sealed))
	if err != nil {
		return err
	}
	session, err := plan.Open(sealed, r.seed)
	if err != nil {
		return err
	}
	began := time.Now()
	if _, err := session.BeginSimulated(ctx); err != nil {
		return err
	}
	looked := time.Since(began)
	if _, err := session.Chains(ctx); err != nil {
		return err
	}
	begun := time.Since(began)
	result, err := session.Run(ctx, m, chains.Options{Thin: 1, Warmup: leftOut})
	if err != nil {
		return err
	}
	r.widened, r.doubt = result.Certificate.Widening, chains.Gravest(result.Certificate.Doubts)
	if first || bits {
		r.ess = c.lengthened(f.Settings, s, result)
	}
	if first {
		drawn := result.Drawing + time.Since(began) - begun
		once := looked.Seconds()*grown + (begun - looked - result.Drawing).Seconds()
		f.Time = time.Duration((once + drawn.Seconds()*c.longer(f.Settings, s, whole, plan)) * float64(time.Second))
	}
	return nil
}

// lengthened is the ESS that a short run with settings s foresees of the run that was asked for.
func (c Config) lengthened(asked, s chains.Settings, result *chains.Result) float64 {
	least := math.Inf(1)
	for _, row := range result.Summary() {
		least = min(least, row.ESSBulk)
	}
	kept := float64(s.Chains*s.Iterations) * (1 - leftOut)
	return min(1, least/kept) * float64(asked.Chains*asked.Iterations) * (1 - c.warmup(asked))
}

// longer is how many times as much work the draws that were asked for are as those of a short run
// with settings s.
func (c Config) longer(asked, s chains.Settings, whole *models.Model, plan *chains.Plan) float64 {
	work := func(s chains.Settings, of *models.Model) float64 { // of all steps
		each := 1.0
		if plan.Test != "" {
			each = looks(&chains.Plan{Settings: s}, chains.Facts(of.Shape, c.Adjacency))
		} else {
			each += float64(surrogates.Warmup(int(s.Iterations))) / float64(s.Iterations)
		}
		return each * float64(s.Chains*s.Iterations) / c.parallelism(s.Chains)
	}
	return work(asked, whole) / work(s, c.Models[0])
}

// scaled are the settings for tables of fewer records on which everything is in the same
// proportion to the posterior's spread, which is √grown times as wide there.
func scaled(s chains.Settings, grown float64, order int) chains.Settings {
	if grown == 1 {
		return s
	}
	s.AnchorNoise /= math.Sqrt(grown)
	s.Ridge /= grown
	s.Clip *= math.Pow(grown, float64(order+1)/2) // remainders are of the next order
	s.Rate = 0
	if s.Aim == "sums" {
		s.MomentNoise /= math.Sqrt(grown)
	} else {
		s.MomentNoise /= grown
	}
	return s
}
