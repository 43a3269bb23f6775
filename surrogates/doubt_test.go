package surrogates

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/priors"
)

// farOff is a release of labels that are told apart well where size is 1, without noise, at an anchor that is short of
// the truth by a share.
func farOff(size, short, doubt float64) Config {
	const n = 20_000
	truth := []float64{-3 * size, 4 * size, -2 * size}
	anchor := make([]float64, 3)
	floats.ScaleTo(anchor, 1-short, truth)
	c := Config{Link: halved{}, Prior: priors.Gaussian{SD: 10}, Doubt: doubt, Imputations: 1, Seed: 1,
		Statistics: Statistics{Anchor: anchor, ScoreSD: 20, Moment: []float64{n, 0, 0, 0, n, 0, 0, 0, n}, Records: n,
			Radius: 4, Score: make([]float64, 3), Columns: []Column{{Kind: Constant, Upper: 1}, {}, {}}}}
	law := newNormal(mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}), 0, anchor)
	newFeatures(law, c.Link).scores().law(c.Statistics.Score, nil, truth, n)
	return c
}

// TestDoubtIsOfTheWay: doubt in the law widens nothing where the anchor is at the truth. Where it is short
// of it the posterior along the way is about as wide as the share of the way that is in doubt,
// unless predictors hardly spread.
func TestDoubtIsOfTheWay(t *testing.T) {
	along := func(size, short, doubt float64) float64 {
		p, err := New(farOff(size, short, doubt))
		if err != nil {
			t.Fatal(err)
		}
		cov, err := p.covariance(p.mean)
		if err != nil {
			t.Fatal(err)
		}
		way := mat.NewVecDense(3, []float64{-3, 4, -2})
		way.ScaleVec(1/mat.Norm(way, 2), way)
		var chol mat.Cholesky
		if !chol.Factorize(cov) {
			t.Fatal("a covariance is not positive definite")
		}
		var u mat.VecDense
		if err := chol.SolveVecTo(&u, way); err != nil {
			t.Fatal(err)
		}
		return 1 / math.Sqrt(mat.Dot(way, &u)) // other directions held
	}
	const doubt = 0.3
	near, nearDoubt := along(1, 0, 0), along(1, 0, doubt)
	if nearDoubt > 1.02*near {
		t.Errorf("at the truth doubt widens %v to %v", near, nearDoubt)
	}
	far, farDoubt := along(1, 0.5, 0), along(1, 0.5, doubt)
	length := math.Sqrt(29) / 2 // of the way
	added := math.Sqrt(farDoubt*farDoubt - far*far)
	if want := math.Sqrt2 * doubt * length; added < want/2 || added > 2*want {
		t.Errorf("half-way doubt adds a standard deviation of %v, want about %v", added, want)
	}
	even, evenDoubt := along(0.1, 0.5, 0), along(0.1, 0.5, doubt)
	if evenDoubt > 1.1*even {
		t.Errorf("where predictors hardly spread doubt widens %v to %v", even, evenDoubt)
	}
}

// TestDoubtIsOfRandomCurvatures: the covariance that doubt adds is that of the mean score where the
// curvature is off by symmetric noise. Of 4000 draws entries are within 6 standard errors, of which there
// are 6: a false alarm has a chance below 10⁻⁷.
func TestDoubtIsOfRandomCurvatures(t *testing.T) {
	c := farOff(1, 0.5, 0.3)
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	im := &p.imputations[0]
	p.doubt(im)
	middle, way := make([]float64, 3), make([]float64, 3)
	for j := range way {
		way[j] = p.mean[j] - c.Statistics.Anchor[j]
		middle[j] = c.Statistics.Anchor[j] + way[j]/2
	}
	h := im.features.information(middle)
	h.ScaleSym(c.Statistics.size(), h)
	var eigen mat.EigenSym
	if !eigen.Factorize(h, true) {
		t.Fatal("no eigenvalues")
	}
	var vectors, root mat.Dense
	eigen.VectorsTo(&vectors)
	diagonal := mat.NewDiagDense(3, nil)
	for i, v := range eigen.Values(nil) {
		diagonal.SetDiag(i, math.Sqrt(v))
	}
	root.Product(&vectors, diagonal, vectors.T())
	const draws = 4000
	rng := rand.New(rand.NewPCG(3, 4))
	sum, square := make([]float64, 9), make([]float64, 9)
	for range draws {
		e := mat.NewSymDense(3, nil)
		for j := range 3 {
			e.SetSym(j, j, math.Sqrt2*c.Doubt*rng.NormFloat64())
			for k := range j {
				e.SetSym(j, k, c.Doubt*rng.NormFloat64())
			}
		}
		var one mat.VecDense
		var product mat.Dense
		product.Product(&root, e, &root)
		one.MulVec(&product, mat.NewVecDense(3, way))
		for j := range 3 {
			for k := range j + 1 {
				v := one.AtVec(j) * one.AtVec(k)
				sum[j*3+k] += v / draws
				square[j*3+k] += v * v / draws
			}
		}
	}
	for j := range 3 {
		for k := range j + 1 {
			e := j*3 + k
			off := math.Sqrt((square[e] - sum[e]*sum[e]) / draws)
			if math.Abs(sum[e]-im.doubt[e]) > 6*off {
				t.Errorf("entry %d, %d is %v, of draws %v ± %v", j, k, im.doubt[e], sum[e], off)
			}
		}
	}
}
