package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"sort"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/starts"
)

// sampleSettings are the flags of sample. All are public.
type sampleSettings struct {
	data, schema, out, config string
	modelSettings
	kernel, test, accounting string
	epsilon, delta           float64
	adjacency                string
	iterations, thin         int64
	warmup                   float64
	chains                   int
	start                    string
	startShare               float64
	step, clip, temperature  float64
	noise, variance          float64 // of gradients, over twice the clip; of the log-odds
	maxMove, friction        float64
	schedule, acceptance     string
	ratioNoise               float64
	asPublished              bool
	leapfrog                 int
	batch                    int64
	rate                     float64
	fixedBatch, fullData     bool
	proposal                 string
	seed                     uint64
	insecureSeed             uint64
	tune                     bool
	json                     bool
}

// The budget of the bare command, which runs on simulated data.
const (
	demoData        = "builtin:logistic?n=50000"
	demoEpsilon     = 1.0
	demoDelta       = 1e-6
	demoTemperature = 0.1 // wide enough for that budget to cross the posterior many times
)

// bind declares the flags; their help states every default.
func (s *sampleSettings) bind(f *pflag.FlagSet) {
	f.StringVar(&s.data, "data", demoData, "a CSV file, or a built-in simulated table (builtin:logistic, builtin:linear, builtin:mixture; settings as in builtin:logistic?n=5000&d=4&seed=2)")
	f.StringVar(&s.schema, "schema", "", "TOML file that states what is public about the CSV file; required for a file (dpmcmc schema drafts one)")
	f.Float64Var(&s.epsilon, "epsilon", 0, "privacy budget ε; required for a file, 1 for a built-in table")
	f.Float64Var(&s.delta, "delta", 0, "privacy budget δ; required for a file, 1e-6 for a built-in table")
	f.StringVar(&s.adjacency, "adjacency", "substitute", "neighbouring data sets: substitute (one record replaced) or add_remove (one left blank); their number is public")
	f.StringVar(&s.model, "model", "", strings.Join(modelNames, ", ")+"; by default what the target column suggests")
	f.StringVar(&s.loss, "loss", "log", "log, or beta for the β-divergence loss")
	f.Float64Var(&s.beta, "beta", 0, "β above 1, with --loss beta")
	f.Float64Var(&s.priorSD, "prior-sd", 3, "standard deviation of the Gaussian prior of every coefficient, in the units of the scaled columns")
	f.Float64Var(&s.minScale, "min-scale", 0.05, "linear model: the least standard deviation of the errors, in units of the scaled target")
	f.Float64Var(&s.degreesOfFreedom, "degrees-of-freedom", 0, "linear model: Student-t errors with this many; normal errors by default")
	f.Float64Var(&s.dispersion, "dispersion", 0, "negative-binomial model: r, public, where a count with mean μ has variance μ + μ²/r")
	f.Float64Var(&s.temperature, "temperature", 1, "τ in (0, 1], multiplies the log-likelihood; a lower one widens the posterior, which a small budget can then explore (0.1 without --data)")
	f.StringVar(&s.kernel, "kernel", "barker", "sampler: "+strings.Join(chains.Names(), ", "))
	f.StringVar(&s.test, "test", "", "acceptance test: logistic (exact, the default), or corrected:C with a Gaussian part of variance C (0.5, 1, 1.5 or 2)")
	f.StringVar(&s.accounting, "accounting", "", "theorem that prices a step: bit (default), published or tightened")
	f.StringVar(&s.proposal, "proposal", "", "isotropic (default), one-component, or truncated:K for moves of at most K·step; penalty kernels: also guided, one-component moves that keep a direction while they are accepted")
	f.StringVar(&s.start, "start", "auto", "where the chains start: "+strings.Join(chains.StartNames(), ", ")+", or values separated by commas; "+chains.DescribeStarts())
	f.Float64Var(&s.startShare, "start-share", 0, fmt.Sprintf("part of ε that a charged start takes alone; costs add up in squares, so the default of %v leaves %.2f of it for the chains", starts.DefaultShare, math.Sqrt(1-starts.DefaultShare*starts.DefaultShare)))
	f.Int64Var(&s.iterations, "iterations", 0, "steps of each chain; by default the kernel's number (above), split among the chains")
	f.Float64Var(&s.step, "step", 0, "standard deviation of a coordinate's move, or step of the dynamics; by default the kernel's choice (above)")
	f.Float64Var(&s.clip, "clip", 0, "bound on one record's part of the log-odds (by default the model's certificate, or 2·τ·step·√(parameters) where it has none); for kernels with gradients, on the norm of its gradient and its part of the log-odds of a move of length 1 (by default the model's certificate; required where it has none)")
	f.Int64Var(&s.batch, "batch", 0, "expected number of records in a step; by default the kernel's choice (above)")
	f.Float64Var(&s.rate, "rate", 0, "probability that a record is in a step's batch, instead of --batch")
	f.BoolVar(&s.fixedBatch, "fixed-batch", false, "draw exactly --batch records without replacement; dearer than the default, Poisson batches")
	f.BoolVar(&s.fullData, "full", false, "use every record in every step")
	f.Float64Var(&s.noise, "noise", 0, "standard deviation of a released gradient's or ratio's noise over twice its clip, at most 512; by default the least that the budget covers")
	f.Float64Var(&s.variance, "variance", 0, "penalty: variance of the noise in the log-odds, 0.25 to 9; by default 4")
	f.IntVar(&s.leapfrog, "leapfrog", 0, "dphmc: leapfrog steps of a trajectory; by default 5")
	f.Float64Var(&s.maxMove, "max-move", 0, "dphmc: longest move that may be accepted; by default the longest whose bits fit half of the budget")
	f.Float64Var(&s.friction, "friction", 0, "sgnht: coupling to the heat bath; by default 1/step")
	f.StringVar(&s.schedule, "schedule", "", "dpsgld: constant (default), or polynomial:P for steps that shrink to (1 + 10t/iterations)^−P of the first; polynomial alone has P = 0.51. Summaries do not weight draws by their steps")
	f.BoolVar(&s.asPublished, "as-published", false, "dpsgld: the published update, which samples from the SQUARE of the posterior, for comparison only")
	f.StringVar(&s.acceptance, "acceptance", "", "dphmc: barker (default), one bit; or penalty, the published test, which releases a noisy log-likelihood ratio")
	f.Float64Var(&s.ratioNoise, "ratio-noise", 0, "dphmc with --acceptance penalty: standard deviation of a ratio's noise over twice its clip; by default the least that half of the budget covers")
	f.IntVar(&s.chains, "chains", 1, "number of chains; every chain spends budget")
	f.Float64Var(&s.warmup, "warmup", 0.5, "share of each chain that summaries leave out; those draws are released and written too")
	f.Int64Var(&s.thin, "thin", 0, "keep every thin-th draw; by default so many that at most 5000 draws a chain are written")
	f.StringVar(&s.out, "out", "", "folder for draws, certificate and summary; by default nothing is written")
	f.Uint64Var(&s.seed, "seed", 1, "public seed of truncated proposals; other randomness is the operating system's")
	f.Uint64Var(&s.insecureSeed, "insecure-seed", 0, "make the whole run repeatable. The result is NOT PRIVATE and is marked so")
	f.BoolVar(&s.tune, "tune", false, "first choose the kernel, unless --kernel is given, and what else is not given on data simulated at the public facts, as dpmcmc tune does; logistic and linear models")
	f.StringVar(&s.config, "config", "", "TOML file with any of these flags as keys; flags given on the command line win")
	f.BoolVar(&s.json, "json", false, "print the certificate and the summary as one JSON object")
}

