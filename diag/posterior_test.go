package diag

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// goldenCase is one entry of testdata/posterior.json, which posterior.R wrote
// with the R package posterior 1.4.0; nil stands for R's NA or NaN.
type goldenCase struct {
	Law           string
	Draws, Chains int
	Figures       map[string]*float64 `json:"-"`
}

// readGolden returns the golden cases.
func readGolden(t *testing.T) []goldenCase {
	t.Helper()
	raw, err := os.ReadFile("testdata/posterior.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []goldenCase
	var objects []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &objects); err != nil {
		t.Fatal(err)
	}
	for i, object := range objects {
		cases[i].Figures = map[string]*float64{}
		for name, text := range object {
			if _, ok := figures[name]; !ok {
				continue
			}
			var v *float64
			if err := json.Unmarshal(text, &v); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			cases[i].Figures[name] = v
		}
		if len(cases[i].Figures) != len(figures) {
			t.Fatalf("case %d holds %d figures, not %d", i, len(cases[i].Figures), len(figures))
		}
	}
	return cases
}

// figures names every figure of the golden file and how to compute it.
var figures = map[string]func([][]float64) float64{
	"mean":        func(x [][]float64) float64 { return Summarize(x).Mean },
	"sd":          func(x [][]float64) float64 { return Summarize(x).SD },
	"median":      func(x [][]float64) float64 { return Summarize(x).Median },
	"mad":         func(x [][]float64) float64 { return Summarize(x).MAD },
	"q5":          func(x [][]float64) float64 { return Summarize(x).Q5 },
	"q95":         func(x [][]float64) float64 { return Summarize(x).Q95 },
	"rhat":        RHat,
	"ess_bulk":    ESSBulk,
	"ess_tail":    ESSTail,
	"ess_mean":    ESSMean,
	"ess_median":  func(x [][]float64) float64 { return essAt(x, 0.5) },
	"mcse_mean":   MCSEMean,
	"mcse_sd":     MCSESD,
	"mcse_median": func(x [][]float64) float64 { return mcseAt(x, 0.5) },
	"mcse_q5":     func(x [][]float64) float64 { return mcseAt(x, 0.05) },
	"mcse_q95":    func(x [][]float64) float64 { return mcseAt(x, 0.95) },
}

// ofSummary is the same figure as Summarize reports it.
var ofSummary = map[string]func(Summary) float64{
	"rhat":        func(s Summary) float64 { return s.RHat },
	"ess_bulk":    func(s Summary) float64 { return s.ESSBulk },
	"ess_tail":    func(s Summary) float64 { return s.ESSTail },
	"mcse_mean":   func(s Summary) float64 { return s.MCSEMean },
	"mcse_sd":     func(s Summary) float64 { return s.MCSESD },
	"mcse_median": func(s Summary) float64 { return s.MCSEMedian },
	"mcse_q5":     func(s Summary) float64 { return s.MCSEQ5 },
	"mcse_q95":    func(s Summary) float64 { return s.MCSEQ95 },
}

// chains makes the draws of a golden case as posterior.R does.
func (g goldenCase) chains(t *testing.T) [][]float64 {
	t.Helper()
	laws := map[string]func(x, c float64) float64{
		"ties":    func(x, _ float64) float64 { return math.Floor(5 * x) },
		"shifted": func(x, c float64) float64 { return x + c },
		"spread":  func(x, c float64) float64 { return x * c * c },
		"heavy":   func(x, _ float64) float64 { return math.Tan(math.Pi * (x - 0.5)) },
		"bits":    func(x, _ float64) float64 { return math.Floor(2 * x) },
		"large":   func(x, _ float64) float64 { return 1e6 + x },
		"frozen":  func(_, c float64) float64 { return c },
	}
	slopes := map[string]float64{"slow": 0.9, "odd": 0.5, "antithetic": -0.7}
	out := make([][]float64, g.Chains)
	for c := range out {
		x := uniforms(g.Draws, 1001+c)
		if slope, ok := slopes[g.Law]; ok {
			for i := range x {
				x[i] -= 0.5
				if i > 0 {
					x[i] += float64(slope * x[i-1])
				}
			}
		} else if law, ok := laws[g.Law]; ok {
			for i := range x {
				x[i] = law(x[i], float64(c+1))
			}
		} else {
			t.Fatalf("unknown law %q", g.Law)
		}
		out[c] = x
	}
	return out
}

// uniforms returns n numbers of the generator of Park and Miller (1988).
func uniforms(n, seed int) []float64 {
	u := make([]float64, n)
	for i := range u {
		seed = 16807 * seed % 2147483647
		u[i] = float64(seed) / 2147483647
	}
	return u
}

// agree reports whether got is want to 1e-8 relative, nil meaning NaN. The
// golden file has 15 digits.
func agree(got float64, want *float64) bool {
	if want == nil {
		return math.IsNaN(got)
	}
	return math.Abs(got-*want) <= 1e-8*math.Abs(*want)
}

func TestPosteriorGolden(t *testing.T) {
	for _, g := range readGolden(t) {
		x := g.chains(t)
		summary := Summarize(x)
		for name, figure := range figures {
			want := g.Figures[name]
			if got := figure(x); !agree(got, want) {
				t.Errorf("%s %d×%d: %s is %.15g, posterior has %v", g.Law, g.Chains, g.Draws, name, got, show(want))
			}
			if of, ok := ofSummary[name]; ok && !agree(of(summary), want) {
				t.Errorf("%s %d×%d: Summarize has %s %.15g, posterior %v", g.Law, g.Chains, g.Draws, name, of(summary), show(want))
			}
		}
	}
}

// show prints a golden value.
func show(want *float64) any {
	if want == nil {
		return "NA"
	}
	return *want
}

// essAt is essQuantile of unsorted draws, and mcseAt mcseQuantile.
func essAt(chains [][]float64, p float64) float64 {
	chains, _ = align(chains)
	return essQuantile(chains, pooled(chains), p)
}

func mcseAt(chains [][]float64, p float64) float64 {
	return mcseQuantile(pooled(chains), p, essAt(chains, p))
}
