package chains

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/starts"
	"github.com/dpmcmc/dpmcmc/targets"
)

// StartNames are the words that the setting start takes beside values.
func StartNames() []string {
	return []string{"auto", "optimum", "gradient", "prior-mean", "prior-draw"}
}

// DescribeStarts says how the setting start works, for people.
func DescribeStarts() string {
	return "auto is a private optimum for logistic regression, a descent along noisy gradients for other regressions on a linear predictor and where gradients are clipped, and else the prior mean, which is free, as are a draw from the prior and values; a charged start takes start-share of ε"
}

// FindStart charges the start and makes it, where the setting start is given. All
// chains may share it. seed is the public seed of a draw from the prior. After Open
// the budget covers it. Errors are those of starts.Find.
func (r *Plan) FindStart(ctx context.Context, records *curator.Curator, seed uint64) (starts.Start, error) {
	c := r.Start
	c.Seed = seed
	return starts.Find(ctx, c, records)
}

// StartCost is the part of Cost that is the start's. It is nothing for a free one.
func (r *Plan) StartCost() accountant.Event { return r.startCost }

// chooseStart fills start and start-share, and prices the start.
func (c *choice) chooseStart() error {
	c.start = starts.Config{Target: c.Target, Temperature: c.Temperature}
	var err error
	switch c.Start {
	case "":
		if c.StartShare != 0 {
			return bad("start-share", "%s is given without %s", name("start-share"), name("start"))
		}
		free, err := accountant.Pure(c.Facts.Adjacency, 0)
		if err != nil {
			return err
		}
		c.startCost, err = free.Times(0)
		return err
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
	if !c.start.Kind.Charged() {
		if c.given.StartShare != 0 && c.given.Start != "auto" {
			return bad("start-share", "%s is for starts that are charged, %s", name("start-share"), "optimum and gradient")
		}
		c.StartShare = 0
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
		if start.Clip = c.startClip(); start.Clip == 0 {
			return bad("start", "%s gradient needs a model that has gradients and bounds them; use prior-mean, prior-draw or values", name("start"))
		}
	}
	start, err := starts.Afford(start, c.Facts, c.StartShare*c.Epsilon, c.Delta)
	var unreachable *accountant.UnreachableError
	if errors.As(err, &unreachable) {
		return bad("start-share", "%s %v of ε does not pay for %s %v; raise it, or use prior-mean: %w", name("start-share"), c.StartShare, name("start"), kind.String(), err)
	}
	if err == nil {
		c.start = start
	}
	return err
}

// checkShare fills start-share.
func (c *choice) checkShare() error {
	c.StartShare = cmp.Or(c.StartShare, starts.DefaultShare)
	if !(c.StartShare < 1) {
		return bad("start-share", "%s is %v; it must be in (0, 1), for the chains to have the rest", name("start-share"), c.StartShare)
	}
	return nil
}

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
			return nil, bad("start", "%s is %q; it must be one of %s, or finite values separated by commas", name("start"), c.Start, strings.Join(StartNames(), ", "))
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
	if c.StartShare == 0 {
		return c.Epsilon
	}
	return 0.95 * c.Epsilon * math.Sqrt(1-c.StartShare*c.StartShare)
}
