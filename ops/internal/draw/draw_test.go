package draw

import (
	"crypto/sha256"
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/internal/core/noise"
)

const samples = 20000

// farFrom reports whether a sample's distribution function is further from cdf
// than the Dvoretzky-Kiefer-Wolfowitz bound allows, with chance at most 1e-7
// when cdf is right (Massart 1990).
func farFrom(x []float64, cdf func(float64) float64) bool {
	slices.Sort(x)
	gap := 0.0
	for i, v := range x {
		f := cdf(v)
		gap = max(gap, math.Abs(f-float64(i)/float64(len(x))), math.Abs(float64(i+1)/float64(len(x))-f))
	}
	return gap > math.Sqrt(math.Log(2/1e-7)/(2*float64(len(x))))
}

func source(name string) *noise.Source { return noise.NewInsecure(sha256.Sum256([]byte(name))) }

func sample(f func() float64) []float64 {
	x := make([]float64, samples)
	for i := range x {
		x[i] = f()
	}
	return x
}

func gammaCDF(shape float64) func(float64) float64 {
	return func(x float64) float64 { return mathext.GammaIncReg(shape, x) }
}

func TestLogGamma(t *testing.T) {
	for _, shape := range []float64{0.05, 0.7, 1, 2, 50} {
		src := source("gamma")
		x := sample(func() float64 { return math.Exp(LogGamma(src, shape)) })
		if farFrom(x, gammaCDF(shape)) {
			t.Errorf("shape %v: not a gamma sample", shape)
		}
		if !farFrom(x, gammaCDF(shape*1.15)) {
			t.Errorf("shape %v: the test takes it for shape %v", shape, shape*1.15)
		}
	}
}

func TestDirichletMarginals(t *testing.T) {
	src, a := source("dirichlet"), []float64{0.4, 2, 7}
	x := sample(func() float64 {
		var p [3]float64
		Dirichlet(src, p[:], a)
		return p[1]
	})
	if farFrom(x, func(v float64) float64 { return mathext.RegIncBeta(2, 7.4, v) }) {
		t.Error("the second coordinate is not Beta(2, 7.4)")
	}
}

// TestNorm: the norm is Gamma(d) and the direction is uniform, so the first
// coordinate of the direction, squared, is Beta(½, (d−1)/2). Independent Laplace
// coordinates, the published mistake, fail both.
func TestNorm(t *testing.T) {
	const d, scale = 3, 2.5
	norms := func(fill func(z []float64)) (norm, cosine []float64) {
		z := make([]float64, d)
		for range samples {
			fill(z)
			r := math.Sqrt(z[0]*z[0] + z[1]*z[1] + z[2]*z[2])
			norm, cosine = append(norm, r/scale), append(cosine, z[0]*z[0]/(r*r))
		}
		return
	}
	beta := func(v float64) float64 { return mathext.RegIncBeta(0.5, (d-1)/2.0, v) }
	src := source("norm")
	n, c := norms(func(z []float64) {
		for i, v := range Precise(src, d, scale, 256) {
			z[i], _ = v.Float64()
		}
	})
	if farFrom(n, gammaCDF(d)) || farFrom(c, beta) {
		t.Error("Precise does not have density ∝ exp(−‖z‖/scale)")
	}
	n, c = norms(func(z []float64) {
		for i := range z {
			z[i] = scale * (Exponential(src) - Exponential(src))
		}
	})
	if !farFrom(n, gammaCDF(d)) || !farFrom(c, beta) {
		t.Error("the test does not tell independent Laplace coordinates from Precise")
	}
}

// TestLaplace: on a fine grid the noise is Laplace of the scale that the
// sensitivity asks for, and the test rejects one that is a tenth smaller.
func TestLaplace(t *testing.T) {
	src := source("laplace")
	x := sample(func() float64 {
		one := []float64{0.25, 0}
		if err := AddLaplace(src, one, 6, 2); err != nil {
			t.Fatal(err)
		}
		return one[0] - 0.25
	})
	law := func(scale float64) func(v float64) float64 {
		return func(v float64) float64 {
			if v < 0 {
				return math.Exp(v/scale) / 2
			}
			return 1 - math.Exp(-v/scale)/2
		}
	}
	if farFrom(x, law(3)) {
		t.Error("not a Laplace sample of scale 3")
	}
	if !farFrom(x, law(2.7)) {
		t.Error("the test takes a smaller scale too")
	}
	if err := AddLaplace(src, []float64{1, 2}, 1, 1e-13); err == nil {
		t.Error("an ε too small for the grid is accepted")
	}
}

