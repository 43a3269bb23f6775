package forecasts

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/tune"
)

// Run is what is forecast before it is paid for.
type Run struct {
	Config   tune.Config     // with the model of the run alone
	Settings chains.Settings // those that are given
	Options  models.Options  // of the model, those that are given
	Epsilon  float64
}

// Remedies are what would do for a run with a forecast of no posterior. Errors: ctx's.
func (r Run) Remedies(ctx context.Context, f tune.Forecast) (found Remedies, err error) {
	searches := []func(context.Context) string{r.simpler, r.dearer, r.larger}
	about, err := chains.Describe(f.Settings.Kernel)
	switch {
	case err != nil:
		return nil, err
	case tooFew(f):
		searches = []func(context.Context) string{r.longer}
	case !about.Anchored: // which more ε or records hardly help
		searches = []func(context.Context) string{r.anchored, r.simpler}
	}
	for _, search := range searches {
		if text := search(ctx); text != "" {
			found = append(found, text)
		}
	}
	return found, ctx.Err()
}

// Remedies are changes of a run that shows no posterior, each by itself, with which its forecast
// says that it does.
type Remedies []string

// The most ε and records that remedies have.
const (
	mostEpsilon = 50
	mostRecords = 1e7
)

// words is the remedies for people, of a run of a kernel.
func (s Remedies) words(kernel string) string {
	var b strings.Builder
	switch {
	case len(s) == 0:
		fmt.Fprintf(&b, "No ε up to %v and no table of up to %.0f records is predicted to be enough.\n"+
			"Ask for fewer parameters.\n", mostEpsilon, mostRecords)
	case len(s) == 1:
		fmt.Fprintf(&b, "This is predicted to be enough:\n  %s\n", s[0])
	default:
		fmt.Fprintf(&b, "Each of these by itself is predicted to be enough:\n  %s\n", strings.Join(s, "\n  "))
	}
	if about, err := chains.Describe(kernel); err == nil && !about.Anchored {
		b.WriteString("--temperature auto widens the posterior until the budget buys draws of it\n" +
			"(dpmcmc plan says how wide).\n")
	}
	return b.String()
}

// shows reports whether the run is predicted to show a posterior: of one simulated table first, since most
// that do not say so there. What has no forecast does not.
func (r Run) shows(ctx context.Context) bool {
	for _, r.Config.Repeats = range slices.Compact([]int{1, r.Config.Repeats}) {
		f, err := Foresee(ctx, r.Config, r.Settings, r.Epsilon)
		if err != nil || !f[0].Posterior() {
			return false
		}
	}
	return true
}

// of is the run of another model.
func (r Run) of(m *models.Model) Run {
	r.Config.Models = []*models.Model{m}
	return r
}

// longer is the default of iterations.
func (r Run) longer(ctx context.Context) string {
	r.Settings.Iterations = 0
	if !r.shows(ctx) {
		return ""
	}
	return "more --iterations, such as their default"
}

// anchored is another kernel.
func (r Run) anchored(ctx context.Context) string {
	r.Settings = chains.Settings{Kernel: "anchored"}
	if !r.shows(ctx) {
		return ""
	}
	return "--kernel anchored, which pays once for what this kernel pays for in every step"
}

// simpler is the first of ever simpler models of the same responses.
func (r Run) simpler(ctx context.Context) string {
	m := r.Config.Models[0]
	name, options, changes := m.Name, r.Options, []string{}
	try := func(change string) bool {
		changes = append(changes, change)
		other, err := models.New(name, m.Shape, options)
		return err == nil && r.of(other).shows(ctx)
	}
	said := func() string { return strings.Join(changes, " and ") }
	if options.Beta != 0 {
		options.Loss, options.Beta = "log", 0
		if try("--loss log without --beta") {
			return said()
		}
	}
	if options.DegreesOfFreedom != 0 {
		options.DegreesOfFreedom = 0
		if try("normal errors, without --degrees-of-freedom") {
			return said()
		}
	}
	if !slices.Contains([]string{"median", "heteroscedastic", "network"}, name) {
		return ""
	}
	name, options, changes = models.Suggest(m.Shape), models.Options{}, nil
	if try("--model " + name) {
		return said()
	}
	return ""
}

// dearer is about the least ε.
func (r Run) dearer(ctx context.Context) string {
	x, ok := least(grid(r.Epsilon, mostEpsilon), func(x float64) bool {
		r.Epsilon = x
		return r.shows(ctx)
	})
	if !ok {
		return ""
	}
	return fmt.Sprintf("--epsilon %v", x)
}

// larger is about the least number of records.
func (r Run) larger(ctx context.Context) string {
	m := r.Config.Models[0]
	x, ok := least(grid(float64(m.Shape.Records), mostRecords), func(x float64) bool {
		shape := *m.Shape
		shape.Records = int(x)
		other, err := models.New(m.Name, &shape, m.Options)
		return err == nil && r.of(other).shows(ctx)
	})
	if !ok {
		return ""
	}
	return fmt.Sprintf("%.0f records, at this ε", x)
}

// grid are 1, 2, 5, 10 and so on, from those above low to high.
func grid(low, high float64) (xs []float64) {
	for power := int(math.Floor(math.Log10(low))); ; power++ {
		for _, digit := range "125" {
			x, _ := strconv.ParseFloat(fmt.Sprintf("%ce%d", digit, power), 64)
			if x > high {
				return xs
			}
			if x > low {
				xs = append(xs, x)
			}
		}
	}
}

// least is the first x at which it holds, by bisection: where it holds it is taken to hold of
// larger ones. It was seen to hold at the one that is returned.
func least(xs []float64, holds func(x float64) bool) (float64, bool) {
	i := sort.Search(len(xs), func(i int) bool { return holds(xs[i]) })
	if i == len(xs) {
		return 0, false
	}
	return xs[i], true
}
