package chains

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/barkerdynamics"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/dphmc"
	"github.com/dpmcmc/dpmcmc/dpsgld"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/sgnht"
	"github.com/dpmcmc/dpmcmc/targets"
)

// The kernels with gradients. Their steps are chosen by three public lengths:
// the budget's, the noise's, and that of the posterior, for whose precision
// N·c²/τ is a bound of Fisher's kind, c bounding a record's gradient.

// noiseShare is the part of the Langevin noise that the privacy noise supplies by
// default.
const noiseShare = 0.9

// gradients is the model's target with its bound on a record's tempered
// gradient: the clip, or the certificate.
func (c *choice) gradients() (targets.GradTarget, float64, error) {
	target, ok := c.Target.(targets.GradTarget)
	if !ok {
		return nil, 0, bad("kernel", "%s %s needs gradients, which the model does not have; choose another",
			name("kernel"), c.Kernel)
	}
	if c.Clip != 0 {
		return target, c.Clip, nil
	}
	if certificate, ok := target.(targets.GradCertificate); ok {
		if bound := c.Temperature * certificate.GradBound(c.Facts.Radius); bound > 0 && !math.IsInf(bound, 1) {
			return target, bound, nil
		}
	}
	return nil, 0, c.unbounded("gradient")
}

// unbounded says that nothing bounds a record's part in what is released.
func (c *choice) unbounded(what string) error {
	return bad("clip", "%s %s needs %s: with this model and loss nothing else bounds a record's %s", name("kernel"),
		c.Kernel, name("clip"), what)
}

// width is a public lower estimate of the posterior's standard deviations.
func (c *choice) width(bound float64) float64 {
	return math.Sqrt(c.Temperature/float64(c.Facts.Records)) / bound
}

// chooseDynamics keeps unadjusted moves within the posterior's width, so that
// they bias the chain little.
func (c *choice) chooseDynamics() error {
	_, bound, err := c.gradients()
	if err != nil || c.given.Step != 0 {
		return err
	}
	if err := c.required("step"); err != nil {
		return err
	}
	longest, err := c.solveStep()
	c.Step = min(longest, c.width(bound))
	return err
}

// chooseAdjusted needs no such bound.
func (c *choice) chooseAdjusted() error {
	if _, _, err := c.gradients(); err != nil {
		return err
	}
	if c.given.Step == 0 {
		if err := c.required("step"); err != nil {
			return err
		}
	}
	return c.chooseStep()
}

// chooseIterations fills iterations of kernels that release gradients: so many
// in a chain of n iterations, which the most noise must make affordable within a
// share of ε.
func (c *choice) chooseIterations(gradients func(n int64) int64, share float64) error {
	c.useFullData()
	if c.given.Noise == 0 {
		if err := c.required("noise"); err != nil {
			return err
		}
	}
	loudest, err := c.langevin()
	if err != nil {
		return err
	}
	loudest.NoiseMultiplier = curator.MostNoise
	release, err := dpsgld.Cost(loudest, c.Facts)
	if err != nil {
		return err
	}
	err = c.affordIterations(release, func(n int64) int64 { return c.epochs(c.Facts, gradients(n)) }, share)
	if each := c.epoch(c.Facts); c.given.Iterations == 0 {
		c.Iterations = max(1, c.Iterations/each) * each
	}
	return err
}

// langevinStep is the default step size of Langevin dynamics: nearly the longest
// whose privacy noise is not above the Langevin noise, and short enough to be
// stable. The published update drifts twice as far in a step.
func (c *choice) langevinStep() (float64, error) {
	_, bound, err := c.gradients()
	if err != nil {
		return 0, err
	}
	variance, err := c.gradientVariance()
	if err != nil {
		return 0, err
	}
	width, drift := c.width(bound), 0.5
	if c.AsPublished {
		drift = 1
	}
	return min(noiseShare/(drift*drift*variance), width*width/drift), nil
}

// gradientVariance is the variance of the noise in a coordinate of a released
// gradient of the full data.
func (c *choice) gradientVariance() (float64, error) {
	config, err := c.langevin()
	if err != nil {
		return 0, err
	}
	config.Step, config.AsPublished = kernels.Constant(1), false
	share, err := dpsgld.NoiseShare(config, c.Facts) // of a step of length 1, whose drift is ½
	return 4 * share, err
}

func (c *choice) chooseLangevin() error {
	_, _, unbounded := c.gradients()
	c.clipToPrice(unbounded == nil)
	err := c.chooseIterations(func(n int64) int64 { return n }, 1)
	if err == nil {
		err = c.chooseNoise()
	}
	if err == nil && c.given.Step == 0 {
		c.Step, err = c.langevinStep()
	}
	return err
}

