package diag

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// ar1 returns chains of a stationary autoregression with slope phi and normal
// innovations of variance 1.
func ar1(rng *rand.Rand, phi float64, chains, draws int) [][]float64 {
	out := make([][]float64, chains)
	for c := range out {
		x := rng.NormFloat64() / math.Sqrt(1-phi*phi)
		for range draws {
			out[c] = append(out[c], x)
			x = phi*x + rng.NormFloat64()
		}
	}
	return out
}

// TestCalibration holds the figures against an autoregression whose law is
// known: over 300 replications the squared errors in units of the MCSE average
// 1, and the ESS its true value S(1-φ)/(1+φ).
//
// False alarms: the mean of 300 squared standard normals has standard deviation
// √(2/300) = 0.082; noise in the MCSE itself raises its mean by less than 0.06,
// so [0.5, 1.55] is 6 standard deviations away, below 1e-7 by the χ²₃₀₀ tails for
// each of 8 figures. The mean ESS has a standard deviation below 0.5%, so its 6%
// band is beyond 10 of them after 1% of bias.
func TestCalibration(t *testing.T) {
	const replications, chains, draws = 300, 4, 1000
	for _, phi := range []float64{0.5, -0.4} {
		sd := 1 / math.Sqrt(1-phi*phi)
		truth := []float64{0, sd, 0, sd * distuv.UnitNormal.Quantile(0.05)}
		rng := rand.New(rand.NewPCG(2021, math.Float64bits(phi)))
		var meanESS, naive float64
		squares := make([]float64, len(truth))
		for range replications {
			s := Summarize(ar1(rng, phi, chains, draws))
			figure := []float64{s.Mean, s.SD, s.Median, s.Q5}
			mcse := []float64{s.MCSEMean, s.MCSESD, s.MCSEMedian, s.MCSEQ5}
			for i := range truth {
				z := (figure[i] - truth[i]) / mcse[i]
				squares[i] += z * z / replications
			}
			naive += s.Mean * s.Mean / (s.SD * s.SD / (chains * draws)) / replications
			meanESS += s.MCSEMean * s.MCSEMean / (s.SD * s.SD) / replications
		}
		for i, got := range squares {
			if got < 0.5 || got > 1.55 {
				t.Errorf("φ = %v: figure %d has mean squared error %.3f MCSE²", phi, i, got)
			}
		}
		want := chains * draws * (1 - phi) / (1 + phi)
		if got := 1 / meanESS; math.Abs(got/want-1) > 0.06 {
			t.Errorf("φ = %v: ESS %.0f, want %.0f", phi, got, want)
		}
		if naive > 0.5 && naive < 1.55 { // mutant: the error of independent draws
			t.Errorf("φ = %v: the naive standard error passes with %.3f", phi, naive)
		}
	}
}

// TestRHatFindsTroubles: R-hat stays below 1.01 for independent draws (its
// square exceeds 1 by (F-1)/500 with F of 7 degrees of freedom, so a false alarm
// needs F > 11: below 1e-12) and far above it for a trend within one chain, for
// chains of different location and for chains of different spread.
func TestRHatFindsTroubles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	good := ar1(rng, 0, 4, 1000)
	if r := RHat(good); r > MaxRHat {
		t.Errorf("independent draws: R-hat %v", r)
	}
	trend := ar1(rng, 0, 1, 1000)
	for i := range trend[0] {
		trend[0][i] += float64(i) / 500
	}
	shifted, spread := ar1(rng, 0, 4, 1000), ar1(rng, 0, 4, 1000)
	for i := range 1000 {
		shifted[0][i]++
		spread[0][i] *= 3
	}
	for name, bad := range map[string][][]float64{"trend": trend, "location": shifted, "spread": spread} {
		if r := RHat(bad); r < 1.05 {
			t.Errorf("%s: R-hat %v", name, r)
		}
	}
	if r := (variant{noFold: true}).rhat(spread); r > 1.05 {
		t.Errorf("the mutant without folding sees the spread: %v", r)
	}
}

