package surrogates

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/priors"
)

// TestFirstOrderLimits compares the approximation with what is known: without noise
// and with a quadratic loss it is the likelihood, and score noise adds H⁻¹ΣH⁻¹.
func TestFirstOrderLimits(t *testing.T) {
	s := Statistics{Anchor: []float64{1, 2}, Score: []float64{4, -10}, Moment: []float64{4, 0, 0, 5}, Weighted: true,
		Records: 100, Radius: 1}
	g, err := FirstOrder(s)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{0, 4}; math.Abs(g.Mean[0]-want[0])+math.Abs(g.Mean[1]-want[1]) > 1e-9 {
		t.Errorf("mean %v; a step of H⁻¹G is at %v", g.Mean, want)
	}
	if math.Abs(g.Cov[0]-0.25)+math.Abs(g.Cov[3]-0.2) > 1e-9 || math.Abs(g.Kept-1) > 1e-9 {
		t.Errorf("covariance %v and κ %v without noise", g.Cov, g.Kept)
	}
	s.ScoreSD = 2
	if g, err = FirstOrder(s); err != nil {
		t.Fatal(err)
	}
	if math.Abs(g.Cov[0]-0.5)+math.Abs(g.Cov[3]-0.36) > 1e-9 || math.Abs(g.Kept-(4.0/8+5.0/9)/2) > 1e-9 {
		t.Errorf("covariance %v and κ %v with score noise 2", g.Cov, g.Kept)
	}
	s.Weighted = false
	if _, err := FirstOrder(s); err == nil || !strings.Contains(err.Error(), "Weighted") {
		t.Errorf("error %v for plain second moments", err)
	}
}

