package noise

import (
	"fmt"
	"math"
	"math/big"
	mathrand "math/rand/v2"
	"slices"
	"testing"

	google "github.com/google/differential-privacy/go/v3/noise"
	"gonum.org/v1/gonum/stat/distuv"
)

// pmf returns P(−r), …, P(r) of N_Z(0, σ²), and last the probability outside.
func pmf(sigma float64, r int) []float64 {
	probs, total := make([]float64, 2*r+2), 0.0
	for x := -40 * int(sigma+1); x <= 40*int(sigma+1); x++ {
		p := math.Exp(-float64(x) * float64(x) / (2 * sigma * sigma))
		total += p
		probs[min(uint(x+r), uint(2*r+1))] += p
	}
	for i := range probs {
		probs[i] /= total
	}
	return probs
}

// fit returns the p-value of n draws against N_Z(0, σ²).
func fit(sigma float64, n int, draw func() int64) float64 {
	r := int(5*sigma) + 1
	probs := pmf(sigma, r)
	counts := make([]int, len(probs))
	for range n {
		counts[min(uint64(draw()+int64(r)), uint64(2*r+1))]++
	}
	return chiSquare(counts, probs)
}

// TestDiscreteGaussianLaw compares 10^6 draws with the exact probabilities, one
// integer a strip (σ ≤ 9.5) and several.
func TestDiscreteGaussianLaw(t *testing.T) {
	for _, sigma := range []float64{1, 1.25, 2, 3.7, 9.5, 9.6, 30.3, 100} {
		src, g := testSource(t.Name()), discreteGaussian(t, sigma)
		if p := fit(sigma, 1000000, func() int64 { return g.Sample(src) }); p < falseAlarm {
			t.Errorf("σ = %v: p = %g", sigma, p)
		}
	}
}

func TestDiscreteGaussianMutantsAreRejected(t *testing.T) {
	src := testSource(t.Name())
	unitary, wide, thin := discreteGaussian(t, 1), discreteGaussian(t, 3.7*1.01), discreteGaussian(t, 3.7*0.99)
	right := discreteGaussian(t, 3.7)
	for _, c := range []struct {
		name  string
		sigma float64
		draw  func() int64
	}{
		{"σ 1% too large", 3.7, func() int64 { return wide.Sample(src) }},
		{"σ 1% too small", 3.7, func() int64 { return thin.Sample(src) }},
		{"a rounded normal", 1, func() int64 { return int64(math.Round(StandardNormal(src))) }},
		{"zero with both signs", 3.7, func() int64 {
			for {
				if x := right.Sample(src); x == 0 || src.Uint64()&1 == 0 {
					return x
				}
			}
		}},
		{"never negative", 1, func() int64 { return int64(math.Abs(float64(unitary.Sample(src)))) }},
		{"shifted by one in 10% of the draws", 3.7, func() int64 {
			if src.Uint64()%10 == 0 {
				return right.Sample(src) + 1
			}
			return right.Sample(src)
		}},
	} {
		if p := fit(c.sigma, 2000000, c.draw); p >= falseAlarm {
			t.Errorf("%s is not rejected: p = %g", c.name, p)
		}
	}
}

// TestExactPathHasTheSameLaw sends every point that is not certainly outside
// through decide.
func TestExactPathHasTheSameLaw(t *testing.T) {
	for _, sigma := range []float64{1.3, 12.1} {
		g := discreteGaussian(t, sigma)
		g.slack = one
		for i := range g.cells {
			g.cells[i].lower = 0
		}
		src := testSource(t.Name())
		if p := fit(sigma, 30000, func() int64 { return g.sample(src) }); p < falseAlarm {
			t.Errorf("σ = %v: p = %g", sigma, p)
		}
	}
}

