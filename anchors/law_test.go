package anchors_test

import (
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/anchors"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

func logisticOf(t testing.TB, features int) *targets.Regression {
	t.Helper()
	m, err := targets.New(targets.RegressionConfig{Features: features, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestSphericalWhereItIsLess: Afford takes the spherical law in few dimensions, and then
// the score has less noise than with the normal law at the same (ε, δ); in many
// dimensions, and for aims with bits, the normal one. Either costs at most (ε, δ), and
// not much less.
func TestSphericalWhereItIsLess(t *testing.T) {
	for _, c := range []struct {
		features int
		epsilon  float64
		want     anchors.Law
	}{{2, 0.2, anchors.Spherical}, {2, 1, anchors.Spherical}, {6, 1, anchors.Spherical}, {20, 1, anchors.Normal}} {
		f := curator.Facts{Records: 500, Features: c.features, Response: true, Radius: 1, RowsPerPerson: 1,
			Adjacency: accountant.Substitute}
		sd := map[anchors.Law]float64{}
		for _, law := range []anchors.Law{anchors.AnyLaw, anchors.Normal} {
			got, err := anchors.Afford(anchors.Config{Target: logisticOf(t, c.features), Iterations: 100, Law: law}, f,
				c.epsilon, 1e-5)
			if err != nil {
				t.Fatal(err)
			}
			if law == anchors.AnyLaw && got.Law != c.want {
				t.Errorf("%d features at ε = %v: %v, want %v", c.features, c.epsilon, got.Law, c.want)
			}
			event, err := anchors.Cost(got, f)
			if err != nil {
				t.Fatal(err)
			}
			g, err := event.Epsilon(1e-5)
			if err != nil || g.Epsilon > c.epsilon || g.Epsilon < 0.99*c.epsilon {
				t.Errorf("%v costs ε = %v of %v (%v)", got.Law, g.Epsilon, c.epsilon, err)
			}
			m := curator.Optimum{Ridge: got.Ridge, NoiseMultiplier: got.OptimumNoise, Spherical: got.Law == anchors.Spherical}
			if sd[got.Law], err = m.ScoreSD(f); err != nil {
				t.Fatal(err)
			}
		}
		if c.want == anchors.Spherical && !(sd[anchors.Spherical] < 0.9*sd[anchors.Normal]) {
			t.Errorf("%d features at ε = %v: spherical noise %v, normal %v", c.features, c.epsilon, sd[anchors.Spherical],
				sd[anchors.Normal])
		}
	}
	bits := anchors.Config{Target: logisticOf(t, 2), Aim: anchors.Remainder, Law: anchors.Spherical, Iterations: 10}
	f := curator.Facts{Records: 500, Features: 2, Response: true, Radius: 1, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
	if _, err := anchors.Afford(bits, f, 1, 1e-5); err == nil {
		t.Error("spherical noise was taken for an aim with bits")
	}
}

// TestTypicalRowsDecide: records of a tenth of the norm carry a hundredth of the information,
// so a score that is enough for rows as long as the radius is not for them. What is predicted
// does not change a bound: rows beyond the radius do not exist.
func TestTypicalRowsDecide(t *testing.T) {
	f := curator.Facts{Records: 100_000, Features: 3, Response: true, Radius: 2, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
	for norm, want := range map[float64]anchors.Aim{0: anchors.Remainder, 2: anchors.Remainder, 9: anchors.Remainder,
		0.2: anchors.Score} {
		c, err := anchors.Afford(anchors.Config{Target: logisticOf(t, 3), RowNorm: norm, Iterations: 500}, f, 5, 1e-6)
		if err != nil || c.Aim != want {
			t.Errorf("rows of norm %v: aim %v, want %v (%v)", norm, c.Aim, want, err)
		}
	}
}

// TestCountsTakeTheScore: with any budget, since acceptance bits take counts above the largest for it,
// and the score's likelihood does not. The penalty test is one of bits.
func TestCountsTakeTheScore(t *testing.T) {
	f := curator.Facts{Records: 10_000_000, Features: 2, Response: true, Radius: 1, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
	for _, family := range []string{"poisson", "negative-binomial"} {
		config := targets.RegressionConfig{Family: family, Features: 2, Prior: priors.Gaussian{SD: 3}}
		if family == "negative-binomial" {
			config.Dispersion = 1
		}
		target, err := targets.New(config)
		if err != nil {
			t.Fatal(err)
		}
		for variance, want := range map[float64]anchors.Aim{0: anchors.Score, 0.25: anchors.Remainder} {
			c, err := anchors.Afford(anchors.Config{Target: target, Cap: targets.Cap{Count: 20}, Iterations: 500,
				Variance: variance}, f, 20, 1e-6)
			if err != nil || c.Aim != want {
				t.Errorf("%s, variance %v: aim %v, want %v (%v)", family, variance, c.Aim, want, err)
			}
		}
	}
}
