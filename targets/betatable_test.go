package targets

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/dpmcmc/dpmcmc/priors"
)

// betaTable is the table of docs/targets.md: what β buys, for logistic
// regression and for the mean of a normal with σ = s = 1. H is the curvature that
// one record adds to the posterior, ∫f^(β−2)(∂f/∂η)², and L²/H the cost of
// diffusing over a posterior of a given width (theory §1.4); the last column is
// the share of the log loss's precision that the β estimate of a normal mean
// keeps on clean data, H²/V with V the variance of the slope, from quadrature.
func betaTable(t testing.TB) string {
	var s strings.Builder
	for _, beta := range []float64{1, 1.1, 1.33, 1.5, 2} {
		b := beta - 1
		logit := must[*Regression](t)(New(RegressionConfig{Features: 1, Loss: betaLoss(t, beta),
			Prior: priors.Gaussian{SD: 1}}))
		normal := must[*GaussianMean](t)(New(GaussianMeanConfig{Features: 1, Loss: betaLoss(t, beta),
			Prior: priors.Gaussian{SD: 1}}))
		curvature := func(p float64) float64 {
			q := 1 - p
			return p * p * q * q * (math.Pow(p, b-1) + math.Pow(q, b-1))
		}
		l := logit.PredictorLipschitz()
		density := func(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
		moment := func(power float64) float64 {
			return quad.Fixed(func(z float64) float64 { return math.Pow(density(z), power) * z * z }, -12, 12, 200, nil, 0)
		}
		h, v := moment(beta), moment(2*beta-1)
		lNormal := normal.GradBound(1)
		cost := "∞"
		if beta > 1 {
			cost = fmt.Sprintf("%.2f", lNormal*lNormal/h)
		}
		fmt.Fprintf(&s, "| %g | %.2f | %.3f | %.2f | %.2f | %s | %s | %.2f |\n",
			beta, logit.LossRange(), l, l*l/curvature(0.5), l*l/curvature(0.9), infinite(lNormal), cost, h*h/v)
	}
	return strings.ReplaceAll(s.String(), "+Inf", "∞")
}

func infinite(v float64) string {
	if math.IsInf(v, 1) {
		return "∞"
	}
	return fmt.Sprintf("%.3f", v)
}

// TestBetaTableIsInTheDocs: the documentation holds the computed table, and its
// column for p = ½ holds the figures of theory §1.4.
func TestBetaTableIsInTheDocs(t *testing.T) {
	table := betaTable(t)
	for beta, want := range map[string]string{"1": "4.00", "1.33": "1.40", "1.5": "1.12", "2": "0.70"} {
		found := false
		for row := range strings.Lines(table) {
			cells := strings.Split(row, " | ")
			found = found || strings.TrimPrefix(cells[0], "| ") == beta && cells[3] == want
		}
		if !found {
			t.Errorf("the cost at β = %s is not %s in\n%s", beta, want, table)
		}
	}
	text, err := os.ReadFile("../docs/targets.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), table) {
		t.Errorf("docs/targets.md does not hold the table as computed:\n%s", table)
	}
}
