package surrogates

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/internal/convex"
	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/priors"
)

// checkGradient compares a density's gradient with central differences at points
// around theta.
func checkGradient(t *testing.T, name string, f nuts.LogDensity, theta []float64, spread float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	d := f.Dim()
	grad, scratch, at := make([]float64, d), make([]float64, d), make([]float64, d)
	for range 5 {
		for j := range at {
			at[j] = theta[j] + spread*rng.NormFloat64()
		}
		if v := f.LogDensityGrad(grad, at); math.IsInf(v, 0) || math.IsNaN(v) {
			t.Fatalf("%s: log density %v at %v", name, v, at)
		}
		for j := range d {
			const h = 1e-5
			x := at[j]
			at[j] = x + h
			up := f.LogDensityGrad(scratch, at)
			at[j] = x - h
			down := f.LogDensityGrad(scratch, at)
			at[j] = x
			want := (up - down) / (2 * h)
			if math.Abs(grad[j]-want) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("%s: gradient %d is %v, differences say %v", name, j, grad[j], want)
			}
		}
	}
}

func TestGradients(t *testing.T) {
	for name, link := range testLinks() {
		for _, tau := range []float64{1, 0.25} {
			s := example()
			s.Temperature, s.Ridge = tau, 2
			p, err := New(Config{Statistics: s, Link: link, Prior: priors.Gaussian{SD: 3}, Imputations: 3})
			if err != nil {
				t.Fatal(err)
			}
			checkGradient(t, name, p.Density(), s.Anchor, 0.5)
		}
		s := example()
		s.Spherical = true
		p, err := New(Config{Statistics: s, Link: link, Prior: priors.Gaussian{SD: 3}, Imputations: 3})
		if err != nil {
			t.Fatal(err)
		}
		checkGradient(t, name+", spherical noise", p.Density(), s.Anchor, 0.5)
	}
	l, err := NewLinear(exampleSums())
	if err != nil {
		t.Fatal(err)
	}
	checkGradient(t, "linear", l.Density(), []float64{1, -0.5, -1, 0.1, 0.2, -0.1}, 0.2)
	c := exampleSums()
	c.Sums.Columns = []Column{{Kind: Constant, Upper: 0.5}, {Kind: Level, Upper: 0.5}}
	if l, err = NewLinear(c); err != nil {
		t.Fatal(err)
	}
	checkGradient(t, "linear, of known columns", l.Density(), []float64{1, -0.5, -1, 0, 0, 0}, 0.1)
	c.Sums.Columns[0].Missing = 0.1
	counting, err := NewLinear(c)
	if err != nil {
		t.Fatal(err)
	}
	checkGradient(t, "linear, of records that count", counting.Density(), []float64{1, -0.5, -1, 0, 0, 0}, 0.1)
	l.hidden, l.open = nil, []float64{9, 5, 5, 8}
	checkGradient(t, "linear, errors in variables", l.Density(), []float64{1, -0.5, -1}, 0.3)
}

func exampleSums() LinearConfig {
	return LinearConfig{
		Sums: Sums{Moment: []float64{50, 5, 45, 5, 40, -16, 45, -16, 70}, MomentSD: 4, Features: 2, Records: 200,
			Radius: 1.4},
		Prior: priors.Gaussian{SD: 3}, ScalePrior: priors.HalfNormal{SD: 1}, MinScale: 0.01,
	}
}

func testLinks() map[string]Link {
	links := map[string]Link{"normal": Normal{SD: 0.5}, "logistic": Logistic, "halved": halved{},
		"halved probit": halvedBinary{probit}, "halved cloglog": halvedBinary{cLogLog}}
	for _, cut := range []float64{1, 1.7, 4, math.Inf(1)} {
		links[fmt.Sprintf("probit cut at %v", cut)] = binary{probit, cut}
		links[fmt.Sprintf("cloglog cut at %v", cut)] = binary{cLogLog, cut}
		links[fmt.Sprintf("Poisson cut at %v", cut)] = counts{cut, math.Inf(1), 0}
		links[fmt.Sprintf("roots cut at a tenth of %v.", cut)] = roots{cut / 10, 20}
		links[fmt.Sprintf("centred roots cut at a tenth of %v.", cut)], _ = Centre(roots{cut / 10, 20})
		links[fmt.Sprintf("cut at %v, counts to 9", cut)] = counts{cut, 9, 0.7}
		links[fmt.Sprintf("negative binomial cut at %v", cut)] = counts{cut, math.Inf(1), 0.7}
	}
	return links
}

