package surrogates

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/priors"
)

// noisyCurvature is the release at an optimum of a logistic regression whose curvature's
// noise hides some of its directions.
func noisyCurvature(d int) Statistics {
	s := Statistics{Anchor: make([]float64, d), Score: make([]float64, d), ScoreSD: 2, Ridge: 0.4,
		Moment: make([]float64, d*d), MomentSD: 1.5, Weighted: true, Records: 500, Radius: 1}
	rng := rand.New(rand.NewPCG(3, 4))
	for j := range d {
		s.Anchor[j] = 2 - float64(j)
		s.Score[j] = -s.Ridge * s.Anchor[j]
		for k := range d {
			s.Moment[j*d+k] = 2
		}
		s.Moment[j*d+j] = 4
	}
	noisySquares(s.Moment, d, s.MomentSD, rng)
	return s
}

// TestOptimaHaveADeterminant: an optimum's density has the determinant of the curvature
// and its ridge, of each imputation's own curvature, also where that is what was released.
func TestOptimaHaveADeterminant(t *testing.T) {
	const d = 4
	s := noisyCurvature(d)
	p, err := New(Config{Statistics: s, Link: Logistic, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		t.Fatal(err)
	}
	for k, im := range p.imputations {
		h := mat.NewSymDense(d, nil)
		for j := range d {
			h.SetSym(j, j, s.Ridge)
		}
		one := im.features.information(s.Anchor)
		one.ScaleSym(float64(s.Records), one)
		h.AddSym(h, one)
		var chol mat.Cholesky
		if !chol.Factorize(h) || math.Abs(chol.LogDet()-im.log) > 1e-6 {
			t.Errorf("imputation %d: log determinant %v, want %v", k, im.log, chol.LogDet())
		}
		if k > 0 && im.log == p.imputations[0].log {
			t.Error("imputations have one determinant, so that the test shows little")
		}
	}
}

// TestDrawnMomentsAreNotMended: second moments are drawn from the positive definite ones.
// Were those that are not mended instead, most would have a direction of next to nothing.
func TestDrawnMomentsAreNotMended(t *testing.T) {
	const d, draws = 6, 40
	c := Config{Statistics: noisyCurvature(d), Link: Logistic}
	m := c.Statistics.moments(c.Link)
	rng := rand.New(rand.NewPCG(1, 2))
	flat := func(s *mat.SymDense) bool {
		inverse := make([]float64, d)
		for j := range inverse {
			inverse[j] = 1 / math.Sqrt(s.At(j, j))
		}
		var e mat.EigenSym
		return !e.Factorize(rescaled(s, inverse), false) || e.Values(nil)[0] < 1.5*least
	}
	drawn, mended := 0, 0
	for range draws {
		if flat(m.draw(rng)) {
			drawn++
		}
		scale := m.scales(rng)
		if flat(rescaled(nearestCorrelation(m.correlations(scale, rng)), scale)) {
			mended++
		}
	}
	if drawn > 2 || mended < 5 {
		t.Errorf("of %d draws %d are nearly singular, and %d of mended ones", draws, drawn, mended)
	}
}
