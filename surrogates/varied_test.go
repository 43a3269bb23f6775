package surrogates

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/priors"
)

// TestVariedCounts: the mean slope of varied counts is that of geometric ones, whose chances are added up,
// to a part of their distance from that of Poisson ones.
func TestVariedCounts(t *testing.T) {
	link, ok := Centre(roots{cut: 4, most: 20})
	if !ok {
		t.Fatal("roots have no centre")
	}
	for _, at := range []float64{-2, -1, 0, 1} {
		m := math.Exp(at)
		want, chance := 0.0, 1/(1+m)
		for y := 0.0; y < 2000; y++ {
			want += chance * link.Of(at, y)
			chance *= m / (1 + m)
		}
		got, _, _, _ := varied{link}.Slope(at, at)
		poisson, _, _, _ := link.Slope(at, at)
		if math.Abs(got-want) > 0.1*math.Abs(poisson-want) {
			t.Errorf("at %v varied counts have the mean slope %v, geometric ones %v, Poisson ones %v", at, got, want, poisson)
		}
	}
	s := Statistics{Anchor: []float64{0}, Score: []float64{0}, ScoreSD: 5, Moment: []float64{1000}, MomentSD: 1,
		Records: 1000, Radius: 1, Columns: []Column{{Kind: Constant, Upper: 1}}}
	of := func(link Link) float64 {
		p, err := New(Config{Statistics: s, Link: link, Prior: priors.Gaussian{SD: 3}, Imputations: 1})
		if err != nil {
			t.Fatal(err)
		}
		moved, err := p.Varied()
		if err != nil {
			t.Fatal(err)
		}
		return moved
	}
	// Of means of 1 roots say .67, so log means are off by .4, and 1000 records and noise leave .04 open.
	if got := of(link); !(got > 3 && got < 15) {
		t.Errorf("an intercept moves by %v standard deviations", got)
	}
	binomial, ok := Centre(counts{cut: 4, most: 20, w: 1})
	if !ok {
		t.Fatal("negative binomial counts have no centre")
	}
	// Slopes that are not cut have the same mean whatever the dispersion, and others have not.
	for at, moves := range map[float64]bool{0.1: true, 1e3: false} {
		link, _ := Centre(counts{cut: at, most: 1e6, w: 1})
		if got := of(link); (got > 0.5) != moves {
			t.Errorf("counts whose slopes are cut at %v are moved by %v", at, got)
		}
	}
	at := binomial.(centred)
	for _, times := range []float64{0.5, 2} {
		own := counts{cut: 4, most: 20, w: times}
		h, _ := at.centre(1.5)
		want := 0.0
		chance := math.Pow(1+times*math.Exp(1.5), -1/times)
		for y := 0.0; y < 5000; y++ {
			want += chance * at.slopeAbout(h, 1.5, y)
			chance *= (1 + times*y) * math.Exp(1.5) / ((1 + times*math.Exp(1.5)) * (y + 1))
		}
		if got, _, _, _ := (dispersed{at, times}).Slope(1.5, 1.5); math.Abs(got-want) > 1e-9 {
			t.Errorf("%+v: the mean slope is %v, and chances add up to %v", own, got, want)
		}
	}
}

// Means at one parameter have no table, and are those of one. The mutant has another parameter's.
func TestMeansOfOneParameterNeedNoTable(t *testing.T) {
	second := mat.NewSymDense(3, []float64{1, 0.2, 0.1, 0.2, 0.5, 0.3, 0.1, 0.3, 0.1})
	anchor, theta := []float64{0.4, -0.2, 0.3}, []float64{0.9, 0.5, -1}
	whole := newNormal(second, 0, anchor)
	poisson, _ := Centre(roots{cut: 0.5, most: 50})
	for _, link := range []Link{poisson, roots{0.5, 50}, counts{2, 20, 0.5}, binary{probit, 1}, halved{}, Logistic} {
		for _, law := range []*normal{whole, whole.split(rareColumn)} {
			with, without, mutant := make([]float64, 3), make([]float64, 3), make([]float64, 3)
			newFeatures(law, link).scores().law(with, nil, theta, 100)
			meanScore(without, law, link, theta, 100)
			meanScore(mutant, law, link, anchor, 100)
			// A table's steps leave some 10⁻⁶, and the mutant is off by all of wrong.
			off, wrong := floats.Distance(with, without, 2), floats.Distance(with, mutant, 2)
			if off > 1e-5*wrong {
				t.Errorf("%T: the mean score is %v with a table and %v without", link, with, without)
			}
		}
	}
}