// chooseThermostat takes steps h with friction 1/h, for which the thermostat moves
// as far as Langevin dynamics of step 2h².
func (c *choice) chooseThermostat() error {
	if err := c.chooseLangevin(); err != nil {
		return err
	}
	if c.given.Step == 0 {
		c.Step = math.Sqrt(c.Step / 2)
	}
	if c.given.Friction == 0 {
		c.Friction = 1 / c.Step
	}
	return nil
}

// chooseHamiltonian gives the test half of the budget's ρ, which goes as ε², and
// gradients the rest, of which the most noise must leave a part.
func (c *choice) chooseHamiltonian() error {
	gradients := func(n int64) int64 { return n*c.Leapfrog + 1 }
	if err := c.chooseIterations(gradients, 0.5); err != nil {
		return err
	}
	longest, err := c.chooseTest()
	if err != nil {
		return err
	}
	if err := c.chooseNoise(); err != nil || c.given.Step != 0 {
		return err
	}
	_, bound, err := c.gradients()
	if err != nil {
		return err
	}
	variance, err := c.gradientVariance()
	if err != nil {
		return err
	}
	length, dim := float64(c.Leapfrog), float64(c.Target.Dim())
	c.Step = min(longest/(length*math.Sqrt(dim)), 1/math.Sqrt(length*variance), c.width(bound))
	return nil
}

// chooseTest fills the setting that half of the budget's ρ buys for the test, and
// returns the length of moves that it leaves a chance to.
func (c *choice) chooseTest() (float64, error) {
	byPenalty, err := c.penaltyAccepts()
	if err != nil {
		return 0, err
	}
	if !byPenalty {
		if c.given.RatioNoise != 0 {
			return 0, bad("ratio-noise", "%s is for %s penalty", name("ratio-noise"), name("acceptance"))
		}
		if c.given.MaxMove == 0 {
			if err = c.required("max-move"); err == nil {
				err = c.solveMaxMove()
			}
		}
		return c.MaxMove, err
	}
	if c.given.MaxMove != 0 {
		return 0, bad("max-move", "%s is for %s barker; the penalty test lets moves of any length pass", name("max-move"),
			name("acceptance"))
	}
	target, _, err := c.gradients()
	if err != nil {
		return 0, err
	}
	perLength := cmp.Or(c.ratioClip(), c.slope())
	if c.given.RatioNoise == 0 {
		if err := c.required("ratio-noise"); err != nil {
			return 0, err
		}
		c.RatioNoise, err = c.quietest("ratio-noise", func(noise float64) (accountant.Event, error) {
			ratio := curator.NoisyRatio{Target: target, Temperature: c.Temperature, Clip: perLength, PerLength: true,
				NoiseMultiplier: noise}
			event, err := ratio.Event(c.Facts)
			if err != nil {
				return event, err
			}
			return event.Times(c.Iterations * c.Chains)
		}, c.chainEpsilon()*math.Sqrt2/2)
	}
	return ratioNoise / (2 * c.RatioNoise * perLength), err
}

// solveMaxMove fills max-move with the longest whose bits the half of the
// budget covers.
func (c *choice) solveMaxMove() error {
	target, _, err := c.gradients()
	if err != nil {
		return err
	}
	longest, err := largest(func(length float64) (accountant.Event, error) {
		bit := curator.AcceptanceBit{Target: target, Temperature: c.Temperature, Proposal: curator.Proposal{Radius: length},
			Clip: c.ratioClip() * length}
		event, err := bit.Event(c.Facts)
		if err != nil {
			return event, err
		}
		return event.Times(c.Iterations * c.Chains)
	}, c.chainEpsilon()*math.Sqrt2/2, c.Delta)
	if err != nil {
		return bad("max-move", "no %s fits the budget: %w", name("max-move"), err)
	}
	c.MaxMove = longest
	return nil
}

// ratioClip bounds a record's part of the log-odds of a move of length 1: not at
// all where the model certifies it, and else by the bound on its gradient.
func (c *choice) ratioClip() float64 {
	if c.Clip == 0 && c.slope() > 0 {
		return 0
	}
	_, bound, _ := c.gradients()
	return bound
}

