package anchors

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestFittedSumsSayMore: of 8000 records whose numbers and errors fill a tenth of their bounds, intervals
// of fitted columns and residuals are three times as narrow at least, and hold the truth within five
// standard deviations: of six normal parameters once in 3·10⁵ runs one is farther, and the seed is fixed.
// The same release makes the same draws, also where no record was looked at. It costs no more than its budget.
func TestFittedSumsSayMore(t *testing.T) {
	const n = 8000
	columns := []surrogates.Column{{Kind: surrogates.Constant, Upper: 0.5, Missing: 0.01}, {Lower: -0.5, Upper: 0.5},
		{Lower: -0.5, Upper: 0.5}, {Lower: -0.5, Upper: 0.5}}
	truth, sigma := []float64{0.8, 0.5, -0.4, 0.3}, 0.05
	rng := rand.New(rand.NewPCG(5, 6))
	r := curator.Records{Features: 4, Radius: 1}
	for range n {
		row := []float64{0.5, 0.2 + 0.05*rng.NormFloat64(), -0.1 + 0.05*rng.NormFloat64(), 0}
		row[3] = 0.8*row[1] + 0.02*rng.NormFloat64()
		y := sigma * rng.NormFloat64()
		for j, x := range row {
			y += x * truth[j]
		}
		r.X, r.Y = append(r.X, row...), append(r.Y, y)
	}
	target, err := targets.New(targets.LinearConfig{Features: 4, Prior: priors.Gaussian{SD: 5}, MinScale: 1e-3,
		ScalePrior: priors.HalfCauchy{Scale: 1}})
	if err != nil {
		t.Fatal(err)
	}
	widths := map[Fit]float64{}
	for _, fitted := range []Fit{Unfitted, AnyFit} {
		chosen, mean, sd, _ := fittedDraws(t, Config{Target: target, Columns: columns, Response: 1, Iterations: 200,
			LeastESS: 100, Fit: fitted}, r)
		if want := map[Fit]Fit{Unfitted: Unfitted, AnyFit: Fitted}[fitted]; chosen != want {
			t.Fatalf("fit %v became %v", fitted, chosen)
		}
		for j := range truth {
			widths[chosen] += math.Log(sd[j]) / 4
			if off := math.Abs(mean[j]-truth[j]) / sd[j]; off > 5 {
				t.Errorf("fit %v: coefficient %d is %v ± %v, in truth %v", fitted, j, mean[j], sd[j], truth[j])
			}
		}
	}
	if gain := math.Exp(widths[Unfitted] - widths[Fitted]); !(gain > 3) {
		t.Errorf("intervals of fitted columns are %v times as narrow, less than three times", gain)
	}
}

// TestSizesOfResiduals: counts say their spread to a tenth whatever it is, beside noise of 1%, and each
// record is in one bin, hostile ones too.
func TestSizesOfResiduals(t *testing.T) {
	s, rng := sizes{2, 3}, rand.New(rand.NewPCG(1, 2))
	for _, sd := range []float64{0.01, 0.3, 2} {
		counts := make([]float64, sizeBins)
		for range 5000 {
			counts[s.bin(math.Abs(sd*rng.NormFloat64()))]++
		}
		for b := range counts {
			counts[b] += 50 * rng.NormFloat64()
		}
		if got := s.fit(counts, 5000, 50).spread; math.Abs(got/sd-1) > 0.1 {
			t.Errorf("residuals of spread %v have %v", sd, got)
		}
	}
	rows := targets.Rows{X: []float64{1, math.NaN(), 0, 0, 1, 1}, Y: []float64{1, math.Inf(1), math.MaxFloat64}, P: 2}
	dst := make([]float64, 3*s.Dim())
	s.LossGrad(dst, make([]float64, s.Dim()), rows)
	for i := range 3 {
		sum := 0.0
		for _, v := range dst[i*s.Dim()+2 : (i+1)*s.Dim()] {
			sum += v
		}
		if sum != 1 {
			t.Errorf("record %d is in %v bins", i, sum)
		}
	}
}

