package surrogates

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/priors"
)

func anyCentred(t *rapid.T) CentredGaussian {
	d := rapid.IntRange(1, 5).Draw(t, "dim")
	c := CentredGaussian{Gaussian: priors.Gaussian{SDs: make([]float64, d)}, Means: make([]float64, d),
		Intercept: rapid.IntRange(0, d-1).Draw(t, "intercept")}
	for j := range d {
		c.SDs[j] = math.Exp(rapid.Float64Range(-3, 3).Draw(t, "log sd"))
		if j != c.Intercept {
			c.Means[j] = rapid.Float64Range(-4, 4).Draw(t, "mean")
		}
	}
	return c
}

// The density at θ is that of the Gaussian at coefficients of centred features, and its gradient is
// that of differences.
func TestCentredGaussianDensity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCentred(t)
		d := len(c.SDs)
		if err := c.Check(d); err != nil {
			t.Fatal(err)
		}
		theta := make([]float64, d)
		c.Sample(theta, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)))
		centred, got := append([]float64(nil), theta...), make([]float64, d)
		for j, m := range c.Means {
			centred[c.Intercept] += m * theta[j]
		}
		if got, want := c.LogDensity(theta), c.Gaussian.LogDensity(centred); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			t.Errorf("log density %v, of centred features %v", got, want)
		}
		c.Grad(got, theta)
		for j := range theta {
			const h = 0.5
			at := theta[j]
			theta[j] = at + h
			up := c.LogDensity(theta)
			theta[j] = at - h
			down := c.LogDensity(theta)
			theta[j] = at
			// Differences of a quadratic are exact but for rounding, at any h.
			if want := (up - down) / (2 * h); math.Abs(got[j]-want) > 1e-6*(1+math.Abs(want)+math.Abs(up)) {
				t.Errorf("slope %d is %v, of differences %v", j, got[j], want)
			}
		}
	})
}

// Draws have the predictor at the means N(0, sd²), of which slopes say nothing. The limits are 5.2 standard errors of a
// mean square and of a correlation of 20 000 draws, so alarms are rarer than 10⁻⁶. Draws of the Gaussian fail.
func TestCentredGaussianDraws(t *testing.T) {
	c := CentredGaussian{Gaussian: priors.Gaussian{SDs: []float64{0.5, 2, 0.3}}, Intercept: 2, Means: []float64{1, -2, 0}}
	check := func(draw func([]float64, *rand.Rand)) bool {
		const draws = 20000
		rng := rand.New(rand.NewPCG(3, 4))
		theta, square, with := make([]float64, 3), 0.0, [2]float64{}
		for range draws {
			draw(theta, rng)
			z := (theta[2] + theta[0] - 2*theta[1]) / 0.3
			square += z * z / draws
			with[0] += z * theta[0] / 0.5 / draws
			with[1] += z * theta[1] / 2 / draws
		}
		se := 5.2 / math.Sqrt(draws)
		return math.Abs(square-1) < math.Sqrt2*se && math.Abs(with[0]) < se && math.Abs(with[1]) < se
	}
	if !check(c.Sample) {
		t.Error("the predictor at the means is not what it should be")
	}
	if check(c.Gaussian.Sample) {
		t.Error("draws that are not centred pass")
	}
}

// Any two levels of a category differ by the same variance, whether one of them has no indicator or not. Limits are
// those above. Independent coefficients fail.
func TestLevelsAreAlike(t *testing.T) {
	c := CentredGaussian{Gaussian: priors.Gaussian{SDs: []float64{1, 2, 2, 2}}, Means: make([]float64, 4),
		Categories: [][]int{{1, 2, 3}}}
	alike := func(c CentredGaussian) bool {
		const draws = 20000
		rng, theta, ok := rand.New(rand.NewPCG(5, 6)), make([]float64, 4), true
		squares := mat.NewDense(4, 4, nil)
		for range draws {
			c.Sample(theta, rng)
			theta[0] = 0 // the level without an indicator
			for j, v := range theta {
				for k, w := range theta[:j] {
					squares.Set(j, k, squares.At(j, k)+(v-w)*(v-w)/(4*draws))
				}
			}
		}
		for j := range 4 {
			for k := range j {
				ok = ok && math.Abs(squares.At(j, k)-1) < 5.2*math.Sqrt(2.0/draws)
			}
		}
		return ok
	}
	if !alike(c) {
		t.Error("some levels differ more than others")
	}
	for j := range 4 { // as stated
		for k := 1; k < 4; k++ {
			v := make([]float64, 4)
			if v[k] = 1; j > 0 && j != k {
				v[j] = -1
			}
			if got := (broad{c}).along(v); math.Abs(got-4) > 1e-9 {
				t.Errorf("levels %d and %d differ by a variance of %v, as stated", j, k, got)
			}
		}
	}
	c.Categories = nil
	if alike(c) {
		t.Error("independent coefficients pass")
	}
}

func TestCentredGaussianRefuses(t *testing.T) {
	sds := priors.Gaussian{SDs: []float64{1, 1}}
	level := func(levels ...int) CentredGaussian {
		return CentredGaussian{Gaussian: priors.Gaussian{SDs: []float64{1, 2}}, Means: []float64{0, 0},
			Categories: [][]int{levels}}
	}
	for name, c := range map[string]CentredGaussian{
		"no spread":            {Means: []float64{0, 1}},
		"one spread for all":   {Gaussian: priors.Gaussian{SD: 1}, Means: []float64{0, 1}},
		"no means":             {Gaussian: sds},
		"means for no whole":   {Gaussian: sds, Means: []float64{0, 0, 0}},
		"no such intercept":    {Gaussian: sds, Intercept: 2, Means: []float64{0, 1}},
		"negative intercept":   {Gaussian: sds, Intercept: -1, Means: []float64{0, 1}},
		"mean of an intercept": {Gaussian: sds, Means: []float64{1, 1}},
		"level that is none":   level(1, 2),
		"level twice":          level(1, 1),
		"intercept is a level": level(0),
		"no number":            {Gaussian: sds, Means: []float64{0, math.NaN()}},
		"infinite":             {Gaussian: sds, Means: []float64{0, math.Inf(1)}},
	} {
		if c.Check(2) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
