// Calibrate measures the posteriors of package surrogates on simulated logistic
// regressions: coverage of 90% intervals, errors, and how well the sampler explored.
// Releases are made here with the priced noise and an ordinary generator, on
// simulated records: nothing of it is private.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/internal/convex"
	"github.com/dpmcmc/dpmcmc/internal/erm"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

var (
	records  = flag.Int("n", 2000, "records")
	features = flag.Int("d", 3, "features, the intercept included")
	epsilon  = flag.Float64("epsilon", 1, "ε")
	sets     = flag.Int("sets", 20, "data sets")
	fixed    = flag.Bool("fixed", false, "fixed truths, as in docs/reproduction.md, rather than truths from the prior")
	draws    = flag.Int("draws", 250,
		"draws and warm-up of each of four chains; 0 for the verdicts on simulated records alone")
	seed   = flag.Uint64("seed", 1, "public seed")
	shared = flag.String("shared", "../shared", "folder of the public data")
	linear = flag.String("linear", "", "a public table with a number to predict, or simulated-plain, "+
		"-heavy, -outliers, -wide or -collinear, in place of simulated records")
	untuned = flag.String("untuned", "", "default runs against their verdicts, on a kind of table that nothing was "+
		"tuned to (plain, small, heavy, scaled, rare, collinear, imbalance, wide, uncentred, levels, separable), on a "+
		"table as for -logistic, or held-out, all kinds that the limits of the verdicts were not chosen on")
	family = flag.String("family", "logistic", "model of -untuned: logistic, probit, cloglog, loglog, softmax, "+
		"poisson or negative-binomial")
	first     = flag.String("first", "", "anchored chains of order 1 on simulated tables of a model")
	betaLoss  = flag.Float64("beta", 0, "β of the β loss, for -first; 0 for the log loss")
	uncut     = flag.Bool("uncut", false, "compare with responses that were not moved to their bounds")
	anchorFit = flag.String("anchor-fit", "", "for -linear, a run's own release with this anchor-fit: auto, yes or no")
	classes   = flag.String("logistic", "",
		"a public table with two classes to predict: adult5, adult59, a bundled schema's name or a schema file's")
	radius  = flag.Float64("radius", 0, "bound on rows of a public table, for -linear and -untuned; 0 for its schema's")
	priorSD = flag.Float64("prior-sd", 0, "standard deviation of the normal prior; by default that of the table's model, "+
		"and 3 for simulated records")
	prior  = flag.String("prior", "", "prior of -untuned; by default that of the model")
	effect = flag.Float64("effect", 0, "the prior of default runs, with this effect of a standard deviation, in place "+
		"of a normal one, or of simulated records in place of the one that truths are from. With -first it is that of "+
		"default runs whatever the number")
	pure = flag.Bool("pure", false, "a pure-ε optimum, its linear term with density ∝ exp(−‖b‖/s), and Gaussian "+
		"noise in the rest")
	rivals = flag.Bool("rivals", false, "the errors of objective perturbation and of a draw of the β posterior instead")
	least  = flag.Float64("least-ess", 400, "effective sample size that a run must reach")
	most   = flag.Float64("most-rhat", 1.01, "R-hat that a run must reach")
	tarp   = flag.Bool("tarp", false, "the TARP error of linear regressions with 10 normal features, -n records each")
	dpvi   = flag.Bool("dpvi", false, "TARP errors beside those of an own version of noise-aware DPVI")
)

const (
	delta   = 1e-5
	optimum = 0.8  // share of the optimum, as that of a run that samples by the score alone
	moment  = 0.2  // share of the second moments
	alone   = 0.75 // share of ε, of an optimum of pure price
)

// loss is what releases are of, as those of a run are that samples by the score alone, and model
// the response by it.
var (
	loss  = convex.Halved()
	model = func() surrogates.Link {
		t, err := targets.New(targets.RegressionConfig{Features: 1, Prior: priors.Gaussian{SD: 1}})
		if err != nil {
			panic(err)
		}
		return surrogates.LinkOf(t, targets.Cap{Slope: loss.MaxSlope()})
	}()
)

// noise is what the releases' noise is, priced together.
type noise struct{ ridge, score, moment float64 }

