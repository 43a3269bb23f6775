package report

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// sample is a page of p parameters with chains of n draws; usable or not.
func sample(p, chains, n int, usable bool) Page {
	rng := rand.New(rand.NewPCG(1, 2))
	page := Page{
		Title: "Logistic regression of income on 5 columns <adult.csv>",
		Verdict: Verdict{Usable: usable,
			Headline: "Usable: intervals include the privacy noise, which widened them by ×1.24."},
		Privacy:  []Fact{{"ε, δ", "1, 1e-06"}, {"guarantee", "unconditional"}, {"adjacency", "substitution"}},
		Settings: []Fact{{"kernel", "anchored"}, {"iterations", "2000"}}, RatioName: "Odds ratios",
		Cite: "dpmcmc, version 0, certificate 1234.",
	}
	if !usable {
		page.Verdict.Headline = "Not a posterior: do not use standard deviations or intervals."
		page.Verdict.Reasons = []string{"The least effective sample size is 1.3; 400 are needed."}
		page.Verdict.Advice = []string{"Give a larger ε, or let sample choose the kernel."}
	}
	for j := range p {
		q := Parameter{Name: fmt.Sprintf("column number %d with a long name", j), Unit: "log-odds per year", Ratio: j > 0}
		for range chains {
			var x []float64
			state := 0.0
			rho := float64(j) / float64(p)
			for range n {
				state = rho*state + math.Sqrt(1-rho*rho)*rng.NormFloat64()
				x = append(x, (float64(j-2)+state)/300) // many digits, which need room
			}
			q.Chains = append(q.Chains, x)
		}
		for range 500 {
			q.Prior = append(q.Prior, 3*rng.NormFloat64())
		}
		page.Parameters = append(page.Parameters, q)
	}
	return page
}

func write(t *testing.T, p Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPageNeedsNothingElse: no script, and nothing is loaded from elsewhere.
func TestPageNeedsNothingElse(t *testing.T) {
	text := write(t, sample(4, 2, 300, true))
	text = strings.ReplaceAll(text, `xmlns="http://www.w3.org/2000/svg"`, "")
	for _, bad := range []string{"<script", "src=", "href=", "http:", "https:", "@import", "url("} {
		if strings.Contains(text, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	if strings.Contains(text, "<adult.csv>") || !strings.Contains(text, "&lt;adult.csv&gt;") {
		t.Error("the title is not escaped")
	}
	if dir := os.Getenv("REPORT_PAGES"); dir != "" { // for the screenshots of .ci/check-report
		for name, p := range map[string]Page{"usable": sample(6, 4, 500, true), "unusable": sample(40, 1, 50, false)} {
			if err := os.WriteFile(dir+"/"+name+".html", []byte(write(t, p)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestUnusablePageHasNoIntervals: what is not a posterior shows no spread.
func TestUnusablePageHasNoIntervals(t *testing.T) {
	good, bad := write(t, sample(3, 2, 300, true)), write(t, sample(3, 2, 300, false))
	for _, mark := range []string{`class="thin"`, `class="thick"`, ">sd</th>", ">95%</th>", `class="prior"`} {
		if !strings.Contains(good, mark) {
			t.Errorf("a usable page lacks %s", mark)
		}
		if strings.Contains(bad, mark) {
			t.Errorf("an unusable page has %s", mark)
		}
	}
}

// TestRatiosAreExponentials: of the parameters that have one, on a usable page.
func TestRatiosAreExponentials(t *testing.T) {
	p := sample(2, 1, 100, true)
	two := math.Log(2)
	p.RatioName = "Odds ratios"
	p.Parameters[1] = Parameter{Name: "age", Ratio: true, Chains: [][]float64{{two, two, two, two, two}}}
	const row = "<tr><td>age</td><td>2</td><td>2</td><td>2</td></tr>"
	if text := write(t, p); !strings.Contains(text, row) || strings.Count(text, "per unit of") != 1 {
		t.Errorf("the page lacks %s", row)
	}
	p.Verdict.Usable = false
	if text := write(t, p); strings.Contains(text, "Odds ratios") {
		t.Error("an unusable page has ratios")
	}
}

// TestOddDraws: constant, short and missing draws make a page without NaN in a
// drawing.
func TestOddDraws(t *testing.T) {
	p := sample(1, 1, 10, true)
	p.Parameters = []Parameter{
		{Name: "constant", Chains: [][]float64{{1, 1, 1, 1, 1, 1, 1}}, Prior: []float64{1}},
		{Name: "short", Chains: [][]float64{{1}}},
		{Name: "none", Chains: [][]float64{{}}},
		{Name: "not finite", Chains: [][]float64{{1, math.NaN(), math.Inf(1), 2, 3, 4, 5, 6}}, Prior: []float64{math.NaN()}},
	}
	text := write(t, p)
	for line := range strings.SplitSeq(text, "<svg") {
		drawing, _, _ := strings.Cut(line, "</svg>")
		if strings.Contains(drawing, "viewBox") && (strings.Contains(drawing, "NaN") || strings.Contains(drawing, "Inf")) {
			t.Errorf("a drawing has values that are not numbers: %.200s", drawing)
		}
	}
}

// TestRanksOfEqualChainsAreLevel holds the rank plot to a known case: two chains
// of the same values have one draw in twenty in every bin.
func TestRanksOfEqualChainsAreLevel(t *testing.T) {
	var x []float64
	for i := range 200 {
		x = append(x, float64(i))
	}
	text := string(ranks(Parameter{Name: "p", Chains: [][]float64{x, x}}))
	for _, line := range strings.Split(text, "<polyline")[1:] {
		_, points, _ := strings.Cut(line, `points="`)
		points, _, _ = strings.Cut(points, `"`)
		heights := map[string]bool{}
		for _, pair := range strings.Fields(points) {
			_, y, _ := strings.Cut(pair, ",")
			heights[y] = true
		}
		if len(heights) != 1 {
			t.Errorf("bars of %d heights: %s", len(heights), points)
		}
	}
	shifted := make([]float64, len(x))
	for i := range x {
		shifted[i] = x[i] + 1000
	}
	if apart := string(ranks(Parameter{Name: "p", Chains: [][]float64{x, shifted}})); apart == text {
		t.Error("chains that do not meet look like chains that agree")
	}
}

func TestErrors(t *testing.T) {
	for name, spoil := range map[string]func(*Page){
		"title": func(p *Page) { p.Title = "" }, "Headline": func(p *Page) { p.Verdict.Headline = "" },
		"Privacy": func(p *Page) { p.Privacy = nil }, "Parameters": func(p *Page) { p.Parameters = nil },
		"no name": func(p *Page) { p.Parameters[1].Name = "" }, "chains": func(p *Page) { p.Parameters[1].Chains = nil },
	} {
		p := sample(2, 2, 20, true)
		spoil(&p)
		err := Write(&bytes.Buffer{}, p)
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