// TestTailHasTheSameLaw cuts the strips at 3σ, where tail draws are frequent. A
// sampler without a tail is the mutant.
func TestTailHasTheSameLaw(t *testing.T) {
	const sigma = 1.3
	for _, c := range []struct {
		name  string
		upper uint64
		want  bool
	}{{"tail", one, true}, {"mutant: no tail", 0, false}} {
		g := newStrips(sigma, 3)
		for i := range g.cells {
			if g.cells[i].start == g.tail {
				g.cells[i].upper = c.upper
			}
		}
		src := testSource(t.Name())
		p := fit(sigma, 1000000, func() int64 { return g.sample(src) })
		if (p >= falseAlarm) != c.want {
			t.Errorf("%s: p = %g", c.name, p)
		}
	}
}

// TestGeometric compares with 2^-(k+1), and plays words that are all zero.
func TestGeometric(t *testing.T) {
	src := testSource(t.Name())
	counts, probs := make([]int, 16), make([]float64, 16)
	for k := range probs {
		probs[k] = math.Ldexp(1, -min(k+1, 15))
	}
	for range 300000 {
		counts[min(15, geometric(src))]++
	}
	if p := chiSquare(counts, probs); p < falseAlarm {
		t.Errorf("p = %g", p)
	}
	if k := geometric(&script{0, 0, 8}); k != 131 {
		t.Errorf("131 zero bits and a one give %d", k)
	}
	zeros := make(script, maxTail/64)
	if k := geometric(&zeros); k != maxTail {
		t.Errorf("only zero bits give %d, want %d", k, maxTail)
	}
	zeros = make(script, maxTail/64)
	if x, below := discreteGaussian(t, 1).inTail(&zeros, 0); below {
		t.Errorf("the tail accepts %d in a strip that it does not have", x)
	}
}

// TestTailStripsFollowEachOther: the k-th strip of the tail ends k + 1 widths beyond
// the others, whatever the width.
func TestTailStripsFollowEachOther(t *testing.T) {
	for _, sigma := range []float64{1.3, 60, 1000, 1 << 30} {
		g := newStrips(sigma, 3)
		for k := range uint64(20) {
			play := make(script, 64)
			play[0], play[1] = 1<<k, ^uint64(0) // its last integer
			if x, _ := g.inTail(&play, 0); x != g.tail+(k+1)*g.width-1 {
				t.Errorf("σ = %v: strip %d of width %d ends at %d, the strips before the tail at %d", sigma, k, g.width, x, g.tail)
			}
		}
	}
}

func exponent(sigma float64, x uint64) *big.Rat {
	ratio := new(big.Rat).SetFloat64(sigma)
	ratio.Quo(new(big.Rat).SetInt(new(big.Int).SetUint64(x)), ratio)
	return ratio.Mul(ratio, ratio).Mul(ratio, big.NewRat(1, 2))
}

// TestLowestPointsAreDecided: where f is below the first 56 bits of a height, a height of
// zero is neither accepted nor refused before further bits are seen.
func TestLowestPointsAreDecided(t *testing.T) {
	g := discreteGaussian(t, 1000)
	tried := 0
	for i := range g.cells {
		c := &g.cells[i]
		if c.base != 0 || c.lower != 0 || c.upper == 0 || c.start >= g.tail {
			continue
		}
		tried++
		last := ^uint64(0) // of the strip
		x, below := g.inCell(&script{last, 0}, c, 0)
		if want := c.start + g.width - 1; x != want || !below {
			t.Errorf("strip from %d: a point at 0 is below f at %d: %v", c.start, x, below)
		}
		if g.density(x) > 0 {
			continue // f may be above all of the first bits
		}
		if _, below := g.inCell(&script{last, last}, c, 0); below {
			t.Errorf("strip from %d: a point just under 2⁻⁵⁶ is taken to be below f", c.start)
		}
	}
	if tried == 0 {
		t.Error("no strip has so low an f")
	}
}

