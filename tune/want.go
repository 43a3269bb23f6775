package tune

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/models"
)

// Want is a limit on one figure of a Forecast: what a run must be worth.
type Want struct {
	Figure string  // interval, error or ess
	Limit  float64 // at most, of interval and error; at least, of ess
}

// wants are the ways to say it.
var wants = regexp.MustCompile(`^(?:(intervals?|error|ess)\s*)?(?:[×x]\s*)?([0-9.eE+-]+)$`)

// ParseWant reads "interval ×1.5" (or x1.5, or ×1.5 alone), "error 0.5" or "ess 400".
func ParseWant(text string) (Want, error) {
	parts := wants.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	w := Want{Figure: "interval"}
	var err error
	if parts != nil {
		if parts[1] == "error" || parts[1] == "ess" {
			w.Figure = parts[1]
		}
		w.Limit, err = strconv.ParseFloat(parts[2], 64)
	}
	least := map[string]float64{"interval": 1}[w.Figure]
	if parts == nil || err != nil || !(w.Limit > least) || math.IsInf(w.Limit, 1) {
		return w,
			fmt.Errorf("it is %q; it must be \"interval ×W\" with W above 1, \"error E\" (in standard deviations of the "+
				"non-private posterior) or \"ess N\", such as \"interval ×1.5\"", text)
	}
	return w, nil
}

// String is the want in words.
func (w Want) String() string {
	switch w.Figure {
	case "error":
		return fmt.Sprintf("error at most %g", w.Limit)
	case "ess":
		return fmt.Sprintf("ESS at least %g", w.Limit)
	}
	return fmt.Sprintf("intervals at most ×%g", w.Limit)
}

// short is by what factor the information has to grow for a forecast to be as wanted; at
// most 1 where it is. Of draws that show no posterior no figure is as wanted.
func (w Want) short(f Forecast) float64 {
	factor := 0.0
	switch {
	case !f.Met:
	case w.Figure == "interval":
		factor = (f.Widening*f.Widening - 1) / (w.Limit*w.Limit - 1)
	case w.Figure == "error":
		factor = f.Error * f.Error / (w.Limit * w.Limit)
	default:
		factor = w.Limit / f.ESS
	}
	if !f.Met || f.Doubted != "" || math.IsNaN(factor) {
		return 16
	}
	return min(16, max(factor, 1.0/16))
}

// wanted walks to the least x in [low, high] at which a forecast is as wanted, to a
// twentieth. The information of a run grows about as a power of x.
func (w Want) wanted(low, x, high, power float64, forecast func(x float64) (Forecast, error)) (float64,
	Forecast, error) {
	const tries = 12
	below, above, best := low, math.Inf(1), Forecast{}
	for range tries {
		f, err := forecast(x)
		if err != nil {
			return 0, f, err
		}
		factor := w.short(f)
		if factor <= 1 {
			above, best = x, f
		} else {
			below = x
		}
		if above <= 1.05*below || above == low {
			return above, best, nil
		}
		if below == high {
			return 0, f, fmt.Errorf("tune: %v would take more than %.4g", w, high)
		}
		next := x * math.Pow(factor*1.02, 1/power)
		if !(next > below) || !(next < above) {
			next = math.Sqrt(below * min(above, high))
		}
		x = min(high, max(low, next))
	}
	if math.IsInf(above, 1) {
		return 0, best, fmt.Errorf("tune: %v was not reached at %.4g", w, x)
	}
	return above, best, nil
}

// The ε that are looked at, and the records.
const (
	leastEpsilon, mostEpsilon = 0.01, 50
	fewestRecords             = 20
	mostRecords               = 1e9
)

