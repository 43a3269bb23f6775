package chains

import (
	"cmp"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/starts"
	"github.com/dpmcmc/dpmcmc/targets"
)

// StartNames returns the words that the setting start takes; it takes parameter values too.
func StartNames() []string {
	return []string{"auto", "optimum", "gradient", "prior-mean", "prior-draw"}
}

// aboutStarts says how the setting start works, for people.
const aboutStarts = "auto is a private optimum for logistic regression, a descent along noisy gradients for other " +
	"regressions on a linear predictor and where gradients are clipped, and else the prior mean, which is free, as " +
	"are a draw from the prior and values; a charged start takes start-share of ε"

// chooseStart fills start and start-share, and prices the start.
func (c *choice) chooseStart(k family) error {
	c.start = starts.Config{Target: c.Target, Temperature: c.Temperature}
	var err error
	if k.mechanism || k.anchored { // which have none, or their own
		if k.anchored && (c.given.Start != "" && c.given.Start != "auto" || c.given.StartShare != 0 ||
			c.given.StartEpsilon != 0 || c.StartReach != 0) {
			return bad("start", "%s %s finds its own start; leave out %s, %s, %s and %s", name("kernel"), c.Kernel,
				name("start"),
				name("start-share"), name("start-epsilon"), name("start-reach"))
		}
		c.startCost, err = starts.Cost(c.start, c.Facts)
		return err
	}
	switch c.Start {
	case "prior-mean":
	case "auto":
		err = c.chooseAutomatically()
	case "prior-draw":
		c.start.Kind = starts.PriorDraw
	case "optimum":
		if !c.Logistic {
			return bad("start", "%s optimum is for logistic regression; use gradient", name("start"))
		}
		err = c.affordStart(starts.Optimum)
	case "gradient":
		err = c.affordStart(starts.Gradient)
	default:
		c.start.Value, err = c.startValues()
	}
	if err != nil {
		return err
	}
	if c.StartReach != 0 && c.start.Kind != starts.Gradient {
		return bad("start-reach", "%s is for %s gradient, and the chains' is %s", name("start-reach"), name("start"), c.Start)
	}
	if !c.start.Kind.Charged() {
		if auto := c.given.Start == "" || c.given.Start == "auto"; (c.given.StartShare != 0 ||
			c.given.StartEpsilon != 0) && !auto {
			return bad("start-share", "%s and %s are for starts that are charged, %s", name("start-share"),
				name("start-epsilon"), "optimum and gradient")
		}
		c.StartShare, c.StartEpsilon = 0, 0
	}
	c.startCost, err = starts.Cost(c.start, c.Facts)
	return err
}

// chooseAutomatically takes the first start that the model and the budget allow. It
// descends only where the bound on a gradient is of the size of a gradient: where
// the loss is one of the linear predictor alone, or a clip was given. A bound that
// rests on the least scale of errors is far above it, and the descent would follow
// noise.
func (c *choice) chooseAutomatically() error {
	if err := c.checkShare(); err != nil {
		return err
	}
	var kinds []starts.Kind
	if c.Logistic {
		kinds = append(kinds, starts.Optimum)
	}
	if _, linear := c.Target.(targets.LinearTarget); linear || c.gradientClip() != 0 {
		kinds = append(kinds, starts.Gradient)
	}
	for _, kind := range kinds {
		if c.affordStart(kind) == nil {
			c.Start = kind.String()
			return nil
		}
	}
	c.Start, c.start.Kind = "prior-mean", starts.Given
	return nil
}

// affordStart makes the start of the kind that start-share of ε pays for.
func (c *choice) affordStart(kind starts.Kind) error {
	if err := c.checkShare(); err != nil {
		return err
	}
	start := c.start
	start.Kind = kind
	if kind == starts.Gradient {
		start.Clip, start.Reach = c.startClip(), c.StartReach
		if _, ok := c.Target.(targets.GradTarget); ok && c.pricing && start.Clip == 0 {
			start.Clip = 1 // the price does not depend on it
		}
		if start.Clip == 0 {
			return bad("start",
				"%s gradient needs a model that has gradients and bounds them; use prior-mean, prior-draw or values", name("start"))
		}
	}
	start, err := starts.Afford(start, c.Facts, c.startEpsilon(), c.Delta)
	var unreachable *accountant.UnreachableError
	if errors.As(err, &unreachable) {
		return bad("start-share", "%s %v of ε does not pay for %s %v; raise it, or use prior-mean: %w",
			name("start-share"), c.startEpsilon()/c.Epsilon, name("start"), kind.String(), err)
	}
	if err == nil {
		c.start = start
	}
	return err
}

// checkShare fills start-share, unless start-epsilon is given.
func (c *choice) checkShare() error {
	if c.StartEpsilon != 0 {
		if !c.pricing && !(c.StartEpsilon < c.Epsilon) {
			return bad("start-epsilon", "%s is %v; it must be below ε = %v, for the chains to have the rest",
				name("start-epsilon"), c.StartEpsilon, c.Epsilon)
		}
		return nil
	}
	c.StartShare = cmp.Or(c.StartShare, starts.DefaultShare)
	switch {
	case !(c.StartShare < 1):
		return bad("start-share", "%s is %v; it must be in (0, 1), for the chains to have the rest", name("start-share"),
			c.StartShare)
	case c.Epsilon == 0:
		return bad("start-epsilon", "%s %s needs %s where ε is not known", name("start"), c.Start, name("start-epsilon"))
	}
	return nil
}

// startEpsilon is the ε that a charged start takes alone.
func (c *choice) startEpsilon() float64 { return cmp.Or(c.StartEpsilon, c.StartShare*c.Epsilon) }

// gradientClip is the clip that was given, if it is one of gradients; else 0.
func (c *choice) gradientClip() float64 {
	if families[c.Kernel].clipsGradients {
		return c.given.Clip
	}
	return 0
}

// startClip bounds a record's tempered gradient: by the clip that was given, or by
// the model's certificate; 0 where nothing does.
func (c *choice) startClip() float64 {
	target, ok := c.Target.(targets.GradTarget)
	if !ok {
		return 0
	}
	if clip := c.gradientClip(); clip != 0 {
		return clip
	}
	if certificate, ok := target.(targets.GradCertificate); ok && c.Facts.Radius > 0 {
		if bound := c.Temperature * certificate.GradBound(c.Facts.Radius); bound > 0 && !math.IsInf(bound, 1) {
			return bound
		}
	}
	return 0
}

// startValues reads values separated by commas.
func (c *choice) startValues() ([]float64, error) {
	fields := strings.Split(c.Start, ",")
	values := make([]float64, len(fields))
	for i, f := range fields {
		v, err := strconv.ParseFloat(strings.TrimSpace(f), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, bad("start", "%s is %q; it must be one of %s, or finite values separated by commas", name("start"),
				c.Start, strings.Join(StartNames(), ", "))
		}
		values[i] = v
	}
	if len(values) != c.Target.Dim() {
		return nil, bad("start", "%s has %d values; the model has %d parameters", name("start"), len(values), c.Target.Dim())
	}
	return values, nil
}

// chainEpsilon is about the ε that the chains alone may spend, and never more:
// costs add in squares, up to what a composition of different releases loses.
func (c *choice) chainEpsilon() float64 {
	share := c.startEpsilon() / c.Epsilon
	if share == 0 {
		return c.Epsilon
	}
	return 0.95 * c.Epsilon * math.Sqrt(1-share*share)
}