// TestDecideIsExact plays words that agree with the digits of f(x)·2^drop to 56,
// 120 or 184 places and differ after that.
func TestDecideIsExact(t *testing.T) {
	for _, c := range []struct {
		sigma float64
		x     uint64
		drop  uint
	}{{1, 1, 0}, {1, 3, 2}, {12345.678, 20000, 0}, {maxSigma, 3 << 40, 3}, {1.3, 14, 66}, {2, 100, 1803}} {
		g := discreteGaussian(t, c.sigma)
		digits := expNeg(exponent(c.sigma, c.x), 56+256+c.drop)
		word := func(place uint) uint64 {
			return new(big.Int).Rsh(digits, 256-64*place).Uint64()
		}
		height := new(big.Int).Rsh(digits, 256).Uint64()
		for places := uint(1); places <= 3; places++ {
			for _, nudge := range []int64{-10, 10} {
				play := script{}
				for i := uint(1); i < places; i++ {
					play = append(play, word(i))
				}
				// The word after the nudged one settles a draw that is still in doubt.
				play = append(play, word(places)+uint64(nudge), 0)
				if got := g.decide(&play, height, c.drop, c.x); got != (nudge < 0) {
					t.Errorf("σ = %v, x = %d: a height %+d units of 2^-%d from f(x) is below: %v", c.sigma, c.x, nudge,
						56+64*places, got)
				}
			}
		}
	}
}

// TestBelowIsExact: what the first 56 bits of a height are said to settle is so, on either
// side of f(x), up to a unit of those bits.
func TestBelowIsExact(t *testing.T) {
	for _, sigma := range []float64{1, 2.7, 12345.678, 1 << 30, maxSigma} {
		g := discreteGaussian(t, sigma)
		for _, of := range []float64{0.1, 0.7, 1.5, 3} {
			x := uint64(of * sigma)
			whole := expNeg(exponent(sigma, x), 56).Int64()
			for off := -int64(g.slack) - 3; off <= int64(g.slack)+3; off++ {
				height := whole + off
				if off == 0 || height < 0 || height >= 1<<56 {
					continue
				}
				play := script{1 << 63, 0, 0, 0}
				if got := g.below(&play, uint64(height), x); got != (off < 0) {
					t.Errorf("σ = %v, x = %d: a height %+d units from f(x) is below: %v", sigma, x, off, got)
				}
			}
		}
	}
}

// scales are the σ of the tests that need no draws.
func scales(src words, n int) []float64 {
	list := []float64{1, math.Nextafter(1, 2), 1.5, 1.7, 3.3, 6.5, 9.5, math.Nextafter(9.5, 10), 19, 19.1, 12345.678,
		1 << 20, maxSigma}
	for range n {
		list = append(list, math.Exp2(40*float64(src.Uint64()>>11)*0x1p-53))
	}
	return list
}

// TestDensityWithinSlack holds density to the 5 units that the proof gives it; the
// slack is larger.
func TestDensityWithinSlack(t *testing.T) {
	src, worst := testSource(t.Name()), 0.0
	for _, sigma := range scales(src, 100) {
		g := discreteGaussian(t, sigma)
		for range 30 {
			x := uint64n(src, g.tail)
			got := new(big.Int).SetUint64(g.density(x))
			worst = max(worst, distance(got, scaledExpNeg(exponent(sigma, x), 56)))
			if worst > 5 {
				t.Fatalf("σ = %v: density(%d) is off by %v units", sigma, x, worst)
			}
		}
	}
	t.Logf("largest error %.2f units of 2^-56, allowed %d", worst, slack)
}