func price() (noise, error) {
	ridge := 2 / *epsilon
	if *pure {
		mu, err := gaussianMu((1-alone)**epsilon, delta)
		scale := 2 * loss.MaxSlope() / (alone * *epsilon)
		return noise{ridge: ridge / alone, score: scale * math.Sqrt(float64(*features+1)), moment: math.Sqrt2 / mu}, err
	}
	mu, _, err := accountant.SolveParameter(func(mu float64) (accountant.Event, error) {
		first, err := accountant.Perturbation{NoiseMultiplier: 1 / (mu * math.Sqrt(optimum)), Curvature: 1 / ridge,
			Logistic: true, Coordinates: 1}.Event(accountant.Substitute)
		if err != nil {
			return first, err
		}
		rest, err := accountant.GaussianDP(accountant.Substitute, mu*math.Sqrt(moment))
		if err != nil {
			return rest, err
		}
		return accountant.Compose(first, rest)
	}, 6e-3, 20, *epsilon, delta, true)
	return noise{ridge: ridge, score: 2 * loss.MaxSlope() / (mu * math.Sqrt(optimum)),
		moment: math.Sqrt2 / (mu * math.Sqrt(moment))}, err
}

// simulate draws records as docs/reproduction.md does.
func simulate(rng *rand.Rand) (rows targets.Rows, truth []float64) {
	d := *features
	spread := math.Sqrt(float64(d))
	truth = make([]float64, d)
	for j := range truth {
		truth[j] = *priorSD * rng.NormFloat64()
		if *fixed {
			truth[j] = spread / 2
			if j > 0 {
				truth[j] = 1.5 * spread / math.Sqrt(float64(d-1)) * float64(2*(j%2)-1)
			}
		}
	}
	rows = targets.Rows{P: d}
	x := make([]float64, d)
	for range *records {
		norm := 0.0
		for j := range x {
			x[j] = 1 / spread
			if j > 0 {
				x[j] = rng.NormFloat64() / spread
			}
			norm += x[j] * x[j]
		}
		eta := 0.0
		for j := range x {
			x[j] /= max(1, math.Sqrt(norm))
			eta += x[j] * truth[j]
		}
		y := 0.0
		if rng.Float64() < 1/(1+math.Exp(-eta)) {
			y = 1
		}
		rows.X, rows.Y = append(rows.X, x...), append(rows.Y, y)
	}
	return rows, truth
}

// release makes the statistics of one data set.
func release(rows targets.Rows, v noise, rng *rand.Rand) (surrogates.Statistics, error) {
	d := rows.P
	b := make([]float64, d)
	for j := range b {
		b[j] = v.score * rng.NormFloat64()
	}
	if *pure { // a direction, and a length with a gamma law of shape d
		norm, length := 0.0, 0.0
		for _, x := range b {
			norm += x * x
			length += v.score / math.Sqrt(float64(d+1)) * rng.ExpFloat64()
		}
		for j := range b {
			b[j] *= length / math.Sqrt(norm)
		}
	}
	theta, err := objective(loss, rows, v.ridge, b).Minimise(context.Background())
	if err != nil {
		return surrogates.Statistics{}, err
	}
	s := surrogates.Statistics{Anchor: theta, ScoreSD: v.score, Ridge: v.ridge, MomentSD: v.moment,
		Records: int64(rows.Len()), Radius: 1,
		Moment: make([]float64, d*d), Score: make([]float64, d), Columns: make([]surrogates.Column, d)}
	s.Spherical = *pure
	s.Columns[0] = surrogates.Column{Kind: surrogates.Constant, Upper: 1 / math.Sqrt(float64(d))}
	for j, t := range theta {
		s.Score[j] = -v.ridge * t
	}
	for i := range rows.Len() {
		x := rows.Row(i)
		for j, u := range x {
			for k, t := range x {
				s.Moment[j*d+k] += u * t
			}
		}
	}
	addNoise(s.Moment, d, s.MomentSD, rng)
	return s, nil
}

// sample draws from a posterior, as long as the flags say.
func sample(p surrogates.Posterior, seed uint64) (surrogates.Draws, error) {
	return surrogates.Sample(context.Background(), p, surrogates.SampleConfig{Draws: *draws, Seed: seed, Workers: 1,
		LeastESS: *least, MostRHat: *most})
}