// TestLongTailsAreCutLess: residuals of which an eighth are many times as large are told from normal
// ones, and fewer of them are cut than noise could hide. The seed is fixed, and three of the noise's
// standard deviations at a dozen sizes are passed by normal ones once in 60 draws.
func TestLongTailsAreCutLess(t *testing.T) {
	const n, noise = 1300, 10.0
	s, rng := sizes{2, 1}, rand.New(rand.NewPCG(3, 4))
	count := func(tail float64) (counts []float64) {
		counts = make([]float64, sizeBins)
		for range n {
			size := 0.02 * math.Abs(rng.NormFloat64())
			if rng.Float64() < tail {
				size = 0.2 * rng.ExpFloat64()
			}
			counts[s.bin(size)]++
		}
		for b := range counts {
			counts[b] += noise * rng.NormFloat64()
		}
		return counts
	}
	for _, tail := range []float64{0, 0.125} {
		counts, want := count(tail), tail > 0
		l := s.fit(counts, n, noise)
		if got := l.tail > 3*l.tailSD; got != want {
			t.Errorf("%v of the tail: a wider part of %v ± %v", tail, l.tail, l.tailSD)
		}
		long, usual := s.beyond(counts, n, noise, l), s.beyond(counts, n, noise, law{})
		if want != (long > usual) {
			t.Errorf("%v of the tail: residuals are cut at %v, those of any spread at %v", tail, long, usual)
		}
	}
}

// TestLawOfResiduals: shares of a wider part, and what cuts take away, are those of 2·10⁵ draws: to five of the
// standard deviation that is stated, and to 5% of what is cut, four standard errors or more. The seed is fixed.
func TestLawOfResiduals(t *testing.T) {
	const n = 200_000
	s, rng := sizes{2, 1}, rand.New(rand.NewPCG(5, 6))
	for _, tail := range []float64{0, 0.05, 0.2} {
		counts, whole, cut := make([]float64, sizeBins), 0.0, 0.0
		for range n {
			e := 0.02 * rng.NormFloat64()
			if rng.Float64() < tail {
				e *= tailWidth
			}
			whole += e * e
			cut += max(0, e*e-0.05*0.05)
			counts[s.bin(math.Abs(e))]++
		}
		for b := range counts {
			counts[b] += 200 * rng.NormFloat64()
		}
		l := s.fit(counts, n, 200)
		if math.Abs(l.tail-tail) > 5*l.tailSD+0.002 || l.tailSD > 0.02 || math.Abs(l.spread/0.02-1) > 0.02 {
			t.Errorf("%v of the tail: %+v", tail, l)
		}
		if got := (law{0.02, tail, 0}).cut(2.5, tail); math.Abs(got/(cut/whole)-1) > 0.05 {
			t.Errorf("%v of the tail: %v is cut, of draws %v", tail, got, cut/whole)
		}
	}
}