// TestCellsCoverTheDensity checks what the proof assumes of the table.
func TestCellsCoverTheDensity(t *testing.T) {
	for _, sigma := range scales(testSource(t.Name()), 20) {
		g := discreteGaussian(t, sigma)
		f := func(x uint64) *big.Int { return expNeg(exponent(sigma, x), 56) } // within 2
		top := make(map[uint64]uint64)
		tails := 0
		for _, c := range g.cells {
			switch {
			case c.upper == 0:
				continue
			case c.start == g.tail:
				tails++
				continue
			case c.base != top[c.start]:
				t.Fatalf("σ = %v: a cell of strip %d starts at %#x, want %#x", sigma, c.start, c.base, top[c.start])
			case f(c.start).Uint64()+2 > c.upper && c.upper != one:
				t.Fatalf("σ = %v: the upper bound of strip %d is below f", sigma, c.start)
			case f(c.start+g.width-1).Uint64() < c.lower+2 && c.lower != 0:
				t.Fatalf("σ = %v: the lower bound of strip %d is above f", sigma, c.start)
			}
			top[c.start] += one / levels
		}
		for start, height := range top {
			if height < f(start).Uint64() || start%g.width != 0 {
				t.Fatalf("σ = %v: strip %d is covered up to %#x only", sigma, start, height)
			}
		}
		if n := len(g.cells); tails != 1 || uint64(len(top)) != g.tail/g.width || n > 512 || n&(n-1) != 0 {
			t.Fatalf("σ = %v: %d strips of %d, %d cells, %d tails", sigma, len(top), g.tail/g.width, n, tails)
		}
		if float64(g.tail) < 10*sigma || float64(g.width)*maxTail < 5000*sigma {
			t.Fatalf("σ = %v: strips end at %d, the tail at %d strips of %d", sigma, g.tail, maxTail, g.width)
		}
		for k := range uint64(140) { // f(x)·2^(k+1) ≤ 2^-56 in the tail
			if f := expNeg(exponent(sigma, g.tail+k*g.width), 200); f.BitLen() > 200-56-1-int(k) {
				t.Fatalf("σ = %v: strip %d of the tail rises above its cell", sigma, k)
			}
		}
	}
}

// TestOneWordIsOnePoint: 12 bits name a cell, one is the sign, and the others are a height in
// the cell, of which none is the sign too.
func TestOneWordIsOnePoint(t *testing.T) {
	if one/levels != 1<<51 || one%levels != 0 {
		t.Errorf("a cell is %d high, and a word gives 51 bits", one/levels)
	}
	g := discreteGaussian(t, 1<<20)
	cell := slices.IndexFunc(g.cells, func(c cell) bool { return c.start > 0 && c.base == 0 && c.lower > 4 })
	for _, height := range []uint64{0, 1, 2, 3} {
		for negative, sign := range []int64{1, -1} {
			words := script{uint64(cell) | uint64(negative)<<12 | height<<13, 1 << 63}
			if got, want := g.sample(&words), sign*int64(g.cells[cell].start+g.width/2); got != want {
				t.Errorf("height %d, sign %d: %d, want %d", height, sign, got, want)
			}
		}
	}
}

// TestDiscreteGaussianMoments takes 10^6 draws of large σ and compares mean and
// variance at 5.8 standard deviations (chance 7e-9). A σ off by 1% is rejected.
func TestDiscreteGaussianMoments(t *testing.T) {
	const n = 1000000
	moments := func(g *DiscreteGaussian, sigma float64) bool {
		src := testSource(t.Name())
		sum, squares := 0.0, 0.0
		for range n {
			z := float64(g.Sample(src)) / sigma
			sum += z
			squares += z * z
		}
		return math.Abs(sum/n) < 5.8/math.Sqrt(n) && math.Abs(squares/n-1) < 5.8*math.Sqrt(2./n)
	}
	for _, sigma := range []float64{1 << 10, 12345.678, 1 << 20, maxSigma} {
		if !moments(discreteGaussian(t, sigma), sigma) {
			t.Errorf("σ = %v: wrong mean or variance", sigma)
		}
		if moments(discreteGaussian(t, sigma), sigma*1.01) {
			t.Errorf("σ = %v passes for one 1%% larger", sigma)
		}
	}
}

// TestDiscreteGaussianLowBits tells an exact sampler from a scaled coarser one:
// at large σ the remainders modulo 16 are uniform to within e^(−2π²σ²/256).
func TestDiscreteGaussianLowBits(t *testing.T) {
	src, counts, probs := testSource(t.Name()), make([]int, 16), make([]float64, 16)
	for i := range probs {
		probs[i] = 1. / 16
	}
	for _, sigma := range []float64{30, 1 << 20, maxSigma} {
		g := discreteGaussian(t, sigma)
		clear(counts)
		for range 500000 {
			counts[g.Sample(src)&15]++
		}
		if p := chiSquare(counts, probs); p < falseAlarm {
			t.Errorf("σ = %v: p = %g", sigma, p)
		}
	}
}

