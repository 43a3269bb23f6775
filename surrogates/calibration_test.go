package surrogates

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/convex"
	"github.com/dpmcmc/dpmcmc/priors"
)

// drawRow sets x to a row of length at most 1 with an intercept.
func drawRow(x []float64, rng *rand.Rand) {
	spread := math.Sqrt(float64(len(x)))
	norm := 0.0
	for j := range x {
		x[j] = 1 / spread
		if j > 0 {
			x[j] *= rng.NormFloat64()
		}
		norm += x[j] * x[j]
	}
	for j := range x {
		x[j] /= max(1, math.Sqrt(norm))
	}
}

// noisySquares adds noise to a symmetric matrix, sd on the diagonal.
func noisySquares(m []float64, d int, sd float64, rng *rand.Rand) {
	for j := range d {
		for k := range j + 1 {
			z := sd * rng.NormFloat64()
			if j != k {
				z /= math.Sqrt2
			}
			m[j*d+k] += z
			m[k*d+j] = m[j*d+k]
		}
	}
}

// rankOf is the share of draws below a value.
func rankOf(draws Draws, j int, value float64) float64 {
	below, all := 0.5, 1.0
	for _, chain := range draws.Column(j) {
		for _, v := range chain {
			all++
			if v < value {
				below++
			}
		}
	}
	return below / all
}

