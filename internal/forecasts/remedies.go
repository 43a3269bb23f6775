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
	searches := []func(context.Context) []string{r.simpler, r.more}
	about, err := chains.Describe(f.Settings.Kernel)
	switch {
	case err != nil:
		return nil, err
	case tooFew(f):
		searches = []func(context.Context) []string{r.longer}
	case !about.Anchored: // which more ε or records hardly help
		searches = []func(context.Context) []string{r.anchored, r.simpler}
	}
	for _, search := range searches {
		found = append(found, search(ctx)...)
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
	about, err := chains.Describe(kernel)
	walks := err == nil && !about.Anchored
	var b strings.Builder
	switch {
	case len(s) == 0 && walks:
	case len(s) == 0:
		b.WriteString("Nothing that was tried is predicted to be enough. Ask for fewer parameters, or spend more.\n")
	case len(s) == 1:
		fmt.Fprintf(&b, "This is predicted to be enough:\n  %s\n", s[0])
	default:
		fmt.Fprintf(&b, "Each of these by itself is predicted to be enough:\n  %s\n", strings.Join(s, "\n  "))
	}
	if walks {
		b.WriteString("--temperature auto widens the posterior until the budget buys draws of it\n" +
			"(dpmcmc plan says how wide).\n")
	}
	return b.String()
}

// shows reports whether the run is predicted to show a posterior: of one simulated table first, since most
// that do not say so there. What has no forecast does not.
func (r Run) shows(ctx context.Context) bool {
	for _, r.Config.Repeats = range slices.Compact([]int{1, Tables}) {
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
func (r Run) longer(ctx context.Context) []string {
	r.Settings.Iterations = 0
	return r.named(ctx, "more --iterations, such as their default")
}

// anchored is another kernel.
func (r Run) anchored(ctx context.Context) []string {
	r.Settings = chains.Settings{Kernel: "anchored"}
	return r.named(ctx, "--kernel anchored, which pays once for what this kernel pays for in every step")
}

// named is what the run is called, if it shows a posterior.
func (r Run) named(ctx context.Context, as string) []string {
	if !r.shows(ctx) {
		return nil
	}
	return []string{as}
}

// simpler is the first that shows a posterior of ever simpler settings and models of the same responses.
func (r Run) simpler(ctx context.Context) (found []string) {
	m, name, said := r.Config.Models[0], r.Config.Models[0].Name, []string{}
	o := r.Options
	for _, step := range []struct {
		asked bool
		words string
		take  func()
	}{
		{r.Settings.Aim != "", "the default of --aim", func() { r.Settings.Aim = "" }},
		{o.Beta != 0, "--loss log without --beta", func() { o.Loss, o.Beta = "log", 0 }},
		{o.DegreesOfFreedom != 0, "normal errors, without --degrees-of-freedom", func() { o.DegreesOfFreedom = 0 }},
		{slices.Contains([]string{"median", "heteroscedastic", "network"}, name), "--model " + models.Suggest(m.Shape),
			func() { name, o, said = "", models.Options{}, said[len(said)-1:] }},
	} {
		if !step.asked || len(found) > 0 {
			continue
		}
		said = append(said, step.words)
		step.take()
		if other, err := models.New(name, m.Shape, o); err == nil {
			found = r.of(other).named(ctx, strings.Join(said, " and "))
		}
	}
	return found
}

// more is about the least ε, and the least number of records: noise is in proportion to 1/(εN), so that one
// says where to look for the other.
func (r Run) more(ctx context.Context) (found []string) {
	m, asked := r.Config.Models[0], r.Epsilon
	x, ok := least(grid(asked, mostEpsilon), func(x float64) bool {
		r.Epsilon = x
		return r.shows(ctx)
	})
	if ok {
		found = append(found, fmt.Sprintf("--epsilon %v", x))
	} else {
		x = mostEpsilon
	}
	r.Epsilon = asked
	sizes := grid(0.9*float64(m.Shape.Records)*x/asked, mostRecords)
	for _, records := range sizes[:min(2, len(sizes))] {
		shape := *m.Shape
		shape.Records = int(records)
		if other, err := models.New(m.Name, &shape, m.Options); err == nil && r.of(other).shows(ctx) {
			return append(found, fmt.Sprintf("%.0f records, at this ε", records))
		}
	}
	return found
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