// dynamicsChain is a chain of Barker proposal dynamics.
func (c *choice) dynamicsChain(adjusted bool) (*parts, error) {
	target, _, err := c.gradients()
	if err != nil {
		return nil, err
	}
	config := barkerdynamics.Config{
		Target: target, Scale: c.Step, Iterations: c.granted(), Temperature: c.Temperature, Clip: c.Clip, Adjusted: adjusted,
	}
	step, err := barkerdynamics.Cost(config, c.Facts)
	r := &parts{
		step: step, prepare: prepared(config, barkerdynamics.Prepare),
		Released: fmt.Sprintf("%d signs, one for each parameter (full data)", target.Dim()),
		Batch:    curator.Batch{}, Clip: c.Clip,
	}
	if adjusted {
		r.Released = fmt.Sprintf("%d signs, one for each parameter, and one accept/reject bit (full data)", target.Dim())
		r.Test = curator.Test{}.String()
	}
	return r, err
}

// langevin describes a Langevin chain. The price of a gradient does not depend
// on the step, so one is priced before that is known.
func (c *choice) langevin() (dpsgld.Config, error) {
	target, _, err1 := c.gradients()
	batch, err2 := c.Scheme(c.Facts)
	power, err3 := c.power()
	step := kernels.Constant(cmp.Or(c.Step, 1))
	if power > 0 {
		step = kernels.Polynomial(cmp.Or(c.Step, 1), float64(c.Iterations)/shrinking, power)
	}
	return dpsgld.Config{Driven: kernels.Driven{Target: target, Iterations: c.granted(), Step: step,
			NoiseMultiplier: c.Noise, Clip: c.Clip, Batch: batch, Temperature: c.Temperature}, AsPublished: c.AsPublished},
		cmp.Or(err1, err2, err3)
}

const shrinking = 10 // offsets of a polynomial schedule in a chain

func (c *choice) langevinChain() (*parts, error) {
	config, err := c.langevin()
	if err != nil {
		return nil, err
	}
	step, err := dpsgld.Cost(config, c.Facts)
	r := &parts{
		step: step, prepare: prepared(config, dpsgld.Prepare),
		Released: fmt.Sprintf("one noisy gradient, noise %.4g times twice its clip (%v)", c.Noise, config.Batch),
		Batch:    config.Batch, Clip: c.Clip,
	}
	if c.AsPublished {
		r.Caveat = "The published update samples from the SQUARE of the tempered posterior (π², about half of its " +
			"variance), not from the posterior."
	}
	return r, err
}

func (c *choice) thermostatChain() (*parts, error) {
	r, err := c.langevinChain()
	if err != nil {
		return nil, err
	}
	config, err := c.langevin()
	r.prepare = prepared(sgnht.Config{Driven: config.Driven, Friction: c.Friction}, sgnht.Prepare)
	return r, err
}

// jitter is the width of the spread of step sizes: enough to keep trajectories from
// returning, and half the published one's loss of length.
const jitter = 0.3

// hamiltonianChain is a chain of trajectories. Their price does not depend on
// the step either.
func (c *choice) hamiltonianChain() (*parts, error) {
	target, _, err1 := c.gradients()
	batch, err2 := c.Scheme(c.Facts)
	byPenalty, err3 := c.penaltyAccepts()
	if err := cmp.Or(err1, err2, err3); err != nil {
		return nil, err
	}
	config := dphmc.Config{
		Target: target, Iterations: c.granted(), Steps: int(c.Leapfrog), StepSize: cmp.Or(c.Step, 1),
		Temperature: c.Temperature,
		JitterWidth: jitter, GradientNoise: c.Noise, GradientClip: c.Clip, GradientBatch: batch, RatioClip: c.ratioClip(),
	}
	test, look := curator.Test{}.String(), "one accept/reject bit"
	if byPenalty {
		config.Acceptance, config.RatioNoise = dphmc.PublishedPenalty, c.RatioNoise
		test, look = "penalty, released ratio", fmt.Sprintf("one noisy log-likelihood ratio, noise %.4g times twice its clip",
			c.RatioNoise)
	} else {
		config.MaxMove = c.MaxMove
	}
	first, err1 := curator.NoisyGradient{
		Target: target, Temperature: c.Temperature, Clip: c.Clip, NoiseMultiplier: c.Noise, Batch: batch,
	}.Event(c.Facts)
	step, err2 := dphmc.Cost(config, c.Facts)
	config.Continued = c.continued
	return &parts{
		step: step, once: first, prepare: prepared(config, dphmc.Prepare),
		Released: fmt.Sprintf("%d noisy gradients, noise %.4g times twice their clip (%v), and %s (full data); one more "+
			"gradient at the start of a chain",
			c.Leapfrog, c.Noise, batch, look),
		Test: test, Batch: batch, Clip: c.Clip,
	}, cmp.Or(err1, err2)
}
