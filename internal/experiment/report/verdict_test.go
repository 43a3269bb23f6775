package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/experiment"
	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
	"github.com/dpmcmc/dpmcmc/internal/experiment/metrics"
)

// made are results of three methods at two budgets, with 4 repeats.
func made() *experiment.Results {
	r := &experiment.Results{Metrics: metrics.List()[:1]}
	add := func(label, metric string, guarantee methods.Kind, epsilon, mean, sd float64) {
		r.Setups = append(r.Setups, experiment.Setup{Label: label, Records: 100, Epsilon: epsilon, Guarantee: guarantee})
		r.Summary = append(r.Summary, experiment.Summary{Label: label, Records: 100, Metric: metric, Epsilon: epsilon,
			Guarantee: guarantee, N: 4, Mean: mean, SD: sd})
	}
	add("best of all", "rmse", methods.None, 0, 0.1, 0)
	for _, e := range []float64{1, 3} {
		add("near", "rmse", methods.Unconditional, e, 1/e, 0.2)
		add("also near", "rmse", methods.Unconditional, e, 1/e+0.1, 0.2)
		add("far", "rmse", methods.Unconditional, e, 2, 0.2)
		add("near", "coverage", methods.Unconditional, e, 0.5, 0.1)
		add("far", "coverage", methods.Unconditional, e, 0.88, 0.1)
	}
	return r
}

// TestVerdict: the least error, what cannot be told from it, what is left out, and which
// intervals hold; the better method wins whichever comes first.
func TestVerdict(t *testing.T) {
	r := made()
	got := Verdict(r)
	want := []string{
		"near has the least RMSE of the parameters, or one that cannot be told from it, at 2 of 2 budgets.",
		"ε = 1: near (1; without privacy 0.1), also near (1.1). Intervals of 90% keep their promise: far. " +
			"Intervals of 90% hold less: near (0.5).",
	}
	if len(got) != 3 || !slices.Equal(got[:2], want) {
		t.Errorf("the verdict is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	slices.Reverse(r.Summary)
	if again := Verdict(r); !strings.HasPrefix(again[1], "ε = 1: near (1; without privacy 0.1), also near") {
		t.Errorf("in another order the verdict is\n%s", strings.Join(again, "\n"))
	}
	if got := Verdict(&experiment.Results{}); len(got) != 1 || !strings.Contains(got[0], "No method was judged") {
		t.Errorf("of nothing: %q", got)
	}
}
