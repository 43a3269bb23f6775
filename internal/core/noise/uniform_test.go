package noise

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

// TestUint64nIsUnbiased uses n = 3·2^62, for which a remainder modulo n falls
// below 2^62 with probability 1/2 instead of 1/3, and so does a product without
// rejection for its even thirds.
func TestUint64nIsUnbiased(t *testing.T) {
	const n = 3 << 62
	src := testSource(t.Name())
	pValue := func(draw func() uint64, n uint64, cells int, cell func(uint64) uint64) float64 {
		counts, probs := make([]int, cells), make([]float64, cells)
		for i := range probs {
			probs[i] = 1 / float64(cells)
		}
		for range 100000 {
			x := draw()
			if x >= n {
				t.Fatalf("%d was drawn below %d", x, n)
			}
			counts[cell(x)]++
		}
		return chiSquare(counts, probs)
	}
	third := func(x uint64) uint64 { return x >> 62 }
	residue := func(x uint64) uint64 { return x % 3 }
	value := func(x uint64) uint64 { return x }
	for name, p := range map[string]float64{
		"thirds of 3·2^62":   pValue(func() uint64 { return Uint64n(src, n) }, n, 3, third),
		"residues of 3·2^62": pValue(func() uint64 { return Uint64n(src, n) }, n, 3, residue),
		"values below 7":     pValue(func() uint64 { return Uint64n(src, 7) }, 7, 7, value),
		"values below 64":    pValue(func() uint64 { return Uint64n(src, 64) }, 64, 64, value),
	} {
		if p < falseAlarm {
			t.Errorf("%s: p = %g", name, p)
		}
	}
	if p := pValue(func() uint64 { return src.Uint64() % n }, n, 3, third); p >= falseAlarm {
		t.Errorf("the biased remainder is not rejected: p = %g", p)
	}
	unrejected := func() uint64 {
		hi, _ := bits.Mul64(src.Uint64(), n)
		return hi
	}
	if p := pValue(unrejected, n, 3, residue); p >= falseAlarm {
		t.Errorf("the product without rejection is not rejected: p = %g", p)
	}
}

// TestUint64nCounts checks the law on the nose: of the words of each value x
// exactly ⌊2^64/n⌋ are accepted. They are neighbours: from ⌈(x·2^64+s)/n⌉ on,
// with s = 2^64 mod n.
func TestUint64nCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, math.MaxUint64).Draw(t, "n")
		x := rapid.Uint64Range(0, n-1).Draw(t, "x")
		two64 := new(big.Int).Lsh(big.NewInt(1), 64)
		bound := new(big.Int).SetUint64(n)
		surplus, count := new(big.Int), new(big.Int)
		count.QuoRem(two64, bound, surplus)
		first := new(big.Int).Mul(two64, new(big.Int).SetUint64(x))
		first.Add(first, surplus).Add(first, bound).Sub(first, big.NewInt(1)).Quo(first, bound)
		last := new(big.Int).Add(first, count)
		last.Sub(last, big.NewInt(1))
		for _, word := range []*big.Int{first, last} {
			if got := uint64n(&script{word.Uint64()}, n); got != x {
				t.Fatalf("word %v gives %d, want %d", word, got, x)
			}
		}
		before := first.Sub(first, big.NewInt(1))
		after := last.Add(last, big.NewInt(1))
		for _, word := range []*big.Int{before, after} {
			if word.Sign() < 0 || word.Cmp(two64) == 0 {
				continue
			}
			// Either it belongs to a neighbour or it is redrawn: as the word 2^64−1, n−1.
			if got := uint64n(&script{word.Uint64(), math.MaxUint64}, n); got == x && x != n-1 {
				t.Fatalf("word %v gives %d as well", word, x)
			}
		}
	})
}

// belowExactly decides U < p for the U whose binary digits are the words.
func belowExactly(digits []uint64, p float64) bool {
	u := new(big.Int)
	for _, word := range digits {
		u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(word))
	}
	scale := new(big.Int).Lsh(big.NewInt(1), uint(64*len(digits)))
	return new(big.Rat).SetFrac(u, scale).Cmp(new(big.Rat).SetFloat64(p)) < 0
}

// oneWord is the usual Bernoulli draw: wrong by up to 2^-64 below 2^-11.
func oneWord(src words, p float64) bool { return src.Uint64() < uint64(p*0x1p64) }

// TestBernoulliIsExact compares with rational arithmetic for words that start
// like the digits of p and for others. The one-word draw is the mutant.
func TestBernoulliIsExact(t *testing.T) {
	mutantCaught := false
	for look := 0; look < 50 && !mutantCaught; look++ { // again only where chance showed none
		rapid.Check(t, func(t *rapid.T) {
			p := rapid.OneOf(
				rapid.Float64Range(0, 1),
				rapid.SampledFrom([]float64{0, 5e-324, 0x1p-1022, 0x1.8p-70, 1e-300, 0x1p-64, 0x1.fffffffffffffp-12, 0.3, 0.5,
					0x1.fffffffffffffp-1, 1}),
			).Draw(t, "p")
			scale := new(big.Rat).SetFrac(new(big.Int).Lsh(big.NewInt(1), 18*64), big.NewInt(1))
			exact := scale.Mul(scale, new(big.Rat).SetFloat64(p)).Num()
			exact.Add(exact, big.NewInt(rapid.Int64Range(-1, 1).Draw(t, "nudge")))
			all := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 18*64), big.NewInt(1))
			if exact.Sign() < 0 {
				exact.SetInt64(0)
			} else if exact.Cmp(all) > 0 {
				exact.Set(all)
			}
			bytes := exact.FillBytes(make([]byte, 18*8))
			digits := make(script, 18)
			for i, b := range bytes {
				digits[i/8] = digits[i/8]<<8 | uint64(b)
			}
			if rapid.Bool().Draw(t, "change a word") {
				digits[rapid.IntRange(0, 17).Draw(t, "which")] = rapid.Uint64().Draw(t, "word")
			}
			play := append(script(nil), digits...)
			if got, want := bernoulli(&play, p), belowExactly(digits, p); got != want {
				t.Fatalf("%#x < %g is %v, want %v", []uint64(digits), p, got, want)
			}
			play = append(script(nil), digits...)
			mutantCaught = mutantCaught || oneWord(&play, min(p, 0.75)) != belowExactly(digits, min(p, 0.75))
		})
	}
	if !mutantCaught {
		t.Error("the one-word draw passes for exact")
	}
}

