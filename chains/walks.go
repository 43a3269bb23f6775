package chains

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/penalty"
	"github.com/dpmcmc/dpmcmc/targets"
	"github.com/dpmcmc/dpmcmc/tunamh"
)

// The random walks: symmetric moves that a test accepts or rejects.

const (
	leastBatch   = 200  // expected records of a step, at least
	batchNoise   = 0.5  // bound on the log-odds' batch variance that a default batch keeps
	mostRate     = 0.99 // of the records, for an exact minibatch by default
	thinningRoom = 2.1  // times its bound, of an exact minibatch's intensity: it needs twice
	thinningEase = 8    // times its bound by default: a record's dearer part is then below 7%
	thinnedNoise = 0.2  // bound on the log-odds' variance that an exact minibatch adds by default
	ratioNoise   = 2    // default standard deviation of a released ratio of a typical move
)

// chooseBarker fills step with the largest move that the budget covers and
// batch with a size that keeps the batch's noise small against the logistic's.
// The price hardly depends on the batch (theory 5.1), so one is chosen for the
// step, and the step solved again.
func (c *choice) chooseBarker() (err error) {
	free := c.given.Batch == 0 && c.given.Rate == 0 && !c.FullData
	if free {
		c.Batch = min(leastBatch, c.Facts.Records)
	}
	if err := c.chooseStep(); err != nil || !free {
		return err
	}
	// A record moves the full log-odds by about a typical contribution times a
	// fair sign, so a batch of b has variance at most (N·typical)²/4b.
	total := float64(c.Facts.Records) * c.typical()
	b := math.Ceil(total * total / (4 * batchNoise))
	switch {
	case b <= leastBatch:
		return nil
	case b >= float64(c.Facts.Records)/2 && !c.FixedBatch:
		c.FullData, c.Batch = true, 0
	default:
		c.Batch = int64(min(b, float64(c.Facts.Records)))
	}
	return c.chooseStep()
}

// chooseStep fills step with the largest move that the budget covers.
func (c *choice) chooseStep() (err error) {
	switch {
	case c.given.Step != 0:
	case c.pricing && c.Clip != 0 && c.slope() == 0:
		c.Step = 1 // the clip alone sets the price
	default:
		if err = c.required("step"); err == nil {
			c.Step, err = c.solveStep()
			c.Step = min(c.Step, c.widest())
		}
	}
	return err
}

// widest is the longest step that is of use where the posterior is as wide as the prior:
// Roberts, Gelman, Gilks 1997.
func (c *choice) widest() float64 {
	const draws, normal = 101, 1.4826 // of median distances
	prior, ok := c.Target.(targets.PriorSampler)
	if !ok || c.Proposal != "isotropic" {
		return math.Inf(1)
	}
	d, rng := c.Target.Dim(), rand.New(rand.NewPCG(1, widestStream))
	columns, theta := make([][]float64, d), make([]float64, d)
	for range draws {
		prior.SamplePrior(theta, rng)
		for j, v := range theta {
			columns[j] = append(columns[j], v)
		}
	}
	least := math.Inf(1)
	for _, v := range columns {
		slices.Sort(v)
		centre := v[draws/2]
		for i := range v {
			v[i] = math.Abs(v[i] - centre)
		}
		slices.Sort(v)
		least = min(least, normal*v[draws/2])
	}
	return 2.4 * least / math.Sqrt(float64(d))
}

const widestStream = 0x71de

func (c *choice) choosePenalty() error {
	c.Variance = cmp.Or(c.Variance, 4)
	c.useFullData()
	return c.chooseStep()
}

// choosePenaltyRatio makes moves so short that the noise in the ratio of a
// typical one leaves it a chance to be accepted.
func (c *choice) choosePenaltyRatio() error {
	c.clipToPrice(c.slope() != 0)
	release, err := c.withMostNoise()
	if err != nil {
		return err
	}
	if err := c.affordIterations(release, func(n int64) int64 { return n }, 1); err != nil {
		return err
	}
	if err := c.chooseNoise(); err != nil {
		return err
	}
	if c.given.Step == 0 {
		bound := c.Clip
		if bound == 0 {
			bound = c.slope()
		}
		c.Step = ratioNoise / (2 * c.Noise * bound * math.Sqrt(float64(c.Target.Dim())))
	}
	return nil
}

// withMostNoise is the price of one noisy ratio with the most noise.
func (c *choice) withMostNoise() (accountant.Event, error) {
	if c.Clip == 0 && c.slope() == 0 {
		return accountant.Event{}, c.unbounded("part of the log-odds of a move of length 1")
	}
	one := *c
	one.Noise = curator.MostNoise
	r, err := one.plan()
	if err != nil {
		return accountant.Event{}, err
	}
	return r.step, nil
}

// clipToPrice gives releases whose price does not depend on their clip one of 1, where
// nothing else bounds a record.
func (c *choice) clipToPrice(bounded bool) {
	if c.pricing && c.Clip == 0 && !bounded {
		c.Clip = 1
	}
}

// chooseThinned solves for the step; the rate follows from it (see thinning).
func (c *choice) chooseThinned() error {
	if err := c.chooseStep(); err != nil {
		return err
	}
	rate, err := c.thinning()
	c.Rate = rate
	return err
}

