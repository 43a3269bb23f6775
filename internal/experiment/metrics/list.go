package metrics

import (
	"fmt"
	"slices"
	"strings"
)

// Reads says what of the records a metric depends on, besides the release.
type Reads string

// What metrics read.
const (
	Nothing   Reads = ""
	Aim       Reads = "the truth or, for files, the non-private posterior"
	Posterior Reads = "the non-private posterior"
	HeldOut   Reads = "held-out records"
	Attack    Reads = "further runs on altered records"
)

// Metric is a number about a release.
type Metric struct {
	// Name is the name in results, Title that in charts.
	Name, Title string
	// About says in one sentence what it is.
	About string
	// Reads is what it depends on besides the release. Metrics that read nothing
	// may be computed from private data.
	Reads   Reads
	Compute func(*Input) float64
	// LogScale suits charts of values that span orders of magnitude.
	LogScale bool
	// Optional metrics are computed only when a configuration names them.
	Optional bool
	// Share reports that it is at most 1.
	Share bool
}

var list = []Metric{
	{"rmse", "RMSE of the parameters",
		"root-mean-square error of the posterior mean (or estimate) over the parameters, against the simulated truth, or " +
			"the non-private posterior mean for files", Aim, RMSE, true, false, false},
	{"log-rmse", "log RMSE of the parameters", "natural logarithm of rmse", Aim, LogRMSE, false, true, false},
	{"sign-accuracy", "Share of right signs",
		"share of parameters whose estimate has the sign of the truth, or of the non-private posterior mean for files", Aim,
		SignAccuracy, false, false, true},
	{"mean-error", "Error of the mean, in posterior SDs",
		"mean over the parameters of the distance between posterior mean and non-private posterior mean, in non-private " +
			"posterior standard deviations", Posterior, MeanError, true, false, false},
	{"sd-error", "Error of the log SD", "mean over the parameters of |log(sd/non-private sd)|; needs 20 draws", Posterior,
		SDError, false, false, false},
	{"coverage", "Coverage of 90% intervals",
		"share of parameters whose central 90% interval contains the truth, or the non-private posterior mean for files; " +
			"needs 20 draws", Aim, Coverage, false, false, true},
	{"interval-width", "Width of 90% intervals", "mean width of the central 90% intervals; needs 20 draws", Nothing,
		IntervalWidth, true, false, false},
	{"mmd", "MMD to the non-private posterior",
		"maximum mean discrepancy to the non-private posterior: Gaussian kernel of median bandwidth, unbiased, on 500 " +
			"draws of each; its floor is about 1/√ESS", Posterior, MMD, true, false, false},
	{"energy", "Energy distance to the non-private posterior",
		"squared energy distance to the non-private posterior, unbiased, on 500 draws of each", Posterior, Energy, false,
		false, false},
	{"auc", "AUC on held-out records",
		"area under the ROC curve of the posterior predictive probability on held-out records", HeldOut, AUC, false,
		false, true},
	{"log-loss", "Log loss on held-out records",
		"mean negative log posterior predictive probability of held-out responses, in nats", HeldOut, LogLoss, false,
		false, false},
	{"predictive-rmse", "Predictive RMSE on held-out records",
		"root-mean-square error of the predictive mean on held-out records, in the file's units", HeldOut, PredictiveRMSE,
		true, false, false},
	{"ess", "Effective sample size",
		"least bulk effective sample size of any parameter; the number of draws where they are independent", Nothing, ESS,
		true, false, false},
	{"membership", "Membership-inference advantage",
		"1 − FPR − FNR of a loss-threshold attack on a record at the edge of the public bounds, fitted on some runs and " +
			"judged on others", Attack, Membership, false, true, true},
}

// List returns the metrics in the order of reports.
func List() []Metric { return slices.Clone(list) }

// ByName returns the metric of a name, or an error that lists the names.
func ByName(name string) (Metric, error) {
	var names []string
	for _, m := range list {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Metric{}, fmt.Errorf("there is no metric %q; the metrics are %s", name, strings.Join(names, ", "))
}