// TestDiscreteLaplaceOnACoarseGrid: at scale 1 and 3 the frequencies of −3, …, 3
// are those of e^−|k|/scale, each within five and a half standard errors
// (a false alarm has a chance below 10⁻⁶ for all of them); a scale of 2 is rejected.
func TestDiscreteLaplaceOnACoarseGrid(t *testing.T) {
	src := source("discrete laplace")
	for _, scale := range []uint64{1, 3} {
		const n = 60000
		counts := map[int64]int{}
		for range n {
			counts[discreteLaplace(src, scale)]++
		}
		far := func(scale float64) bool {
			q := math.Exp(-1 / scale)
			for k := int64(-3); k <= 3; k++ {
				p := (1 - q) / (1 + q) * math.Pow(q, math.Abs(float64(k)))
				if math.Abs(float64(counts[k])-n*p) > 5.5*math.Sqrt(n*p*(1-p)) {
					return true
				}
			}
			return false
		}
		if far(float64(scale)) || !far(2) {
			t.Errorf("scale %d: counts %v", scale, counts)
		}
	}
}

func TestGrid(t *testing.T) {
	for _, c := range []struct{ scale, want float64 }{{1, 0x1p-12}, {1.99, 0x1p-12}, {2, 0x1p-11}, {0.3, 0x1p-14}} {
		if got := Grid(c.scale); got != c.want {
			t.Errorf("Grid(%v) = %v, want %v", c.scale, got, c.want)
		}
	}
	x := []float64{0.3, -0.3, 1e-9}
	Round(x, 0.25)
	if !slices.Equal(x, []float64{0.25, -0.25, 0}) {
		t.Errorf("Round gives %v", x)
	}
}

// TestAddPreciseIsExact against rational arithmetic, for sums that float64 rounds
// across the middle between two grid points too. Rounding the float64 sum, the
// mutant, differs somewhere.
func TestAddPreciseIsExact(t *testing.T) {
	nearest := func(a, b, step float64) float64 { // ties away from zero
		sum := new(big.Rat).Add(new(big.Rat).SetFloat64(a), new(big.Rat).SetFloat64(b))
		sum.Quo(sum, new(big.Rat).SetFloat64(step))
		k, _ := new(big.Int).SetString(sum.FloatString(0), 10)
		f, _ := new(big.Float).SetInt(k).Float64()
		return f * step
	}
	mutant := 0
	for look := 0; look < 50 && mutant == 0; look++ { // again only where chance showed none
		rapid.Check(t, func(t *rapid.T) {
			step := math.Ldexp(1, rapid.IntRange(-30, 5).Draw(t, "step"))
			middle := (float64(rapid.IntRange(-1000, 1000).Draw(t, "k")) + 0.5) * step
			b := rapid.Float64Range(-1e3, 1e3).Draw(t, "noise") * step
			a := middle - b
			for range rapid.IntRange(0, 3).Draw(t, "ulps") {
				a = math.Nextafter(a, rapid.SampledFrom([]float64{math.Inf(1), math.Inf(-1)}).Draw(t, "way"))
			}
			x := []float64{a}
			AddPrecise(x, []*big.Float{big.NewFloat(b).SetPrec(320)}, step)
			if want := nearest(a, b, step); x[0] != want {
				t.Fatalf("%v + %v on a grid of %v: %v, want %v", a, b, step, x[0], want)
			}
			if math.Round((a+b)/step)*step != x[0] {
				mutant++
			}
		})
	}
	if mutant == 0 {
		t.Error("rounding the float64 sum never differs: the test proves little")
	}
}

// TestPreciseLogarithm: exp of the logarithm, by its series in rational numbers of
// 400 bits, gives the number back to the stated precision.
func TestPreciseLogarithm(t *testing.T) {
	p := newPrecise(source("log"), 256)
	for range 20 {
		u := p.uniform()
		l := new(big.Float).SetPrec(500).SetMantExp(p.log(u), -20)
		sum, term := big.NewFloat(1).SetPrec(500), big.NewFloat(1).SetPrec(500)
		for k := int64(1); k < 40; k++ {
			term.Mul(term, l)
			term.Quo(term, new(big.Float).SetInt64(k))
			sum.Add(sum, term)
		}
		for range 20 {
			sum.Mul(sum, sum)
		}
		diff, _ := sum.Sub(sum, u).Quo(sum, u).Float64()
		if !(math.Abs(diff) < 0x1p-256) {
			t.Errorf("log %v is off by %v", u, diff)
		}
	}
}

func BenchmarkPrecise(b *testing.B) {
	src := source("bench")
	b.ReportAllocs()
	for b.Loop() {
		Precise(src, 10, 1, Precision(1))
	}
}
