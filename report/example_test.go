package report_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/dpmcmc/dpmcmc/report"
)

func Example() {
	page := report.Page{
		Title:   "Logistic regression of sick on age",
		Verdict: report.Verdict{Usable: true, Headline: "Usable: the chains explored the posterior."},
		Privacy: []report.Fact{{Name: "ε, δ",
			Value: "1, 1e-6, unconditional, substitution, zCDP with the conversion of Canonne et al. 2020"}},
		Parameters: []report.Parameter{{
			Name: "age", Unit: "log-odds per year", Chains: [][]float64{{.1, .2, .15, .12, .18, .11, .17, .14}},
		}},
	}
	dir, err := os.MkdirTemp("", "report")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	f, err := os.Create(filepath.Join(dir, "report.html"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	fmt.Println(report.Write(f, page))
	// Output: <nil>
}