// anyChains draws chains of one length with values on a grid of 2⁻²⁰, so that
// shifting them is exact: the two middle draws are equally far from the median,
// and rounding may break that tie either way.
func anyChains(t *rapid.T) [][]float64 {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
	phi := rapid.Float64Range(-0.95, 0.95).Draw(t, "phi")
	x := ar1(rng, phi, rapid.IntRange(1, 5).Draw(t, "chains"), rapid.IntRange(6, 120).Draw(t, "draws"))
	for _, chain := range x {
		for i, v := range chain {
			chain[i] = math.Ldexp(math.Round(math.Ldexp(v, 20)), -20)
		}
	}
	return x
}

// near reports equality up to rounding; two NaN are equal.
func near(a, b, tolerance float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b))
}

func TestInvariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := anyChains(t)
		before := Summarize(x)
		scale := math.Ldexp(1, rapid.IntRange(-60, 60).Draw(t, "log scale"))
		scaled := eachChain(x, func(c []float64) []float64 {
			out := make([]float64, len(c))
			for i, v := range c {
				out[i] = scale * v
			}
			return out
		})
		after := Summarize(scaled)
		if after.RHat != before.RHat || after.ESSBulk != before.ESSBulk || !near(after.ESSTail, before.ESSTail, 0) {
			t.Fatalf("scaling by %v changes %+v into %+v", scale, before, after)
		}
		if after.MCSEMean != scale*before.MCSEMean || !near(after.MCSESD, scale*before.MCSESD, 1e-12) ||
			after.MAD != scale*before.MAD {
			t.Fatalf("scaling by %v does not scale the errors: %+v, %+v", scale, before, after)
		}
		reversed := make([][]float64, len(x))
		for c := range x {
			reversed[len(x)-1-c] = x[c]
		}
		if got := Summarize(reversed); !near(got.RHat, before.RHat, 1e-9) || !near(got.ESSBulk, before.ESSBulk, 1e-9) ||
			got.Median != before.Median {
			t.Fatalf("the order of the chains matters: %+v, %+v", before, got)
		}
		mirrored := eachChain(x, func(c []float64) []float64 {
			out := make([]float64, len(c))
			for i, v := range c {
				out[i] = 3 - v
			}
			return out
		})
		if got := Summarize(mirrored); !near(got.RHat, before.RHat, 1e-9) || !near(got.ESSBulk, before.ESSBulk, 1e-9) {
			t.Fatalf("a mirrored and shifted chain differs: %+v, %+v", before, got)
		}
	})
}

func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := anyChains(t)
		s := Summarize(x)
		size := float64(s.Chains * (s.Draws / 2 * 2))
		for _, ess := range []float64{s.ESSBulk, s.ESSTail} { // a tail may be empty
			if ess <= 0 || ess > size*math.Log10(size)*(1+1e-12) {
				t.Fatalf("ESS %v of %v draws", ess, size)
			}
		}
		half := float64(s.Draws / 2)
		if s.RHat < math.Sqrt((half-1)/half)*(1-1e-12) {
			t.Fatalf("R-hat %v with halves of %v draws", s.RHat, half)
		}
		if !(s.Q5 <= s.Median && s.Median <= s.Q95) {
			t.Fatalf("quantiles out of order: %+v", s)
		}
	})
}

// TestAnyValues: whatever the values and lengths, nothing panics, the argument
// is unchanged, and a figure that is NaN comes with a warning.
func TestAnyValues(t *testing.T) {
	value := rapid.OneOf(
		rapid.SampledFrom([]float64{0, 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324}),
		rapid.Float64())
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.SliceOfN(value, 0, 20), 0, 4).Draw(t, "chains")
		before := eachChain(x, func(c []float64) []float64 { return append([]float64(nil), c...) })
		s := Summarize(x)
		for c := range x {
			for i := range x[c] {
				if math.Float64bits(x[c][i]) != math.Float64bits(before[c][i]) {
					t.Fatal("the draws were changed")
				}
			}
		}
		if (math.IsNaN(s.Mean) || math.IsNaN(s.RHat) || math.IsNaN(s.ESSTail)) && len(s.Warnings()) == 0 {
			t.Fatalf("no warning for %+v", s)
		}
	})
}