// applyConfig sets the flags named in the --config file, except those given on
// the command line.
func applyConfig(c *cobra.Command, path string) error {
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	var values map[string]any
	if err := toml.Unmarshal(text, &values); err != nil {
		var where *toml.DecodeError
		if errors.As(err, &where) {
			line, column := where.Position()
			return fmt.Errorf("--config: %s:%d:%d: %v", path, line, column, err)
		}
		return fmt.Errorf("--config: %s: %w", path, err)
	}
	keys := make([]string, 0, len(values))
	for k := range values {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		f := c.Flags().Lookup(k)
		if f == nil || k == "config" || k == "help" {
			return fmt.Errorf("--config: %s: there is no setting %q; the settings are the flags of %s", path, k, c.CommandPath())
		}
		if f.Changed {
			continue
		}
		if err := c.Flags().Set(k, fmt.Sprint(values[k])); err != nil {
			return fmt.Errorf("--config: %s: %s: %w", path, k, err)
		}
	}
	return nil
}

// require reports flags that must be given when the data are a file.
func (s *sampleSettings) require(f *pflag.FlagSet) error {
	if strings.HasPrefix(s.data, "builtin:") {
		if !f.Changed("data") && !f.Changed("temperature") {
			s.temperature = demoTemperature
		}
		if !f.Changed("epsilon") {
			s.epsilon = demoEpsilon
		}
		if !f.Changed("delta") {
			s.delta = demoDelta
		}
		if s.schema != "" {
			return fmt.Errorf("--schema is for files; the built-in table %s states its own", s.data)
		}
		return nil
	}
	if missing := missing(f, []string{"schema", "epsilon", "delta"}); missing != "" {
		return fmt.Errorf("%s with a data file: privacy parameters and public bounds have no defaults (dpmcmc schema --data %s drafts a schema)", missing, s.data)
	}
	return nil
}

// missing names the flags that were not given, or is empty.
func missing(f *pflag.FlagSet, required []string) string {
	var names []string
	for _, name := range required {
		if !f.Changed(name) {
			names = append(names, "--"+name)
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " is required"
	}
	return strings.Join(names, ", ") + " are required"
}
