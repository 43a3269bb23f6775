package posterior

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

func TestSolveBetaOfMasses(t *testing.T) {
	for _, eps := range []float64{0.01, 0.2, 1, 6, 100} {
		beta, err := SolveBeta(eps, Mass())
		if err != nil || math.Abs(beta-1-2/eps) > 1e-11*(1+2/eps) {
			t.Errorf("ε = %v: β = %v, %v, want %v", eps, beta, err, 1+2/eps)
		}
	}
}

// TestSolveBetaUsesUpEpsilon: the solution is on the decreasing branch, within
// ε and just so; below the minimum there is none.
func TestSolveBetaUsesUpEpsilon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Bound{Max: math.Exp(rapid.Float64Range(-5, 5).Draw(t, "log M")),
			RecordIntegral: rapid.Bool().Draw(t, "record integral")}
		eps := math.Exp(rapid.Float64Range(-4, 6).Draw(t, "log ε"))
		low, turn := b.MinEpsilon()
		beta, err := SolveBeta(eps, b)
		if eps < low {
			if err == nil {
				t.Fatalf("ε = %v is below the minimum %v, but β = %v", eps, low, beta)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := 2 * b.Range(beta); got > eps || got < eps*(1-1e-8) && beta < turn*(1-1e-8) {
			t.Fatalf("2R(%v) = %v, want just below %v", beta, got, eps)
		}
		if beta > turn*(1+1e-12) {
			t.Fatalf("β = %v is past the minimum at %v", beta, turn)
		}
	})
}

// TestMinimum: 2e·ln M at β = 1 + 1/ln M.
func TestMinimum(t *testing.T) {
	b := Normal(0.1)
	eps, beta := b.MinEpsilon()
	logM := math.Log(b.Max)
	if math.Abs(eps-2*math.E*logM) > 1e-9 || math.Abs(beta-1-1/logM) > 1e-6 {
		t.Errorf("minimum (%v, %v), want (%v, %v)", eps, beta, 2*math.E*logM, 1+1/logM)
	}
	_, err := SolveBeta(5, b)
	if err == nil || !strings.Contains(err.Error(), "7.522") || !strings.Contains(err.Error(), "rescale y") {
		t.Errorf("error %v, want one that names the minimum 7.522", err)
	}
}

// TestPublishedMistake reproduces the table of what the published code reaches
// (peers §4: least variance 0.01, β solved with the prior's variance in its
// place), so that taking one for the other is seen to matter.
func TestPublishedMistake(t *testing.T) {
	for _, c := range []struct{ target, priorVar, excess, actual float64 }{
		{0.2, 9, 1.096, 8.31}, {1, 9, 0.598, 7.65}, {5, 9, 0.244, 11.48},
		{0.2, 1, 1.841, 13.88}, {2, 1, 0.585, 7.68}, {5, 1, 0.303, 10.04},
	} {
		wrong, err := SolveBeta(c.target, Normal(math.Sqrt(c.priorVar)))
		if err != nil {
			t.Fatal(err)
		}
		actual := 2 * Normal(0.1).Range(wrong)
		if math.Abs(wrong-1-c.excess) > 6e-4 || math.Abs(actual-c.actual) > 0.011 {
			t.Errorf("target %v, variance %v: β−1 = %.4f → ε = %.3f, published %v → %v", c.target, c.priorVar, wrong-1, actual,
				c.excess, c.actual)
		}
		if _, err := SolveBeta(c.target, Normal(0.1)); err == nil {
			t.Errorf("target %v is accepted with the true bound", c.target)
		}
	}
}

func TestSolveBetaRefuses(t *testing.T) {
	for _, eps := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := SolveBeta(eps, Mass()); err == nil {
			t.Errorf("ε = %v accepted", eps)
		}
	}
	for _, m := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := SolveBeta(1, Bound{Max: m}); err == nil {
			t.Errorf("M = %v accepted", m)
		}
	}
}

func ExampleSolveBeta() {
	beta, err := SolveBeta(6, Mass())
	fmt.Printf("%.3f %v\n", beta, err)
	_, err = SolveBeta(2, Normal(0.1))
	fmt.Println(strings.ReplaceAll(err.Error(), "; ", ";\n"))
	// Output:
	// 1.333 <nil>
	// posterior: epsilon 2 is unreachable for a density bounded by M = 3.989: the least is 7.522, at β = 1.723;
	// rescale y or raise the least scale s, or keep such a β and let the weight shrink
}

// TestBoundsAgreeWithTargets: the range that β is solved for is the one the
// target certifies, so the weight is 1.
func TestBoundsAgreeWithTargets(t *testing.T) {
	const eps, scale = 2.0, 0.6
	beta, err := SolveBeta(eps, Normal(scale))
	if err != nil {
		t.Fatal(err)
	}
	loss := targets.Loss{Beta: beta}
	linear, err := targets.New(targets.LinearConfig{Features: 1, Loss: loss, Prior: priors.Gaussian{SD: 1},
		MinScale: scale, ScalePrior: priors.HalfNormal{SD: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]targets.GradTarget{"normal errors": linear, "logistic": betaLogistic(t, eps)} {
		m, err := NewBounded(Config{Target: target, Epsilon: eps})
		if err != nil {
			t.Fatal(err)
		}
		if m.Weight() != 1 {
			t.Errorf("%s: weight %v, want 1", name, m.Weight())
		}
	}
}