// TestLinks compares the derivatives of a slope's moments with differences, and weights with
// those in the anchor's predictor.
func TestLinks(t *testing.T) {
	for name, link := range testLinks() {
		for _, at := range []float64{-2.5, 0.05, 1.2} {
			for _, eta := range []float64{-3, -0.4, 0.9, 2} {
				const h = 1e-5
				_, _, dm, dv := link.Slope(at, eta)
				mu, vu, _, _ := link.Slope(at, eta+h)
				md, vd, _, _ := link.Slope(at, eta-h)
				if e := math.Abs(dm-(mu-md)/(2*h)) + math.Abs(dv-(vu-vd)/(2*h)); e > 1e-7*(1+math.Abs(dm)+math.Abs(dv)) {
					t.Errorf("%s: derivatives of the slope at %v, %v are off by %v", name, at, eta, e)
				}
				mu, _, _, _ = link.Slope(at+h, eta)
				md, _, _, _ = link.Slope(at-h, eta)
				if w := link.Weight(at, eta); math.Abs(w-(mu-md)/(2*h)) > 1e-7*(1+math.Abs(w)) {
					t.Errorf("%s: weight %v at %v, %v; differences say %v", name, w, at, eta, (mu-md)/(2*h))
				}
			}
			if mean, _, dm, _ := link.Slope(at, at); (strings.HasSuffix(name, "Inf") || strings.HasPrefix(name, "halved")) &&
				(math.Abs(mean) > 1e-12 || math.Abs(dm+link.Weight(at, at)) > 1e-9) {
				t.Errorf("%s: at the truth the slope's mean is %v, its derivative %v and the weight %v", name, mean, dm,
					link.Weight(at, at))
			}
		}
	}
}

