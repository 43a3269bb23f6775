package surrogates

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/priors"
)

// TestApart: with |XᵀX|^(ν/2) it is |R|^(ν/2), R the correlations about the constant column, by their determinant.
// Correlations about 0, the mutant, are others.
func TestApart(t *testing.T) {
	const d, nu = 5, 3.0
	rng := rand.New(rand.NewPCG(2, 3))
	for range 20 {
		rows := mat.NewDense(8, d, nil)
		for i := range 8 {
			rows.Set(i, 0, 2)
			for j := 1; j < d; j++ {
				rows.Set(i, j, 1+rng.NormFloat64())
			}
		}
		var square, centred mat.Dense
		square.Mul(rows.T(), rows)
		h := &hidden{d: d, nu: nu}
		e := h.evaluator(&linearEvaluator{Linear: &Linear{dim: d, square: square.RawMatrix().Data}})
		whole, _ := mat.LogDet(&square)
		mean := mat.NewDense(8, d, nil)
		for i := range 8 {
			for j := 1; j < d; j++ {
				mean.Set(i, j, square.At(0, j)/square.At(0, 0)*2)
			}
		}
		rows.Sub(rows, mean)
		centred.Mul(rows.T(), rows)
		want, _ := mat.LogDet(&centred)
		for j := range d {
			want -= math.Log(centred.At(j, j))
		}
		want *= nu / 2
		if got := nu/2*whole + e.apart(); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			t.Fatalf("the factor is %v, the determinant says %v", got, want)
		}
		h.constant = -1
		if got := nu/2*whole + e.apart(); math.Abs(got-want) < 1e-3 {
			t.Fatal("correlations about 0 do not show")
		}
	}
}

// correlatedSums are sums of a constant and some columns that share a part of their variance, with so much noise.
func correlatedSums(shared, sd float64) Sums {
	const d, n = 20, 5000
	rng := rand.New(rand.NewPCG(7, 8))
	s := Sums{Moment: make([]float64, (d+1)*(d+1)), MomentSD: sd, Features: d, Records: n, Radius: 1,
		Columns: make([]Column, d)}
	s.Columns[0] = Column{Kind: Constant, Upper: 1 / math.Sqrt(d)}
	for j := range d {
		for k := range j + 1 {
			v := 0.0
			switch {
			case j == k:
				v = n / float64(d)
			case k > 0:
				v = shared * n / d
			}
			if v += sd * rng.NormFloat64() / math.Sqrt2; j == k {
				v += sd * rng.NormFloat64() / math.Sqrt2
			}
			s.Moment[j*(d+1)+k], s.Moment[k*(d+1)+j] = v, v
		}
	}
	return s
}

// TestUncorrelatedIsLearnt: columns that share half of their variance have no such factor. Those that share none have
// one, and a weak one where noise hides how much they share.
func TestUncorrelatedIsLearnt(t *testing.T) {
	of := func(shared, sd float64) float64 { return correlatedSums(shared, sd).moments().uncorrelated() }
	if of(0.5, 10) != 0 {
		t.Errorf("ν is %v of columns that share half of their variance", of(0.5, 10))
	}
	if clear, hidden := of(0, 10), of(0, 300); clear < 10 || hidden > 1 {
		t.Errorf("of uncorrelated columns ν is %v with little noise, and %v with much", clear, hidden)
	}
}

// TestClimb: it ends about at the mode of XᵀX, where the density would rise by .05 at most. Where it starts, the
// mutant, it would rise by more than .5.
func TestClimb(t *testing.T) {
	l := mustLinear(t, LinearConfig{Sums: correlatedSums(0.2, 60), Prior: priors.Gaussian{SD: 3},
		ScalePrior: priors.HalfNormal{SD: 1}, MinScale: 0.01})
	h := l.hidden
	fresh := *h
	fresh.basis, fresh.length = slices.Clone(h.basis), slices.Clone(h.length)
	if err := fresh.about(h.released, l.config.Sums.MomentSD); err != nil {
		t.Fatal(err)
	}
	rise := func(h *hidden) float64 {
		e, grad := h.alone(), make([]float64, h.values())
		e.spread(make([]float64, h.values()))
		e.fit()
		e.back(grad)
		factor, err := lowerOfInverse(e.precision())
		if err != nil {
			t.Fatal(err)
		}
		slope := make([]float64, len(grad))
		across(slope, factor, grad)
		return dot(slope, slope)
	}
	if at, before := rise(h), rise(&fresh); at > 0.1 || before < 1 {
		t.Errorf("the mode is %v higher than where the climb ends, and %v than where it starts", at/2, before/2)
	}
}