// objective is a loss plus a ridge and a linear term, on rows in the unit ball.
func objective(loss convex.Loss, rows targets.Rows, ridge float64, linear []float64) erm.Objective {
	return erm.Objective{X: rows.X, Y: rows.Y, B: linear, Shape: erm.Shape{Loss: loss, Records: rows.Len(),
		Features: rows.P, Radius: 1, Ridge: ridge,
		Linear: floats.Norm(linear, 2) * (1 + 1e-12)}} // which may be rounded otherwise there
}

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if *tarp {
		return tarpTable()
	}
	if *linear != "" {
		return linearTable(*linear)
	}
	if *untuned != "" {
		return untunedTables(*untuned)
	}
	if *first != "" {
		return firstOrder(*first)
	}
	if *classes != "" {
		return logisticTable(*classes)
	}
	*priorSD = cmp.Or(*priorSD, 3)
	if *dpvi {
		return dpviTable()
	}
	if *rivals {
		objective, draw, err := rivalTable()
		fmt.Printf("n %d d %d ε %v sets %d: median RMSE objective perturbation %.3f, β-OPS %.3f\n", *records, *features,
			*epsilon, *sets, objective, draw)
		return err
	}
	v, err := price()
	if err != nil {
		return err
	}
	var c calibration
	began := time.Now()
	for i := range *sets {
		if err := c.add(v, uint64(i)); err != nil {
			return err
		}
	}
	fmt.Printf("n %d d %d ε %v: of %d not usable %d, usable if the prior is believed %d\n", *records, *features, *epsilon,
		*sets, c.refused, c.believed)
	if *draws == 0 {
		return nil
	}
	fmt.Printf("n %d d %d ε %v sets %d: cover %.3f, median RMSE %.3f (optimum %.3f), least ESS %.0f median %.0f, R-hat "+
		"max %.3f, divergent %.0f, %.0f gradients, %.2f s a set\n",
		*records, *features, *epsilon, *sets, c.held/c.total, median(c.rmse), median(c.anchor), slices.Min(c.ess),
		median(c.ess), slices.Max(c.rhat), slices.Max(c.divergent), median(c.gradients),
		time.Since(began).Seconds()/float64(*sets))
	return nil
}

// calibration is what intervals held over data sets, and how well the sampler explored.
type calibration struct {
	held, total                                   float64
	refused, believed                             int // verdicts
	rmse, anchor, ess, rhat, gradients, divergent []float64
}

// add simulates, releases and samples one data set.
func (c *calibration) add(v noise, set uint64) error {
	rng := rand.New(rand.NewPCG(*seed, set))
	rows, theta := simulate(rng)
	s, err := release(rows, v, rng)
	if err != nil {
		return err
	}
	prior := priors.Gaussian{SD: *priorSD}
	if *effect > 0 {
		prior.SD = 3 * math.Sqrt(float64(*features))
	}
	post, err := surrogates.New(surrogates.Config{Statistics: s, Link: model, Prior: prior, Effect: *effect, Seed: set})
	if err != nil {
		return err
	}
	var drawn surrogates.Draws
	if *draws > 0 {
		if drawn, err = sample(post, set); err != nil {
			return err
		}
	}
	check, err := post.CheckPrior(drawn)
	if err != nil {
		return err
	}
	switch {
	case check.Conflict() || len(check.Narrow) > 0:
		c.refused++
	case check.Unbounded() || len(check.Hidden) > 0:
		c.believed++
	}
	if *draws == 0 {
		return nil
	}
	mean := make([]float64, len(theta))
	for j, t := range theta {
		sum := diag.Summarize(drawn.Column(j))
		if t >= sum.Q5 && t <= sum.Q95 {
			c.held++
		}
		c.total++
		mean[j] = sum.Mean
	}
	c.rmse, c.anchor = append(c.rmse, distance(mean, theta)), append(c.anchor, distance(s.Anchor, theta))
	c.ess, c.rhat = append(c.ess, drawn.LeastESS), append(c.rhat, drawn.MostRHat)
	c.gradients = append(c.gradients, float64(drawn.Gradients))
	c.divergent = append(c.divergent, float64(drawn.Divergences))
	return nil
}

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