func TestBernoulliNeedsOneWord(t *testing.T) {
	for _, p := range []float64{0, 1e-300, 0.3, 0.5, 1} {
		play := script{0x123456789abcdef0} // panics if a second word is asked for
		if got, want := bernoulli(&play, p), p > 0.0712; got != want {
			t.Errorf("Bernoulli(%g) is %v, want %v", p, got, want)
		}
	}
}

func TestBernoulliRefuses(t *testing.T) {
	for _, p := range []float64{math.NaN(), -1e-300, 1.0000000000000002, math.Inf(1), math.Inf(-1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a probability of %v was accepted", p)
				}
			}()
			Bernoulli(testSource(t.Name()), p)
		}()
	}
}

func TestUint64nOfZeroPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an integer below 0 was drawn")
		}
	}()
	Uint64n(testSource(t.Name()), 0)
}

// TestBitFrequency draws 10^6 bits with each of two tails on either side. A bit
// that ignores the side, and one 1% off, are the mutants.
func TestBitFrequency(t *testing.T) {
	src := testSource(t.Name())
	pValue := func(p float64, draw func() bool) float64 {
		counts := make([]int, 2)
		for range 1000000 {
			if draw() {
				counts[1]++
			} else {
				counts[0]++
			}
		}
		return chiSquare(counts, []float64{1 - p, p})
	}
	for _, tail := range []float64{0.001, 0.3} {
		lower, upper := func() bool { return Bit(src, tail, false) }, func() bool { return Bit(src, tail, true) }
		if p := pValue(tail, lower); p < falseAlarm {
			t.Errorf("Bit(%g, lower): p = %g", tail, p)
		}
		if p := pValue(1-tail, upper); p < falseAlarm {
			t.Errorf("Bit(%g, upper): p = %g", tail, p)
		}
		if p := pValue(1-tail, lower); p >= falseAlarm {
			t.Errorf("Bit(%g) on the wrong side is not rejected: p = %g", tail, p)
		}
	}
	if p := pValue(0.3, func() bool { return Bernoulli(src, 0.303) }); p >= falseAlarm {
		t.Errorf("a bit 1%% off is not rejected: p = %g", p)
	}
}

// logisticError returns the relative error of Logistic's tail at u.
func logisticError(u float64) float64 {
	tail, _ := Logistic(u)
	e := bigExp(new(big.Rat).SetFloat64(math.Abs(u)), 96)
	exact := new(big.Float).SetPrec(160).Add(e, big.NewFloat(1))
	// tail·(1+e^|u|) − 1
	exact.Mul(exact, new(big.Float).SetFloat64(tail))
	relative, _ := exact.Sub(exact, big.NewFloat(1)).Float64()
	return math.Abs(relative)
}

func TestLogisticAccuracy(t *testing.T) {
	worst, at := 0.0, 0.0
	check := func(u float64) {
		if e := logisticError(u); e > worst {
			worst, at = e, u
		}
		if _, upper := Logistic(u); upper != (u >= 0) {
			t.Fatalf("Logistic(%v) is on the wrong side", u)
		}
	}
	for u := -8.0; u <= 8; u += 0x1p-7 {
		check(u)
	}
	for u := -700.0; u <= 700; u++ {
		check(u)
	}
	src := testSource(t.Name())
	for range 2000 {
		check(1400*float64(src.Uint64()>>11)*0x1p-53 - 700)
	}
	for _, u := range []float64{0, 5e-324, -5e-324, 1e-17, -1e-17, 700, -700} {
		check(u)
	}
	if worst > 0x1p-50 {
		t.Errorf("relative error %g = 2^%.2f at u = %v, claimed 2^-50", worst, math.Log2(worst), at)
	}
	t.Logf("largest relative error 2^%.2f at u = %v", math.Log2(worst), at)
}

func TestLogisticExtremes(t *testing.T) {
	for _, c := range []struct {
		u, tail float64
		upper   bool
	}{{0, 0.5, true}, {math.Inf(1), 0, true}, {math.Inf(-1), 0, false}, {800, 0, true}} {
		if tail, upper := Logistic(c.u); tail != c.tail || upper != c.upper {
			t.Errorf("Logistic(%v) = %v, %v", c.u, tail, upper)
		}
	}
	if tail, _ := Logistic(math.NaN()); !math.IsNaN(tail) {
		t.Error("Logistic(NaN) is a number")
	}
}

func ExampleBit() {
	src := NewInsecure([32]byte{1}) // NewSource outside tests
	accepted := 0
	for range 1_000_000 {
		tail, upper := Logistic(2) // σ(2) = 0.8808
		if Bit(src, tail, upper) {
			accepted++
		}
	}
	fmt.Println(accepted)
	// Output: 881150
}
