package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/internal/convex"
	"github.com/dpmcmc/dpmcmc/internal/experiment/metrics"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// adultWide is Adult with all its categories but the country, each with a level for
// missing cells: 59 coefficients.
const adultWide = `
category workclass Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked
category education Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th ` +
	`Masters 1st-4th 10th Doctorate 5th-6th Preschool
category marital_status Married-civ-spouse Divorced Never-married Separated Widowed ` +
	`Married-spouse-absent Married-AF-spouse
category occupation Tech-support Craft-repair Other-service Sales Exec-managerial ` +
	`Prof-specialty Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing ` +
	`Transport-moving Priv-house-serv Protective-serv Armed-Forces
category relationship Wife Own-child Husband Not-in-family Other-relative Unmarried
category race White Asian-Pac-Islander Amer-Indian-Eskimo Other Black
category sex Male Female`

// adultText is a schema of Adult: five numbers, and the categories on top.
func adultText(categories string) []byte {
	var b strings.Builder
	b.WriteString("description = \"Adult\"\nconfirmed = true\nrecords = 32561\nignore_other = true\n")
	for _, c := range []struct {
		name                        string
		lower, upper, center, scale float64
	}{{"age", 17, 90, 40, 15}, {"education_num", 1, 16, 10, 3}, {"capital_gain", 0, 1e5, 0, 20000},
		{"capital_loss", 0, 5000, 0, 1000}, {"hours_per_week", 1, 99, 40, 12}} {
		fmt.Fprintf(&b, "[[column]]\nname = %q\nrole = \"feature\"\nkind = \"number\"\nlower = %.0f\nupper = %.0f\ncenter "+
			"= %.0f\nscale = %.0f\n", c.name, c.lower, c.upper, c.center, c.scale)
	}
	for line := range strings.Lines(strings.TrimSpace(categories)) {
		f := strings.Fields(line)
		fmt.Fprintf(&b, "[[column]]\nname = %q\nrole = \"feature\"\nkind = \"category\"\nlevels = [\"%s\"]\nmissing = "+
			"\"level\"\n", f[1], strings.Join(f[2:], "\", \""))
	}
	b.WriteString("[[column]]\nname = \"income\"\nrole = \"target\"\nkind = \"binary\"\nlabels = [\"<=50K\", \">50K\"]\n")
	return []byte(b.String())
}

// logisticTable compares the posterior of a release of a public table with the
// normal approximation of the posterior without privacy.
func logisticTable(name string) error {
	table, err := load(name, 1) // what price knows
	if err != nil {
		return err
	}
	rows := targets.Rows{X: table.X, Y: table.Y, P: table.Features()}
	d := rows.P
	*features, *records = d, table.Records
	*priorSD = cmp.Or(*priorSD, models.DefaultPriorSD("logistic", "normal", &table.Shape))
	v, err := price()
	if err != nil {
		return err
	}
	f := objective(convex.Logistic(), rows, 1/(*priorSD**priorSD), nil)
	mode, err := f.Minimise(context.Background())
	if err != nil {
		return err
	}
	var chol mat.Cholesky
	exact := mat.NewSymDense(d, nil)
	if !chol.Factorize(f.Hessian(mode)) || chol.InverseTo(exact) != nil {
		return fmt.Errorf("%s has no curvature at the mode", name)
	}
	fmt.Printf("%s n %d d %d ε %v δ %v: σ of the score %.2f, of the moments %.2f; AUC not private %.4f\n", name,
		table.Records, d, *epsilon, delta, v.score, v.moment, auc(rows, [][]float64{mode}))
	for i := range uint64(*sets) {
		s, err := release(rows, v, rand.New(rand.NewPCG(*seed, i)))
		if err != nil {
			return err
		}
		s.Columns = chains.Columns(&table.Shape, false)
		if err := compareClasses(rows, s, mode, exact, i); err != nil {
			return err
		}
	}
	return nil
}

// compareClasses prints what the posterior of a release holds of the mode without privacy,
// and how wide it is beside the covariance without privacy.
func compareClasses(rows targets.Rows, s surrogates.Statistics, mode []float64, exact *mat.SymDense,
	seed uint64) error {
	began := time.Now()
	post, err := surrogates.New(surrogates.Config{Statistics: s, Link: model,
		Prior: priors.Gaussian{SD: *priorSD}, Effect: *effect, Seed: seed})
	if err != nil {
		return err
	}
	draws, err := sample(post, seed)
	if err != nil {
		return err
	}
	check, err := post.CheckPrior(draws)
	if err != nil {
		return err
	}
	held := 0.0
	var ratios []float64
	for j := range rows.P {
		sum := diag.Summarize(draws.Column(j))
		if mode[j] >= sum.Q5 && mode[j] <= sum.Q95 {
			held += 1 / float64(rows.P)
		}
		ratios = append(ratios, sum.SD/math.Sqrt(exact.At(j, j)))
	}
	_, err = fmt.Printf("  prior in conflict %v, unbounded %v, %d hidden, %d narrow; holds %.3f, sd ratio median %.2f "+
		"least %.2f, AUC %.4f (optimum %.4f), least ESS %.0f, R-hat %.3f, %d gradients, %.0f s\n",
		check.Conflict(), check.Unbounded(), len(check.Hidden), len(check.Narrow), held, median(ratios),
		slices.Min(ratios), auc(rows, draws.Chains...), auc(rows, [][]float64{s.Anchor}),
		draws.LeastESS, draws.MostRHat, draws.Gradients, time.Since(began).Seconds())
	return err
}

// auc is the area under the curve of predictions averaged over draws.
func auc(rows targets.Rows, chains ...[][]float64) float64 {
	return metrics.AUC(&metrics.Input{Chains: chains, Test: &metrics.Test{Y: rows.Y, Binary: true,
		Predict: func(dst, theta []float64) {
			for i := range dst {
				dst[i] = 1 / (1 + math.Exp(-floats.Dot(rows.Row(i), theta)))
			}
		}}})
}

// schemaText is a bundled schema, one of the two of Adult here, or a file NAME.toml for
// NAME.csv.
func schemaText(name string, bundled func(string) ([]byte, error)) (file string, text []byte, err error) {
	switch name {
	case "adult5":
		return "adult", adultText(""), nil
	case "adult59":
		return "adult", adultText(adultWide), nil
	}
	if path, isFile := strings.CutSuffix(name, ".toml"); isFile {
		text, err = os.ReadFile(name)
		return filepath.Base(path), text, err
	}
	text, err = bundled(name)
	return name, text, err
}