// TestLinksAreOfTheLosses: the moments of a cut slope are sums over responses of the slopes of
// the losses that private optima are taken of.
func TestLinksAreOfTheLosses(t *testing.T) {
	second := func(l convex.Loss, err error) convex.Loss {
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	either := func(p, y float64) float64 { return y*p + (1-y)*(1-p) }
	lgamma := func(x float64) float64 { l, _ := math.Lgamma(x); return l }
	for name, c := range map[string]struct {
		responses int
		chance    func(m, y float64) float64 // of a response where e^η = m
		loss      func(cut float64) convex.Loss
		link      func(cut float64) Link
	}{
		"probit": {2, func(m, y float64) float64 { return either(math.Erfc(-math.Log(m)/math.Sqrt2)/2, y) },
			func(cut float64) convex.Loss { return second(convex.Probit(cut)) },
			func(cut float64) Link { return binary{probit, cut} }},
		"halved": {2, func(m, y float64) float64 { return either(m/(1+m), y) },
			func(float64) convex.Loss { return convex.Halved() }, func(float64) Link { return halved{} }},
		"halved probit": {2, func(m, y float64) float64 { return either(math.Erfc(-math.Log(m)/math.Sqrt2)/2, y) },
			func(float64) convex.Loss { return convex.HalvedProbit() },
			func(float64) Link { return halvedBinary{probit} }},
		"halved cloglog": {2, func(m, y float64) float64 { return either(-math.Expm1(-m), y) },
			func(float64) convex.Loss { return convex.HalvedCLogLog() },
			func(float64) Link { return halvedBinary{cLogLog} }},
		"cloglog": {2, func(m, y float64) float64 { return either(-math.Expm1(-m), y) },
			func(cut float64) convex.Loss { return second(convex.CLogLog(cut)) },
			func(cut float64) Link { return binary{cLogLog, cut} }},
		"halved loglog": {2, func(m, y float64) float64 { return either(math.Exp(-1/m), y) },
			func(float64) convex.Loss { return convex.HalvedCLogLog().Mirrored() },
			func(float64) Link { return halvedBinary{logLog} }},
		"loglog": {2, func(m, y float64) float64 { return either(math.Exp(-1/m), y) },
			func(cut float64) convex.Loss { return second(convex.CLogLog(cut)).Mirrored() },
			func(cut float64) Link { return binary{logLog, cut} }},
		"Poisson": {300, func(m, y float64) float64 { return math.Exp(y*math.Log(m) - m - lgamma(y+1)) },
			func(cut float64) convex.Loss { return second(convex.Poisson(6, cut)) },
			func(cut float64) Link { return counts{cut, 6, 0} }},
		"Poisson roots": {300, func(m, y float64) float64 { return math.Exp(y*math.Log(m) - m - lgamma(y+1)) },
			func(cut float64) convex.Loss { return second(convex.RootCount(20, cut/8)) },
			func(cut float64) Link { return roots{cut / 8, 20} }},
		"negative binomial": {1500, func(m, y float64) float64 {
			return math.Exp(lgamma(y+2) - lgamma(y+1) + y*math.Log(m/(2+m)) + 2*math.Log(2/(2+m)))
		},
			func(cut float64) convex.Loss { return second(convex.NegativeBinomial(2, 1e6, cut)) },
			func(cut float64) Link { return counts{cut, 1e6, 0.5} }},
	} {
		rapid.Check(t, func(r *rapid.T) {
			cut := rapid.Float64Range(1, 8).Draw(r, "cut")
			at, eta := rapid.Float64Range(-4, 4).Draw(r, "at"), rapid.Float64Range(-4, 4).Draw(r, "eta")
			loss, mean, square := c.loss(cut), 0.0, 0.0
			for y := range c.responses {
				slope, p := loss.Slope(at, float64(y)), c.chance(math.Exp(eta), float64(y))
				mean, square = mean+p*slope, square+p*slope*slope
			}
			m, v, _, _ := c.link(cut).Slope(at, eta)
			if math.Abs(m-mean) > 1e-8 || math.Abs(v-(square-mean*mean)) > 1e-8 {
				r.Errorf("%s cut at %v: mean %v, variance %v, sums say %v, %v", name, cut, m, v, mean, square-mean*mean)
			}
		})
	}
}

// wide is a release of more features than are imputed one by one: an intercept, a
// category of 20 levels and numbers.
func wide() Statistics {
	const d, n = 27, 5000
	rng := rand.New(rand.NewPCG(21, 22))
	s := Statistics{Anchor: make([]float64, d), Score: make([]float64, d), ScoreSD: 9, Ridge: 2,
		Moment: make([]float64, d*d), MomentSD: 13, Records: n, Radius: 1,
		Columns: make([]Column, d)}
	s.Columns[0] = Column{Kind: Constant, Upper: 0.5}
	for j := range d {
		s.Anchor[j] = rng.NormFloat64()
		s.Score[j] = -2 * s.Anchor[j]
		if j > 0 && j <= 20 {
			s.Columns[j] = Column{Kind: Level, Upper: 0.5, Group: 1}
		}
	}
	x := make([]float64, d)
	for range n {
		clear(x)
		x[0] = 0.5
		x[1+min(19, int(rng.ExpFloat64()*4))] = 0.5
		for j := 21; j < d; j++ {
			x[j] = 0.25 * rng.NormFloat64()
		}
		for j, u := range x {
			for k, v := range x {
				s.Moment[j*d+k] += u * v
			}
		}
	}
	noisySquares(s.Moment, d, s.MomentSD, rng)
	return s
}

// TestWide checks the density of wide tables, and that a rare level's coefficient keeps
// the spread of its prior while that of a number does not.
func TestWide(t *testing.T) {
	s := wide()
	p, err := New(Config{Statistics: s, Link: Logistic, Prior: priors.Gaussian{SD: 3}, Imputations: 2})
	if err != nil {
		t.Fatal(err)
	}
	checkGradient(t, "wide", p.Density(), s.Anchor, 0.5)
	cov, err := p.covariance(p.mean)
	if err != nil {
		t.Fatal(err)
	}
	if rare, number := math.Sqrt(cov.At(20, 20)), math.Sqrt(cov.At(25, 25)); rare < 1.5 || number > 1 {
		t.Errorf("the spread of a level of few records is %v and of a number %v; the prior's is 3", rare, number)
	}
}
