package anchors

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestClassCurvature: the curvature that is made of second moments of features is the sum of
// second derivatives over the records, within a sixth of its size in every direction, and its
// noise as small as is said. Without the constant column it is further off.
func TestClassCurvature(t *testing.T) {
	const classes, p, n, d = 3, 3, 4000, 9
	model, err := targets.New(targets.SoftmaxConfig{Features: p, Classes: classes, Prior: priors.Gaussian{SD: 1}})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	s := surrogates.Statistics{Anchor: make([]float64, d), Moment: make([]float64, p*p), MomentSD: 40, Records: n,
		Radius: 1}
	for j := range s.Anchor {
		s.Anchor[j] = 2 * rng.NormFloat64()
	}
	want, probs := mat.NewSymDense(d, nil), make([]float64, classes)
	for range n {
		x := []float64{0.5, rng.Float64() - 0.3, 0.4 * float64(rng.IntN(2))}
		chances(probs, s.Anchor, x)
		for j, u := range x {
			for k, v := range x {
				s.Moment[j*p+k] += u * v
			}
		}
		for a := range d {
			for b := range a + 1 {
				v := -probs[a/p] * probs[b/p]
				if a/p == b/p {
					v += probs[a/p]
				}
				want.SetSym(b, a, want.At(b, a)+v*x[a%p]*x[b%p])
			}
		}
	}
	columns := []surrogates.Column{{Kind: surrogates.Constant, Upper: 0.5}, {}, {}}
	got := classCurvature(model, s, columns)
	known, unknown := apart(t, got.of, want), apart(t, classCurvature(model, s, nil).of, want)
	if known > 1.0/6 || unknown < known {
		t.Errorf("off by %.2f of the curvature, and by %.2f where the constant column is not known", known, unknown)
	}
	// Noise in the moments moves the curvature along a direction by a normal amount.
	const tries, limit = 400, 1 + 5.5/28 // of a standard deviation from so many: 1/√(2·400)
	v, square := mat.NewVecDense(d, nil), 0.0
	for j := range d {
		v.SetVec(j, rng.NormFloat64())
	}
	for range tries {
		noisy := s
		noisy.Moment = append([]float64(nil), s.Moment...)
		for j := range p {
			for k := range j + 1 {
				z := s.MomentSD * rng.NormFloat64()
				if j != k {
					z /= math.Sqrt2
				}
				noisy.Moment[j*p+k] += z
				noisy.Moment[k*p+j] = noisy.Moment[j*p+k]
			}
		}
		e := mat.Inner(v, classCurvature(model, noisy, columns).of, v) - mat.Inner(v, got.of, v)
		square += e * e / tries
	}
	sd, stated := math.Sqrt(square), mat.Inner(v, got.noise, v)
	if sd > stated*limit || sd < stated/10 {
		t.Errorf("noise of %v along a direction, stated is at most %v", sd, stated)
	}
}

// apart is the largest share of the curvature along any direction by which two differ, those
// left out along which there is none.
func apart(t *testing.T, a, b *mat.SymDense) float64 {
	t.Helper()
	var eigen mat.EigenSym
	if !eigen.Factorize(b, true) {
		t.Fatal("no eigenvalues")
	}
	var axes mat.Dense
	eigen.VectorsTo(&axes)
	values, worst := eigen.Values(nil), 0.0
	for j, h := range values {
		if h > 1e-9*values[len(values)-1] {
			v := axes.ColView(j)
			worst = max(worst, math.Abs(mat.Inner(v, a, v)/h-1))
		}
	}
	return worst
}

