package diag

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// kinds returns the kinds of the warnings of a summary.
func kinds(s Summary) []Kind {
	var out []Kind
	for _, w := range s.Warnings() {
		out = append(out, w.Kind)
	}
	return out
}

func TestWarnings(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	good := ar1(rng, 0, 1, 1000)
	apart := [][]float64{good[0][:500], nil}
	for _, v := range good[0][500:] {
		apart[1] = append(apart[1], v+1)
	}
	bits := make([]float64, 1000)
	for i := range bits {
		bits[i] = float64(i % 2)
	}
	for name, c := range map[string]struct {
		chains [][]float64
		want   []Kind
	}{
		"good":       {good, nil},
		"none":       {nil, []Kind{TooShort}},
		"empty":      {[][]float64{{}}, []Kind{TooShort}},
		"short":      {[][]float64{{1, 2, 3, 4, 5}}, []Kind{TooShort, HighRHat}},
		"six":        {[][]float64{{1, 5, 3, 4, 2, 6}}, []Kind{LowESS}},
		"constant":   {[][]float64{slices.Repeat([]float64{0.1}, 200)}, []Kind{Constant}},
		"NaN":        {[][]float64{{1, 2, 3, math.NaN(), 5, 6, 7}}, []Kind{NotFinite}},
		"infinite":   {[][]float64{{1, 2, 3, math.Inf(-1), 5, 6, 7}}, []Kind{NotFinite}},
		"uneven":     {[][]float64{good[0][:600], good[0][600:]}, []Kind{Uneven}},
		"two values": {[][]float64{bits}, []Kind{Undefined}},
		"apart":      {apart, []Kind{HighRHat, LowESS}},
	} {
		if got := kinds(Summarize(c.chains)); !slices.Equal(got, c.want) {
			t.Errorf("%s: warnings %v, want %v", name, got, c.want)
		}
	}
}

func TestConstantDraws(t *testing.T) {
	s := Summarize([][]float64{slices.Repeat([]float64{0.1}, 7), slices.Repeat([]float64{0.1}, 7)})
	if s.Mean != 0.1 || s.SD != 0 || s.MAD != 0 || s.Median != 0.1 || s.Q5 != 0.1 || s.Q95 != 0.1 {
		t.Errorf("constant draws give %+v", s)
	}
	for name, figure := range ofSummary {
		if !math.IsNaN(figure(s)) {
			t.Errorf("%s of constant draws is %v, not NaN", name, figure(s))
		}
	}
}

// TestShortChains: R-hat begins at 4 draws per chain, ESS and MCSE at MinDraws.
func TestShortChains(t *testing.T) {
	x := []float64{1, 5, 3, 4, 2, 6}
	for n := range len(x) + 1 {
		s := Summarize([][]float64{x[:n]})
		if defined := !math.IsNaN(s.RHat); defined != (n >= 4) {
			t.Errorf("%d draws: R-hat %v", n, s.RHat)
		}
		for _, figure := range []float64{s.ESSBulk, s.ESSTail, s.MCSEMean, s.MCSESD, s.MCSEMedian} {
			if defined := !math.IsNaN(figure); defined != (n >= MinDraws) {
				t.Errorf("%d draws: %+v", n, s)
			}
		}
		if math.IsNaN(s.Mean) != (n == 0) || math.IsNaN(s.SD) != (n < 2) {
			t.Errorf("%d draws: mean %v, sd %v", n, s.Mean, s.SD)
		}
	}
}

func TestUnevenChainsAreCut(t *testing.T) {
	x := ar1(rand.New(rand.NewPCG(5, 6)), 0.5, 2, 50)
	want := Summarize([][]float64{x[0], x[1][:40]})
	if want.Ignored != 10 || want.Draws != 40 {
		t.Errorf("ignored %d, kept %d", want.Ignored, want.Draws)
	}
	got := Summarize([][]float64{x[0][:40], x[1][:40]})
	got.Ignored = want.Ignored
	if got != want {
		t.Errorf("%+v is not %+v", got, want)
	}
	if r := RHat([][]float64{x[0], x[1][:40]}); r != want.RHat {
		t.Errorf("RHat of uneven chains is %v, Summarize has %v", r, want.RHat)
	}
}

func TestProbabilities(t *testing.T) {
	x := ar1(rand.New(rand.NewPCG(5, 6)), 0.5, 2, 50)
	for _, p := range []float64{-0.1, 1.1, math.NaN()} {
		if !math.IsNaN(essAt(x, p)) || !math.IsNaN(mcseAt(x, p)) || !math.IsNaN(Quantile(x[0], p)) {
			t.Errorf("p = %v gives a number", p)
		}
	}
	sorted := pooled(x)
	if Quantile(sorted, 0) != sorted[0] || Quantile(sorted, 1) != sorted[99] || !math.IsNaN(Quantile(nil, 0.5)) {
		t.Error("the extreme quantiles are not the extremes")
	}
	if !(essAt(x, 1) > 0) {
		t.Errorf("the maximum has ESS %v", essAt(x, 1))
	}
}

func TestSummarizeAllPanicsOnShape(t *testing.T) {
	defer func() {
		if msg, ok := recover().(string); !ok || !strings.HasPrefix(msg, "diag: draw 1 of chain 0 has 1 values for 2 names") {
			t.Errorf("recovered %v", msg)
		}
	}()
	SummarizeAll([]string{"a", "b"}, [][][]float64{{{1, 2}, {3}}})
}

func TestTableNamesItsWarnings(t *testing.T) {
	table := SummarizeAll([]string{"stuck"}, [][][]float64{{{1}, {1}, {1}, {1}, {1}, {1}}})
	w := table.Warnings()
	if len(w) != 1 || w[0].Name != "stuck" || !strings.HasPrefix(w[0].String(), "stuck: all draws are equal") {
		t.Errorf("warnings %v", w)
	}
}

func BenchmarkSummarize(b *testing.B) {
	x := ar1(rand.New(rand.NewPCG(1, 1)), 0.9, 4, 5000)
	b.ReportAllocs()
	for b.Loop() {
		Summarize(x)
	}
}