// quick samples without insisting on diagnostics: a rank needs a hundred draws.
func quick(t *testing.T, p Posterior, seed uint64) Draws {
	t.Helper()
	draws, err := Sample(context.Background(), p, SampleConfig{Chains: 2, Draws: 75, LeastESS: 1, MostRHat: 10, Seed: seed,
		Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return draws
}

// response is a model of simulated responses.
type response struct {
	prior priors.Gaussian
	draw  func(eta float64, rng *rand.Rand) float64
	slope func(at, y float64) float64
	link  Link
}

var logisticResponse = response{priors.Gaussian{SD: 3},
	func(eta float64, rng *rand.Rand) float64 {
		if p, _ := shares(eta); rng.Float64() < p {
			return 1
		}
		return 0
	},
	func(at, y float64) float64 { p, _ := shares(at); return p - y }, Logistic}

// halvedResponse has slopes of ½ at most, and a link that knows it, or takes them for those of the
// log loss.
func halvedResponse(link Link) response {
	r := logisticResponse
	r.slope, r.link = convex.Halved().Slope, link
	return r
}

// poissonResponse has slopes cut at 1, and a link that believes them cut elsewhere.
func poissonResponse(believed float64) response {
	return response{priors.Gaussian{SD: 1},
		func(eta float64, rng *rand.Rand) float64 {
			y := 0.0
			for p, least := rng.Float64(), math.Exp(-math.Exp(eta)); p > least; y++ {
				p *= rng.Float64()
			}
			return y
		},
		func(at, y float64) float64 { return max(-1, min(1, math.Exp(at)-y)) }, counts{cut: believed, most: math.Inf(1)}}
}

// rootsResponse has the slopes of a Poisson count's root.
func rootsResponse() response {
	loss, err := convex.RootCount(20, 0.5)
	if err != nil {
		panic(err)
	}
	r := poissonResponse(1)
	r.slope, r.link = loss.Slope, roots{0.5, 20}
	return r
}

// centredResponse has those of the root with the mean 0, and a link that knows it, or takes them for
// those of the loss.
func centredResponse(known bool) response {
	r := rootsResponse()
	link, _ := Centre(r.link)
	r.slope = link.Of
	if known {
		r.link = link
	}
	return r
}

// scoreRanks simulates a regression with parameters from the prior, releases its
// score at a public anchor and its second moments, and ranks the truth.
func scoreRanks(t *testing.T, seed uint64, r response, weighted bool, believed float64) []float64 {
	const d, n, scoreSD, momentSD = 2, 300, 6, 5
	rng := rand.New(rand.NewPCG(seed, 1))
	truth, x := make([]float64, d), make([]float64, d)
	prior := r.prior
	prior.Sample(truth, rng)
	s := Statistics{
		Anchor: []float64{0.5, -0.5}, Score: make([]float64, d), ScoreSD: scoreSD * believed, Moment: make([]float64, d*d),
		MomentSD: momentSD * believed,
		Weighted: weighted, Records: n, Radius: 1, Columns: []Column{{Kind: Constant, Upper: math.Sqrt(0.5)}, {}},
	}
	noise := float64(momentSD)
	if weighted {
		s.MomentSD, noise = s.MomentSD*r.link.Weight(0, 0), noise*r.link.Weight(0, 0)
	}
	for range n {
		drawRow(x, rng)
		y, at := r.draw(dot(x, truth), rng), dot(x, s.Anchor)
		w := 1.0
		if weighted {
			w = r.link.Weight(at, at)
		}
		for j, u := range x {
			s.Score[j] += r.slope(at, y) * u
			for k, v := range x {
				s.Moment[j*d+k] += w * u * v
			}
		}
	}
	for j := range s.Score {
		s.Score[j] += scoreSD * rng.NormFloat64()
	}
	noisySquares(s.Moment, d, noise, rng)
	post, err := New(Config{Statistics: s, Link: r.link, Prior: prior, Imputations: 2, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	draws := quick(t, post, seed)
	return []float64{rankOf(draws, 0, truth[0]), rankOf(draws, 1, truth[1])}
}

// linearRanks does the same for a linear regression with an unknown scale.
func linearRanks(t *testing.T, seed uint64, believed float64) []float64 {
	post, truth := simulatedLinear(t, seed, believed, 4, 1)
	draws := quick(t, post, seed)
	return []float64{rankOf(draws, 0, truth[0]), rankOf(draws, 1, truth[1]), rankOf(draws, 2, truth[2])}
}

// simulatedLinear is the posterior of a regression with parameters from the prior, but
// for a factor of the coefficients, given sums with noise of standard deviation sd, of
// which it believes a share.
func simulatedLinear(t *testing.T, seed uint64, believed, sd, factor float64) (*Linear, []float64) {
	t.Helper()
	const d, n, least = 2, 300, 0.05
	p := d + 1
	rng := rand.New(rand.NewPCG(seed, 2))
	beta, z := make([]float64, d), make([]float64, p)
	prior, scale := priors.Gaussian{SD: 1}, priors.HalfNormal{SD: 0.5}
	prior.Sample(beta, rng)
	for j := range beta {
		beta[j] *= factor
	}
	sigma := least + scale.Sample(rng)
	s := Sums{Moment: make([]float64, p*p), MomentSD: sd * believed, Features: d, Records: n, Radius: 1,
		Columns: []Column{{Kind: Constant, Upper: math.Sqrt(0.5)}, {}}}
	for range n {
		drawRow(z[:d], rng)
		z[d] = dot(z[:d], beta) + sigma*rng.NormFloat64()
		for j, u := range z {
			for k, v := range z {
				s.Moment[j*p+k] += u * v
			}
		}
	}
	noisySquares(s.Moment, p, sd, rng)
	post, err := NewLinear(LinearConfig{Sums: s, Prior: prior, MinScale: least, ScalePrior: scale, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return post, append(beta, math.Log(sigma-least))
}

// off is how far ranks are from uniform, in standard errors: of their mean, and of
// their mean distance from ½. The parameters of one data set count as one.
func off(sets int, ranks func(seed uint64) []float64) float64 {
	mean, distance := 0.0, 0.0
	for i := range sets {
		r := ranks(uint64(i))
		for _, u := range r {
			mean += (u - 0.5) / float64(sets*len(r))
			distance += (math.Abs(u-0.5) - 0.25) / float64(sets*len(r))
		}
	}
	root := math.Sqrt(float64(sets))
	return max(math.Abs(mean)*root/math.Sqrt(1.0/12), math.Abs(distance)*root/math.Sqrt(1.0/48))
}

// newRand is a public stream.
func newRand() *rand.Rand { return rand.New(rand.NewPCG(11, 12)) }

// TestCalibration is simulation-based calibration (Talts et al. 2018): ranks of
// parameters drawn from the prior are uniform. Each of fourteen statistics is within 5.6
// standard errors, an alarm in 3·10⁶ runs for all together; and a posterior that takes
// releases for exact, the mutant, is not, nor one that does not know that slopes were cut.
func TestCalibration(t *testing.T) {
	sets := 100
	if testing.Short() {
		sets = 40
	}
	const limit = 5.6
	links := map[float64]Link{1: halved{}, 1e-3: Logistic}
	mutants := map[string]int{"halved, second moments": 60, "Poisson, roots": 60, "logistic, second moments": 60,
		"logistic, curvature": 60, "linear": 90, "Poisson, cut": 40, "Poisson, centred roots": 90} // 6.4 and more off
	for name, ranks := range map[string]func(seed uint64, believed float64) []float64{
		"logistic, second moments": func(seed uint64, believed float64) []float64 {
			return scoreRanks(t, seed, logisticResponse, false, believed)
		},
		"logistic, curvature": func(seed uint64, believed float64) []float64 {
			return scoreRanks(t, seed, logisticResponse, true, believed)
		},
		"halved, second moments": func(seed uint64, believed float64) []float64 {
			return scoreRanks(t, seed, halvedResponse(links[believed]), false, 1)
		},
		"Poisson, roots": func(seed uint64, believed float64) []float64 {
			return scoreRanks(t, seed, rootsResponse(), false, believed)
		},
		"Poisson, centred roots": func(seed uint64, believed float64) []float64 {
			return scoreRanks(t, seed, centredResponse(believed == 1), false, 1)
		},
		"Poisson, cut": func(seed uint64, believed float64) []float64 {
			return scoreRanks(t, seed, poissonResponse(1/believed), false, 1)
		},
		"linear": func(seed uint64, believed float64) []float64 { return linearRanks(t, seed, believed) },
	} {
		if e := off(sets, func(seed uint64) []float64 { return ranks(seed, 1) }); e > limit {
			t.Errorf("%s: ranks are %.1f standard errors from uniform", name, e)
		} else {
			t.Logf("%s: ranks are %.1f standard errors from uniform", name, e)
		}
		if e := off(mutants[name], func(seed uint64) []float64 { return ranks(seed, 1e-3) }); e < limit {
			t.Errorf("%s: a posterior that ignores the noise passes, %.1f standard errors from uniform", name, e)
		}
	}
}