// TestWhatIsSeenFollowsNoise: where noise hides next to nothing, the last rows that are seen whole have four times the
// mean square, and residuals up to five spreads, ten where their sizes are surely not those of normal ones. Where it
// hides much, rows have less than the mean and residuals four spreads. Both are where noise and misfit are least
// together.
func TestWhatIsSeenFollowsNoise(t *testing.T) {
	target, err := targets.New(targets.LinearConfig{Features: 2, Prior: priors.Gaussian{SD: 5}, MinScale: 1e-3,
		ScalePrior: priors.HalfCauchy{Scale: 1}})
	if err != nil {
		t.Fatal(err)
	}
	const n = 20_000
	facts := curator.Facts{Records: n, Features: 2, Response: true, Radius: 1, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
	for _, want := range []struct{ noise, long, normal, heavy float64 }{{0.1, 4, 5, 10}, {3.4, 3.82, 4, 5},
		{500, 0.7, 4, 4}} {
		c := Config{Target: target, Aim: Sums, Fit: Fitted, Response: 1, MomentNoise: want.noise, Iterations: 1,
			Columns: []surrogates.Column{{Kind: surrogates.Constant, Upper: 0.7}, {Lower: -0.7, Upper: 0.7}}}
		begun, err := sumsFit{}.begin(c, model{}, facts)
		if err != nil {
			t.Fatal(err)
		}
		s := begun.(*fitSums)
		s.share = 1
		long := s.long()
		if math.Abs(long/want.long-1) > 0.05 {
			t.Errorf("noise %v: the longest row has %v times the mean square, not %v", want.noise, long, want.long)
		}
		total := func(long float64) float64 {
			return math.Hypot(s.noise()*long*sumsCut, sumsMisfit*n/(long*long))
		}
		if long > sumsShort && long < sumsLong && (total(long*1.05) < total(long) || total(long/1.05) < total(long)) {
			t.Errorf("noise %v: at %v times the mean square noise and misfit are not least", want.noise, long)
		}
		s.gain, s.bin = 1, 1 // counts are exact to one
		for heavy, deviations := range map[bool]float64{false: want.normal, true: want.heavy} {
			s.measure(sizesOf(s.of, n, heavy))
			if got := s.reach / s.law.spread; math.Abs(got/deviations-1) > 0.2 {
				t.Errorf("noise %v, heavy tails %v: residuals are seen up to %v spreads, not %v", want.noise, heavy,
					got, deviations)
			}
		}
	}
}

// TestShortenedRecordsCountWhole: of records that were shortened to the radius before their responses were drawn the
// constant's square does not say how many there are. Errors' scale is within five standard deviations, which it is
// not once in 2·10⁶ runs, and without that word it is a twentieth larger, or nine and more.
func TestShortenedRecordsCountWhole(t *testing.T) {
	const n, sigma = 60_000, 0.1
	rng, level := rand.New(rand.NewPCG(9, 4)), 1/math.Sqrt(3)
	r := curator.Records{Features: 3, Radius: 1}
	for range n {
		row := []float64{level, level * rng.NormFloat64(), level * rng.NormFloat64()}
		if long := floats.Norm(row, 2); long > 1 {
			floats.Scale(1/long, row)
		}
		r.X, r.Y = append(r.X, row...), append(r.Y, 0.3*row[1]-0.2*row[2]+sigma*rng.NormFloat64())
	}
	target, err := targets.New(targets.LinearConfig{Features: 3, Prior: priors.Gaussian{SD: 5}, MinScale: 1e-3,
		ScalePrior: priors.HalfCauchy{Scale: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, varies := range []bool{true, false} {
		_, mean, sd, _ := fittedDraws(t, Config{Target: target, Response: 1, Iterations: 200, LeastESS: 100, Fit: Fitted,
			Columns: []surrogates.Column{{Kind: surrogates.Constant, Upper: level, Varies: varies}, {Lower: -1, Upper: 1},
				{Lower: -1, Upper: 1}}}, r)
		if off := (mean[3] - math.Log(sigma-1e-3)) / sd[3]; varies != (math.Abs(off) < 5) {
			t.Errorf("varies %v: the scale is %v standard deviations off", varies, off)
		}
	}
}

// sizesOf are exact counts of n residuals with spread 0.01, or in heavy ones one in fifty three times that.
func sizesOf(s sizes, n float64, heavy bool) []float64 {
	share := func(b int, sd float64) float64 {
		v := math.Erf(s.edge(b) / sd / math.Sqrt2)
		if b < sizeBins-1 {
			v -= math.Erf(s.edge(b+1) / sd / math.Sqrt2)
		}
		return v
	}
	counts := make([]float64, sizeBins)
	for b := range counts {
		counts[b] = n * share(b, 0.01)
		if heavy {
			counts[b] = n * (0.98*share(b, 0.01) + 0.02*share(b, 0.03))
		}
	}
	return counts
}