// TestJoinedLooks: two looks that are joined say the mean of their scores and the second moments,
// with noise of the standard deviations that are stated. Mean squares of 360 scores and of 120
// diagonal moments over those are within 5.6 standard errors of 1, an alarm in 2·10⁷ runs each.
// One look alone, with the noise stated for two, is not.
func TestJoinedLooks(t *testing.T) {
	const classes, p, n, d, sets = 3, 2, 200, 6, 60
	model, err := targets.New(targets.SoftmaxConfig{Features: p, Classes: classes, Prior: priors.Gaussian{SD: 1}})
	if err != nil {
		t.Fatal(err)
	}
	f := curator.Facts{Records: n, Features: p, Response: true, Radius: 1, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
	a, err := newFirst(Config{Target: model, Aim: Score, OptimumNoise: 3, Iterations: 1}, fullModel(t, model), f)
	if err != nil {
		t.Fatal(err)
	}
	lengths, err := a.config.lengths(fullModel(t, model), f)
	if err != nil {
		t.Fatal(err)
	}
	_, _, last := a.mechanisms()
	sd, err := last.NoiseSD(f)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	rows := targets.Rows{P: p}
	for range n {
		rows.X, rows.Y = append(rows.X, 0.5, rng.Float64()-0.5), append(rows.Y, float64(rng.IntN(classes)))
	}
	squares := func(joined bool) (score, moment float64) {
		for range sets {
			values, want, gradients := make([]float64, 2*a.size()), make([]float64, d), make([]float64, n*d)
			for look := range looks {
				one := values[look*a.size() : (look+1)*a.size()]
				for j := range d {
					one[j] = rng.NormFloat64()
				}
				if err := a.tangent.At(one[:d], lengths(one[:d])); err != nil {
					t.Fatal(err)
				}
				sums := make([]float64, n*a.tangent.Dim())
				a.tangent.LossGrad(sums, nil, rows)
				for i, v := range sums {
					one[d+i%a.tangent.Dim()] += v
				}
				for j := range a.tangent.Dim() {
					one[d+j] += sd * rng.NormFloat64()
				}
				model.LossGrad(gradients, one[:d], rows)
				for i, g := range gradients {
					want[i%d] += g / looks
				}
				if !joined { // of twice the first
					copy(values[a.size():], one)
					for j := range want {
						want[j] *= looks
					}
					break
				}
			}
			s, err := a.statistics(values, lengths, f)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.join(&s, values[a.size():], lengths, f); err != nil {
				t.Fatal(err)
			}
			for j, v := range s.Score {
				score += math.Pow((v-want[j])/s.ScoreSD, 2) / (sets * d)
			}
			for j := range p {
				exact := 0.0
				for i := range n {
					exact += rows.Row(i)[j] * rows.Row(i)[j]
				}
				moment += math.Pow((s.Moment[j*p+j]-exact)/s.MomentSD, 2) / (sets * p)
			}
		}
		return score, moment
	}
	off := func(joined bool) float64 {
		score, moment := squares(joined)
		return max(math.Abs(score-1)*math.Sqrt(sets*d/2.0), math.Abs(moment-1)*math.Sqrt(sets*p/2.0))
	}
	if e := off(true); e > 5.6 {
		t.Errorf("mean squares are %.1f standard errors from 1", e)
	}
	if e := off(false); e < 5.6 {
		t.Errorf("one look passes for two: %.1f standard errors from 1", e)
	}
}

func fullModel(t *testing.T, target targets.Target) model {
	t.Helper()
	m, err := fitting(target).model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestRoundingIsNoCurvature: where curvature and its noise are rounding alone, as where chances are 0 or 1, the anchor
// stays. Curvatures that are seen move it.
func TestRoundingIsNoCurvature(t *testing.T) {
	model, err := targets.New(targets.SoftmaxConfig{Features: 1, Classes: 3, Prior: priors.Gaussian{SD: 1}})
	if err != nil {
		t.Fatal(err)
	}
	s := surrogates.Statistics{Anchor: make([]float64, 3), Score: []float64{1, -2, 3}, ScoreSD: 1, Records: 100, Radius: 1,
		Temperature: 1}
	for _, c := range []struct {
		curvature, noise float64 // in all directions but one
		moves            bool
	}{{0, 0, false}, {-2e-18, -1e-18, false}, {2e-18, 0, false}, {2e-18, -1e-18, false}, {50, 1, true}} {
		of, noise := mat.NewSymDense(3, nil), mat.NewSymDense(3, nil)
		for j := range 3 {
			of.SetSym(j, j, c.curvature)
			noise.SetSym(j, j, c.noise)
		}
		of.SymRankOne(of, 100, mat.NewVecDense(3, []float64{1, 1, -2}))
		w, err := directionsOf(s, curved{of, noise}, model, true)
		if err != nil {
			t.Fatal(err)
		}
		theta := make([]float64, 3)
		w.newton(theta)
		if across := theta[0] - theta[1]; (math.Abs(across) > 1e-9) != c.moves || math.Abs(across) > 1 {
			t.Errorf("a curvature of %v with noise of %v moves the anchor by %v", c.curvature, c.noise, across)
		}
	}
}