// thinning is rate, or the least that keeps the batch's variance in the
// log-odds small and that the longest move allows.
func (c *choice) thinning() (float64, error) {
	if c.given.Rate != 0 {
		return c.Rate, nil
	}
	proposal, _, err := c.moves(c.Step)
	if err != nil {
		return 0, err
	}
	bound := c.clipFor(c.Step)
	if bound == 0 {
		longest := min(proposal.LongestMove(), (math.Sqrt(float64(c.Target.Dim()))+4)*c.Step)
		if proposal.OneComponent {
			longest = 5 * c.Step
		}
		bound = c.slope() * longest
	}
	n, typical := float64(c.Facts.Records), c.typical()
	intensity := max(thinningEase*bound, n*typical*typical/(4*thinnedNoise), leastBatch/n)
	return max(min(-math.Expm1(-intensity), mostRate), -math.Expm1(-thinningRoom*bound)), nil
}

// typical is the size of a record's part of the log-odds of a typical move.
func (c *choice) typical() float64 {
	if clip := c.clipFor(c.Step); clip != 0 {
		return clip / 2
	}
	return c.slope() * c.Step
}

// slope is the model's certificate for a record's part of the log-odds of a move
// of length 1; 0 when it has none.
func (c *choice) slope() float64 {
	linear, ok := c.Target.(targets.LinearTarget)
	if !ok || c.Facts.Radius == 0 || math.IsInf(linear.PredictorLipschitz(), 1) {
		return 0
	}
	return c.Temperature * linear.PredictorLipschitz() * c.Facts.Radius
}

// clipFor is clip, or its default: none where a certificate along the move
// holds, else twice the length of a typical move.
func (c *choice) clipFor(scale float64) float64 {
	if c.Clip != 0 || c.slope() > 0 {
		return c.Clip
	}
	return 2 * scale * math.Sqrt(float64(c.Target.Dim())) * c.Temperature
}

// barkerChain is a chain of Barker's test.
func (c *choice) barkerChain() (*parts, error) {
	proposal, _, err1 := c.moves(c.Step)
	batch, err2 := c.Scheme(c.Facts)
	test, err3 := parseTest(c.Test)
	accounting, err4 := parseAccounting(c.Accounting)
	if err := cmp.Or(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	config := barker.Config{
		Target: c.Target, Proposal: proposal, Iterations: c.granted(), Test: test, Batch: batch,
		Temperature: c.Temperature, Clip: c.clipFor(c.Step), Accounting: accounting,
	}
	step, err := barker.Cost(config, c.Facts)
	return &parts{
		step: step, prepare: prepared(config, barker.Prepare),
		Released: fmt.Sprintf("one accept/reject bit (%v; %v)", test, batch),
		Test:     test.String(), Batch: batch, Clip: config.Clip,
	}, err
}

// penaltyChain is a chain of the penalty test that releases decisions.
func (c *choice) penaltyChain() (*parts, error) {
	proposal, guided, err1 := c.moves(c.Step)
	batch, err2 := c.Scheme(c.Facts)
	if err := cmp.Or(err1, err2); err != nil {
		return nil, err
	}
	config := penalty.Config{
		Target: c.Target, Proposal: proposal, Guided: guided, Noise: penalty.Fixed(c.Variance), Iterations: c.granted(),
		Batch: batch, Temperature: c.Temperature, Clip: c.clipFor(c.Step),
	}
	step, err := penalty.Cost(config, c.Facts)
	return &parts{
		step: step, prepare: prepared(config, penalty.Prepare),
		Released: fmt.Sprintf("one accept/reject bit (penalty test, variance %v; %v)%s", c.Variance, batch, walk(guided)),
		Test:     fmt.Sprintf("penalty, variance %v", c.Variance), Batch: batch, Clip: config.Clip,
	}, err
}

// walk names what is not a plain walk, for Released.
func walk(guided bool) string {
	if guided {
		return " of a guided walk"
	}
	return ""
}

// penaltyRatioChain is a chain of the penalty test that releases noisy ratios.
// Their price does not depend on the moves, so one is priced before the step is
// known.
func (c *choice) penaltyRatioChain() (*parts, error) {
	proposal, guided, err := c.moves(cmp.Or(c.Step, 1))
	if err != nil {
		return nil, err
	}
	config := penalty.Config{
		Target: c.Target, Proposal: proposal, Guided: guided, Noise: penalty.Scaled(c.Noise), Iterations: c.granted(),
		Temperature: c.Temperature, Clip: c.Clip, Accounting: "published",
	}
	step, err := penalty.Cost(config, c.Facts)
	return &parts{
		step: step, prepare: prepared(config, penalty.Prepare),
		Released: fmt.Sprintf("one noisy log-likelihood ratio%s, noise %.4g times twice its clip (full data)",
			walk(guided), c.Noise),
		Test: "penalty, released ratio", Batch: curator.Batch{}, Clip: config.Clip,
	}, err
}

// thinnedChain is a chain of exact minibatches.
func (c *choice) thinnedChain() (*parts, error) {
	proposal, _, err1 := c.moves(c.Step)
	rate, err2 := c.thinning()
	if err := cmp.Or(err1, err2); err != nil {
		return nil, err
	}
	config := tunamh.Config{
		Target: c.Target, Proposal: proposal, Iterations: c.granted(), Rate: rate,
		Temperature: c.Temperature, Clip: c.clipFor(c.Step),
	}
	step, err := tunamh.Cost(config, c.Facts)
	return &parts{
		step: step, prepare: prepared(config, tunamh.Prepare),
		Released: fmt.Sprintf("one accept/reject bit (exact minibatches; rate %.4g)", rate),
		Test:     "Barker's on exact minibatches", Batch: curator.Batch{Rate: rate}, Clip: config.Clip,
	}, err
}