// EpsilonFor returns about the least ε at which chains of the settings are predicted to be worth
// what is wanted, with the forecast there. c is as for Foresee. Errors: those of Foresee; a want
// that ε = 50 does not meet.
func EpsilonFor(ctx context.Context, c Config, s chains.Settings, w Want) (float64, Forecast, error) {
	epsilon, f, err := w.wanted(leastEpsilon, 1, mostEpsilon, 2, func(epsilon float64) (Forecast, error) {
		return c.one(ctx, s, roundUp(epsilon))
	})
	if err == nil {
		epsilon = roundUp(epsilon)
	}
	return epsilon, f, err
}

// RecordsFor returns about the least number of records at which chains of the settings are
// predicted to be worth what is wanted at epsilon, with the forecast there. Tables have the first
// model's shape. Errors: those of Foresee; a want that 10⁹ records do not meet.
func RecordsFor(ctx context.Context, c Config, s chains.Settings, w Want, epsilon float64) (int64, Forecast, error) {
	if len(c.Models) == 0 || c.Models[0] == nil || c.Models[0].Shape == nil {
		return 0, Forecast{}, fmt.Errorf("tune: RecordsFor needs a model of a shape")
	}
	m := c.Models[0]
	x, f, err := w.wanted(fewestRecords, 10_000, mostRecords, 1, func(records float64) (Forecast, error) {
		shape := *m.Shape
		shape.Records = int(roundUp(records))
		other, err := models.New(m.Name, &shape, m.Options)
		if err != nil {
			return Forecast{}, err
		}
		c.Models = []*models.Model{other}
		return c.one(ctx, s, epsilon)
	})
	return int64(roundUp(x)), f, err
}

// one is the forecast at one ε.
func (c Config) one(ctx context.Context, s chains.Settings, epsilon float64) (Forecast, error) {
	f, err := Foresee(ctx, c, s, epsilon)
	if err != nil {
		return Forecast{}, err
	}
	return f[0], nil
}

// roundUp is a figure to three digits, as people write it.
func roundUp(x float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(math.Ceil(x/unit-1e-9)*unit, 'g', 3, 64), 64)
	return rounded
}

// usualESS is what Temper buys where nothing else is asked for.
const usualESS = 400

// coldest bounds how far Temper goes down.
const coldest = 1e-6

// spare is how many times what is asked for a whole chain on a simulated table must have,
// since the real one may be harder.
const spare = 2

// Temper is about the largest temperature, two digits of it, at which chains of the
// settings are predicted to have the ESS that they ask for within ε: walks over whole
// chains on a simulated table, from where real ones start. It is 1 where chains are
// anchored, but for those of order 1. c is as for Foresee. Errors: those of Foresee; an ESS
// that no temperature buys.
func Temper(ctx context.Context, c Config, s chains.Settings, epsilon float64) (float64, Forecast, error) {
	w := Want{Figure: "ess", Limit: usualESS}
	if s.ESS != 0 {
		w.Limit = s.ESS
	}
	first, err := c.one(ctx, s, epsilon)
	if err != nil {
		return 0, first, err
	}
	about, err := chains.Describe(first.Settings.Kernel)
	if err != nil || w.short(first) <= 1 || about.Anchored && !refusable(c.Models[0].Target, first.Settings) {
		return 1, first, err
	}
	heat := func(x float64) float64 {
		rounded, _ := strconv.ParseFloat(strconv.FormatFloat(0.97/x, 'g', 2, 64), 64)
		return rounded
	}
	at := func(x float64) (Forecast, error) {
		s.Temperature = heat(x)
		return c.one(ctx, s, epsilon)
	}
	x, _, err := w.wanted(1, 2, 1/coldest, 1, at)
	if ctx.Err() != nil {
		return 0, first, ctx.Err()
	}
	if err != nil { // near a mode, moves promise less than there is where it has gone
		x = 2
	}
	c.through, w.Limit = true, spare*w.Limit
	for heat(x) >= coldest {
		f, err := at(x)
		if err != nil || w.short(f) <= 1 {
			return heat(x), f, err
		}
		x *= max(1.25, min(8, w.short(f)))
	}
	return 0, first, fmt.Errorf("tune: no temperature down to %v buys an %v", coldest, w)
}