// TestScoreOfQuadratic: for a quadratic loss and second moments that are exact the
// posterior is normal, its mean θ₀ − H⁻¹s and its covariance H⁻¹ + σ²H⁻². Means of
// some 2000 draws are within 6 standard errors.
func TestScoreOfQuadratic(t *testing.T) {
	s := Statistics{
		Anchor: []float64{0.3, -0.2}, Score: []float64{20, -15}, ScoreSD: 3, Moment: []float64{60, 0, 0, 40}, Weighted: true,
		Records: 100, Radius: 1,
		Columns: []Column{{Kind: Constant, Upper: 1}, {}},
	}
	p, err := New(Config{Statistics: s, Link: Normal{SD: 1}, Prior: priors.Gaussian{SD: 1e3}, Imputations: 1})
	if err != nil {
		t.Fatal(err)
	}
	draws, err := Sample(context.Background(), p, SampleConfig{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	for j := range 2 {
		h := s.Moment[3*j]
		wantMean, wantVariance := s.Anchor[j]-s.Score[j]/h, 1/h+9/(h*h)
		sum, squares, n := 0.0, 0.0, 0.0
		for _, chain := range draws.Column(j) {
			for _, v := range chain {
				sum, squares, n = sum+v, squares+v*v, n+1
			}
		}
		mean := sum / n
		variance := squares/n - mean*mean
		if e := math.Abs(mean-wantMean) / math.Sqrt(variance/draws.LeastESS); e > 6 {
			t.Errorf("mean %d is %v, %v standard errors from %v", j, mean, e, wantMean)
		}
		if r := variance / wantVariance; r < 0.7 || r > 1.4 {
			t.Errorf("variance %d is %v; it should be %v", j, variance, wantVariance)
		}
	}
}

// drawsOf are draws with a mean and exactly a covariance.
func drawsOf(mean []float64, cov *mat.SymDense) Draws {
	lower, _ := choleskyOf(cov)
	d, chain := len(mean), [][]float64(nil)
	for k := range d {
		for _, far := range []float64{1, -1} {
			theta := slices.Clone(mean)
			for j := range d {
				theta[j] += far * math.Sqrt(float64(2*d-1)/2) * lower[j*d+k]
			}
			chain = append(chain, theta)
		}
	}
	return Draws{Chains: [][][]float64{chain}}
}

// TestWidening: without noise intervals are those of the records, and of the halved loss hardly wider:
// weights a = ½ to b = 1/√2 leave 4ab/(a + b)² of the information, 0.97, by Kantorovich's inequality.
func TestWidening(t *testing.T) {
	s := example()
	widening := func(link Link) []float64 {
		p, err := New(Config{Statistics: s, Link: link, Prior: priors.Gaussian{SD: 3}})
		if err != nil {
			t.Fatal(err)
		}
		cov, err := p.covariance(p.mean)
		if err != nil {
			t.Fatal(err)
		}
		w, err := p.Widening(drawsOf(p.mean, cov))
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	with := widening(Logistic)
	s.ScoreSD, s.MomentSD = 0, 0
	halves := widening(halved{})
	for name, link := range map[string]Link{"roots": roots{0.5, 20}, "counts": counts{2, 20, 0.5},
		"cloglog": binary{cLogLog, 1}} {
		for j, w := range widening(link) {
			if !(w > 1.001) || w > 1.5 {
				t.Errorf("%s: coefficient %d is widened by %v without noise, by the cut alone", name, j, w)
			}
		}
	}
	for j, w := range widening(Logistic) {
		if math.Abs(w-1) > 1e-6 || with[j] < 1.1 {
			t.Errorf("coefficient %d is widened by %v without noise and %v with it", j, w, with[j])
		}
		if halves[j] < 1 || halves[j] > 1/math.Sqrt(0.97) {
			t.Errorf("coefficient %d is widened by %v without noise, with halved slopes", j, halves[j])
		}
	}
}

// TestWideningIsOfDraws: where noise hides the second moments of many numbers the posterior has long tails. What is
// said is the widening of draws beside the records' own information, to a fourth. A normal approximation, the mutant,
// says a fifth of it or less.
func TestWideningIsOfDraws(t *testing.T) {
	const d, n, noise, spread, level = 19, 10_000, 35, 0.08, 0.3
	rng := rand.New(rand.NewPCG(3, 9))
	s := Statistics{Anchor: make([]float64, d), Score: make([]float64, d), ScoreSD: noise / 2,
		Moment: make([]float64, d*d), MomentSD: noise, Records: n, Radius: 1,
		Columns: []Column{{Kind: Constant, Upper: level}}}
	for range d - 1 {
		s.Columns = append(s.Columns, Column{Lower: -3 * spread, Upper: 3 * spread})
	}
	for j := range d {
		s.Score[j] = noise / 2 * rng.NormFloat64()
		s.Moment[j*d+j] = n * spread * spread
	}
	s.Moment[0] = n * level * level
	noisySquares(s.Moment, d, noise, rng)
	p, err := New(Config{Statistics: s, Link: Logistic, Prior: priors.Gaussian{SD: 20}})
	if err != nil {
		t.Fatal(err)
	}
	draws := quick(t, p, 1)
	said, err := p.Widening(draws)
	if err != nil {
		t.Fatal(err)
	}
	cov, err := p.covariance(p.mean)
	if err != nil {
		t.Fatal(err)
	}
	normal, err := p.Widening(drawsOf(p.mean, cov))
	if err != nil {
		t.Fatal(err)
	}
	// The prior's precision is 1/400.
	own := 1 / math.Sqrt(n*spread*spread/4+1.0/400)
	var is []float64
	for j := range d - 1 {
		is = append(is, stat.StdDev(slices.Concat(draws.Column(j+1)...), nil)/own)
	}
	median := func(v []float64) float64 { return slices.Sorted(slices.Values(v))[len(v)/2] }
	have, claimed, mutant := median(is), median(said[1:]), median(normal[1:])
	t.Logf("median widening ×%.3g, said ×%.3g, and ×%.3g by a normal approximation", have, claimed, mutant)
	if r := claimed / have; r < 0.8 || r > 1.25 || mutant > have/5 {
		t.Errorf("the median widening is %v, and %v is said, %v by a normal approximation", have, claimed, mutant)
	}
}

// TestMoments: draws of second moments are positive definite whatever was released,
// follow a release that is exact, and obey what columns say.
func TestMoments(t *testing.T) {
	columns := []Column{{Kind: Constant, Upper: 1}, {Kind: Level, Upper: 1, Group: 1},
		{Kind: Level, Upper: 1, Group: 1}, {}}
	released := []float64{100, 30, 20, 5, 30, 34, 8, 3, 20, 8, 17, -2, 5, 3, -2, 50}
	rng := newRand()
	m := newMoments(released, 10, 400, columns, 4)
	if m.released[1] != m.released[5] || m.noise[6] != 0 || m.released[6] != 0 {
		t.Errorf("levels are not tied to the intercept or to each other: %v", m.released)
	}
	if v := m.noise[5]; math.Abs(v-100.0/3) > 1e-9 {
		t.Errorf("two releases of one moment leave a variance of %v; 100 and 50 make 33.3", v)
	}
	for range 50 {
		if _, ok := choleskyOf(m.draw(rng)); !ok {
			t.Fatal("a draw is not positive definite")
		}
	}
	exact := newMoments(released, 0, 400, nil, 4).draw(rng)
	for e, want := range released {
		if got := exact.At(e/4, e%4); math.Abs(got-want) > 1e-9 {
			t.Errorf("entry %d of an exact release was drawn as %v, not %v", e, got, want)
		}
	}
	junk := newMoments(make([]float64, 16), 1e4, 400, nil, 4).draw(rng)
	trace := 0.0
	for j := range 4 {
		trace += junk.At(j, j)
	}
	if trace > 16*400 {
		t.Errorf("the trace of a draw is %v; public bounds say at most 400", trace)
	}
}
