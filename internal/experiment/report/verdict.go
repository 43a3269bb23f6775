package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpmcmc/dpmcmc/internal/experiment"
	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
)

// Verdict is what the results say in a few sentences: the first is the headline, then
// one for each budget. Differences count beyond two standard errors.
func Verdict(r *experiment.Results) []string {
	judged := judgement(r)
	if judged == "" {
		return []string{"No method was judged against the truth: that would look at the records for free."}
	}
	var lines []string
	wins := map[string]int{}
	all := 0
	for _, records := range sizes(r) {
		for _, e := range epsilons(r) {
			close := closest(r, judged, records, e)
			if close == nil {
				continue
			}
			all++
			for _, s := range close {
				wins[s.Label]++
			}
			lines = append(lines, budgetLine(r, close, records, e))
		}
	}
	headline, most := "No method has a result.", 0
	for _, label := range labels(r) {
		if wins[label] > most {
			most = wins[label]
			headline = fmt.Sprintf("%s has the least %s, or one that cannot be told from it, at %d of %d budgets.", label,
				titleOf(r, judged), most, all)
		}
	}
	return append([]string{headline}, lines...)
}

// judgement is the metric that methods are judged by: the first of these that there is.
func judgement(r *experiment.Results) string {
	for _, name := range []string{"rmse", "predictive-rmse", "log-loss"} {
		for _, s := range r.Summary {
			if s.Metric == name {
				return name
			}
		}
	}
	return ""
}

func titleOf(r *experiment.Results, metric string) string {
	for _, m := range r.Metrics {
		if m.Name == metric {
			return m.Title
		}
	}
	return metric
}

// closest are the private methods with the least of a metric, and those that cannot be
// told from it, the least first.
func closest(r *experiment.Results, metric string, records int, epsilon float64) (list []experiment.Summary) {
	for _, s := range r.Summary {
		if s.Metric != metric || s.Records != records || s.Epsilon != epsilon || s.Guarantee == methods.None {
			continue
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b experiment.Summary) int { return cmp.Compare(a.Mean, b.Mean) })
	kept := list[:min(1, len(list))]
	for i := 1; i < len(list); i++ {
		if list[i].Mean-list[0].Mean <= 2*math.Hypot(standardError(list[i]), standardError(list[0])) {
			kept = append(kept, list[i])
		}
	}
	return kept
}

func standardError(s experiment.Summary) float64 { return s.SD / math.Sqrt(float64(s.N)) }

// nominal is the coverage that intervals promise.
const nominal = 0.9

// budgetLine is the verdict at one budget.
func budgetLine(r *experiment.Results, close []experiment.Summary, records int, epsilon float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ε = %s", experiment.Epsilon(epsilon))
	if len(sizes(r)) > 1 {
		fmt.Fprintf(&b, ", %d records", records)
	}
	fmt.Fprintf(&b, ": %s (%s", close[0].Label, short(close[0].Mean))
	var keep, fail, none []string
	for _, s := range r.Summary {
		switch {
		case s.Records != records:
		case s.Metric == close[0].Metric && s.Guarantee == methods.None:
			none = append(none, short(s.Mean))
		case s.Metric != "coverage" || s.Epsilon != epsilon || s.Guarantee == methods.None:
		case s.Mean+2*standardError(s) >= nominal:
			keep = append(keep, s.Label)
		default:
			fail = append(fail, fmt.Sprintf("%s (%s)", s.Label, short(s.Mean)))
		}
	}
	if none != nil {
		fmt.Fprintf(&b, "; without privacy %s", none[0])
	}
	b.WriteString(")")
	for _, s := range close[1:] {
		fmt.Fprintf(&b, ", %s (%s)", s.Label, short(s.Mean))
	}
	b.WriteString(".")
	if keep != nil {
		fmt.Fprintf(&b, " Intervals of 90%% keep their promise: %s.", strings.Join(keep, ", "))
	}
	if fail != nil {
		fmt.Fprintf(&b, " Intervals of 90%% hold less: %s.", strings.Join(fail, ", "))
	}
	return b.String()
}
