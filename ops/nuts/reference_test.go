package nuts

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/internal/shared"
)

// reference holds the figures of a posterior's reference draws.
type reference struct {
	Params   []string
	Mean, SD []float64
	MCSEMean []float64 `json:"mcse_mean"`
}

// readReference returns an entry of posteriordb/reference.json: 10 chains of
// 1000 thinned draws by rstan (posteriordb commit 28f8d3d), and for the two
// logistic regressions 10 chains of 10000.
func readReference(t testing.TB, name string) reference {
	t.Helper()
	raw, err := os.ReadFile(shared.Path(t, "posteriordb/reference.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Posteriors map[string]reference
		Logistic   struct{ Posteriors map[string]reference }
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	if r, ok := all.Posteriors[name]; ok {
		return r
	}
	r, ok := all.Logistic.Posteriors[name]
	if !ok {
		t.Fatalf("no reference for %s", name)
	}
	return r
}

// referenceCase is one posterior with settings that resolve its spread to well
// below 3%.
type referenceCase struct {
	name  string
	model func(testing.TB) model
	settings
}

// settings are what a case changes of the defaults.
type settings struct {
	metric MetricKind
	draws  int
	accept float64
}

// fastCases are cheap per gradient; the others are in reference_slow_test.go.
var fastCases = []referenceCase{
	{"sblrc-blr", blr, settings{draws: 10000}},
	{"earnings-earn_height", func(t testing.TB) model { return earnHeight(t).posterior() },
		settings{metric: Dense, draws: 10000}},
	{"kidiq-kidscore_momiq", kidscore, settings{metric: Dense, draws: 10000}},
	{"nes1980-nes", func(t testing.TB) model { return nes(t).posterior() }, settings{metric: Dense, draws: 10000}},
	{"diamonds-diamonds", diamonds, settings{metric: Dense, draws: 10000}},
	{"mesquite-logmesquite_logvash", func(t testing.TB) model { return mesquite(t).posterior() },
		settings{metric: Dense, draws: 10000}},
	{"eight_schools-eight_schools_noncentered", eightSchools, settings{draws: 15000, accept: 0.95}},
	{"low_dim_gauss_mix-low_dim_gauss_mix", gaussMix, settings{draws: 3000}},
	{"wells_data-wells_dist100_model", wellsDist, settings{metric: Dense, draws: 2000}},
}

func TestReferencePosteriors(t *testing.T) {
	for _, c := range fastCases {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
}

// check samples the posterior and compares with the reference: means within 4
// combined Monte Carlo standard errors, standard deviations within 3%, R-hat
// below 1.01, and no divergence or other trouble.
//
// False alarms for another seed: 4 standard errors are exceeded once in 16000
// scores, so by one of the 75 means in 0.5% of seeds; a standard deviation with
// 4500 and more effective draws is known to 1.1%, that of the reference to 0.7%
// (τ of eight schools: 1.5%), so 3% is exceeded more often. The seed is fixed: the
// run is the same each time. The tests against exact laws, below and in
// law_test.go, are those with a rate below 1e-5.
func (c referenceCase) check(t *testing.T) {
	ref := readReference(t, c.name)
	m := c.model(t)
	chains, err := Sample(t.Context(), func() LogDensity { return m },
		Config{Metric: c.metric, Draws: c.draws, TargetAccept: c.accept, Seed: 2026})
	if err != nil {
		t.Fatal(err)
	}
	var gradients, smallest = 0, math.Inf(1)
	draws := make([][][]float64, len(chains))
	for k, chain := range chains {
		gradients += chain.Gradients
		for _, theta := range chain.Draws {
			draws[k] = append(draws[k], m.constrain(theta))
		}
	}
	for p, s := range diag.SummarizeAll(ref.Params, draws) {
		smallest = min(smallest, s.ESSBulk, s.ESSTail)
		if z := (s.Mean - ref.Mean[p]) / math.Hypot(s.MCSEMean, ref.MCSEMean[p]); !(math.Abs(z) <= 4) {
			t.Errorf("%s: mean %v, reference %v: %.1f standard errors apart", s.Name, s.Mean, ref.Mean[p], z)
		}
		if ratio := s.SD / ref.SD[p]; !(math.Abs(ratio-1) <= 0.03) {
			t.Errorf("%s: sd %v, reference %v: ratio %.4f", s.Name, s.SD, ref.SD[p], ratio)
		}
		if !(s.RHat < diag.MaxRHat) {
			t.Errorf("%s: R-hat %v", s.Name, s.RHat)
		}
	}
	if warnings := Diagnose(chains).Warnings(); len(warnings) > 0 {
		t.Errorf("warnings: %v", warnings)
	}
	t.Logf("smallest ESS %.0f of %d draws, %d gradients", smallest, len(chains)*c.draws, gradients)
}

// TestExactRegressions: under flat priors σ² has a scaled inverse χ² law and the
// coefficients a multivariate t law with ν = n - p - 1 degrees of freedom, whose
// moments are known: no reference draws are needed. Scores as in TestGaussian.
func TestExactRegressions(t *testing.T) {
	for name, load := range map[string]func(testing.TB) *regression{
		"earnings": earnHeight, "nes": nes, "mesquite": mesquite,
	} {
		r := load(t)
		nu := r.records - float64(len(r.best)) - 1
		means, sds := slices.Clone(r.best), make([]float64, len(r.best))
		exact := inverse(r.gram)
		for i := range sds {
			sds[i] = math.Sqrt(r.rss / (nu - 2) * exact.At(i, i))
		}
		// E σ = √(RSS/2)·Γ((ν-1)/2)/Γ(ν/2) and E σ² = RSS/(ν-2).
		upper, _ := math.Lgamma((nu - 1) / 2)
		lower, _ := math.Lgamma(nu / 2)
		sigma := math.Sqrt(r.rss/2) * math.Exp(upper-lower)
		means, sds = append(means, sigma), append(sds, math.Sqrt(r.rss/(nu-2)-sigma*sigma))
		chains, err := Sample(t.Context(), func() LogDensity { return r }, Config{Metric: Dense, Draws: 10000, Seed: 4})
		if err != nil {
			t.Fatal(err)
		}
		draws := drawsOf(chains)
		for _, chain := range draws {
			for i, theta := range chain {
				chain[i] = r.posterior().constrain(theta)
			}
		}
		if z := scores(draws, means, sds); largest(z) > alarm {
			t.Errorf("%s: scores %.1f", name, z)
		}
	}
}

// TestGradients compares every model's gradient with central differences.
func TestGradients(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range append(slices.Clone(fastCases), referenceCase{"wells_data-wells_interaction_c_model",
		wellsInteraction, settings{}}) {
		m := c.model(t)
		theta, grad, spare := make([]float64, m.Dim()), make([]float64, m.Dim()), make([]float64, m.Dim())
		for i := range theta {
			theta[i] = rng.Float64()
		}
		m.LogDensityGrad(grad, theta)
		for i := range theta {
			const h = 1e-5
			moved := slices.Clone(theta)
			moved[i] += h
			up := m.LogDensityGrad(spare, moved)
			moved[i] -= 2 * h
			down := m.LogDensityGrad(spare, moved)
			if slope := (up - down) / (2 * h); math.Abs(slope-grad[i]) > 1e-4*(math.Abs(grad[i])+1)+1e-11*math.Abs(up)/h {
				t.Errorf("%s: slope %d is %v, differences give %v", c.name, i, grad[i], slope)
			}
		}
	}
}