// TestAgreesWithGoogle compares 20 000 draws of the binomial-based sampler of
// github.com/google/differential-privacy at the same σ with 10^6 of ours. σ
// 15% too large is the mutant.
func TestAgreesWithGoogle(t *testing.T) {
	const sigma = 1 << 20
	// AddNoiseFloat64 with sensitivity s adds noise of s·SigmaForGaussian(1, 1, 1, 1e-5).
	k := google.SigmaForGaussian(1, 1, 1, 1e-5)
	theirs := make([]float64, 20000)
	for i := range theirs {
		x, err := google.Gaussian().AddNoiseFloat64(0, 1, sigma/k, 1, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		theirs[i] = x
	}
	src, ours := testSource(t.Name()), make([]float64, 1000000)
	for _, c := range []struct {
		sigma float64
		want  bool
	}{{sigma, true}, {sigma * 1.15, false}} {
		g := discreteGaussian(t, c.sigma)
		for i := range ours {
			ours[i] = float64(g.Sample(src))
		}
		d := ksDistance(ours, theirs)
		if ksNull(d, float64(len(ours)), float64(len(theirs))) != c.want {
			t.Errorf("σ = %v: Kolmogorov-Smirnov distance %v", c.sigma, d)
		}
	}
}

func TestNewDiscreteGaussianRefuses(t *testing.T) {
	for _, sigma := range []float64{0, 0.5, math.Nextafter(1, 0), -1, math.NaN(), math.Inf(1), math.Inf(-1),
		math.Nextafter(maxSigma, math.Inf(1))} {
		if g, err := NewDiscreteGaussian(sigma); err == nil || g != nil {
			t.Errorf("σ = %v was accepted", sigma)
		}
	}
	if g := discreteGaussian(t, 12345.678); g.Sigma() != 12345.678 {
		t.Errorf("Sigma() = %v", g.Sigma())
	}
}

// TestStandardNormalLaw compares 10^6 draws with Φ; a σ 1% off is the mutant.
func TestStandardNormalLaw(t *testing.T) {
	const cells = 64
	src, normal := testSource(t.Name()), distuv.UnitNormal
	uniform := make([]float64, cells)
	for i := range uniform {
		uniform[i] = 1. / cells
	}
	fits := func(scale float64) float64 {
		counts := make([]int, cells)
		for range 2000000 {
			counts[min(cells-1, int(cells*normal.CDF(scale*StandardNormal(src))))]++
		}
		return chiSquare(counts, uniform)
	}
	if p := fits(1); p < falseAlarm {
		t.Errorf("p = %g", p)
	}
	if p := fits(1.01); p >= falseAlarm {
		t.Errorf("1%% off is not rejected: p = %g", p)
	}
}

// TestStandardNormalIsExactOnItsGrid: the draws are those of N_Z(0, 2^80), from any generator.
func TestStandardNormalIsExactOnItsGrid(t *testing.T) {
	g := discreteGaussian(t, maxSigma)
	a, b := mathrand.NewPCG(1, 2), mathrand.NewPCG(1, 2)
	for range 10000 {
		z, x := StandardNormal(a), g.sample(b)
		if exact := math.Ldexp(z, 40); exact != float64(x) || int64(exact) != x {
			t.Fatalf("StandardNormal is %v, the integer %d", z, x)
		}
	}
}

func ExampleDiscreteGaussian() {
	g, err := NewDiscreteGaussian(1000) // grid steps
	if err != nil {
		panic(err)
	}
	src := NewInsecure([32]byte{1}) // NewSource outside tests
	sum := int64(123456)            // an integer sum on the grid
	fmt.Println(sum + g.Sample(src))
	// Output: 122527
}
