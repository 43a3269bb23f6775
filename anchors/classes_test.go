package anchors

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

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
