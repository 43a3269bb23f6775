package batch

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/internal/core/noise"
)

func subset(t testing.TB, n int) *Subset {
	t.Helper()
	s, err := NewSubset(n)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSubsetIsASubset: different elements in range, and a clean slate after it,
// for every size.
func TestSubsetIsASubset(t *testing.T) {
	src := testSource(t.Name())
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		m := rapid.IntRange(0, n).Draw(t, "m")
		s, err := NewSubset(n)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			dst := make([]int32, m)
			s.Sample(src, dst)
			slices.Sort(dst)
			if len(slices.Compact(slices.Clone(dst))) != m || m > 0 && (dst[0] < 0 || int(dst[m-1]) >= n) {
				t.Fatalf("%v is no subset of %d of %d elements", dst, m, n)
			}
			for _, word := range s.marked {
				if word != 0 {
					t.Fatalf("marks are left after a draw of %d of %d", m, n)
				}
			}
		}
	})
}

// allSubsets returns the p-value of the subsets drawn, against equal probabilities.
func allSubsets(n, m int, draw func([]int32)) float64 {
	var masks []int
	for mask := range 1 << n {
		ones := 0
		for i := range n {
			ones += mask >> i & 1
		}
		if ones == m {
			masks = append(masks, mask)
		}
	}
	counts, probs := make([]int, len(masks)), make([]float64, len(masks))
	for i := range probs {
		probs[i] = 1 / float64(len(masks))
	}
	dst := make([]int32, m)
	for range 200000 {
		draw(dst)
		mask := 0
		for _, i := range dst {
			mask |= 1 << i
		}
		at, _ := slices.BinarySearch(masks, mask)
		counts[at]++
	}
	return chiSquare(counts, probs)
}

// TestSubsetIsUniform counts each subset of a few elements. The mutants take
// 6-bit words modulo n, and shuffle with swaps over the whole range.
func TestSubsetIsUniform(t *testing.T) {
	src := testSource(t.Name())
	for _, c := range []struct{ n, m int }{{6, 3}, {7, 2}, {7, 5}, {5, 1}, {6, 5}} {
		s := subset(t, c.n)
		if p := allSubsets(c.n, c.m, func(dst []int32) { s.Sample(src, dst) }); p < falseAlarm {
			t.Errorf("%d of %d: p = %g", c.m, c.n, p)
		}
	}
	modulo := func(dst []int32) {
		for k := 0; k < len(dst); {
			if dst[k] = int32(src.Uint64() >> 58 % 6); !slices.Contains(dst[:k], dst[k]) {
				k++
			}
		}
	}
	if p := allSubsets(6, 3, modulo); p >= falseAlarm {
		t.Errorf("indices modulo n are not rejected: p = %g", p)
	}
	shuffle := func(dst []int32) {
		all := []int32{0, 1, 2, 3, 4, 5}
		for i := range all {
			j := noise.Uint64n(src, 6)
			all[i], all[j] = all[j], all[i]
		}
		copy(dst, all)
	}
	if p := allSubsets(6, 3, shuffle); p >= falseAlarm {
		t.Errorf("the biased shuffle is not rejected: p = %g", p)
	}
}

// TestHalfWordsAreUniform: two half words, and no other, make each of 3·2²⁹ integers, of
// which a third would otherwise have three.
func TestHalfWordsAreUniform(t *testing.T) {
	const n = 3 << 29
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Uint32Range(0, n-1).Draw(t, "integer")
		first, count := uint64(want)<<32/n, 0
		for half := max(first, 1) - 1; half < min(first+6, 1<<32); half++ {
			if i, ok := below(uint32(half), n); ok && i == want {
				count++
			}
		}
		if count != 2 {
			t.Fatalf("%d half words make %d", count, want)
		}
	})
}

// TestSubsetFrequency: an element is in a subset of m of n with probability m/n,
// on both sides of n/2.
func TestSubsetFrequency(t *testing.T) {
	const n, draws = 1000, 20000
	src, s := testSource(t.Name()), subset(t, n)
	for _, m := range []int{100, 900} {
		counts, dst := make([]int, n), make([]int32, m)
		for range draws {
			s.Sample(src, dst)
			for _, i := range dst {
				counts[i]++
			}
		}
		p := float64(m) / n
		sd := math.Sqrt(draws * p * (1 - p))
		for i, c := range counts {
			// 7 standard deviations: chance 2.6e-12 each, 2.6e-9 for all of them.
			if math.Abs(float64(c)-draws*p) > 7*sd {
				t.Errorf("element %d is in %d of %d subsets of %d", i, c, draws, m)
			}
		}
	}
}

func TestSubsetRefuses(t *testing.T) {
	for _, n := range []int{-1, math.MaxInt32 + 1} {
		if s, err := NewSubset(n); err == nil || s != nil {
			t.Errorf("%d elements were accepted", n)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("4 of 3 elements were drawn")
		}
	}()
	subset(t, 3).Sample(testSource(t.Name()), make([]int32, 4))
}

func TestDrawsDoNotAllocate(t *testing.T) {
	src, s, few, many := testSource(t.Name()), subset(t, 1000), make([]int32, 100), make([]int32, 900)
	size := binomial(t, 1000, 0.1)
	for name, draw := range map[string]func(){
		"Binomial":     func() { size.Sample(src) },
		"Subset, few":  func() { s.Sample(src, few) },
		"Subset, many": func() { s.Sample(src, many) },
	} {
		if n := testing.AllocsPerRun(1000, draw); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func ExampleSubset() {
	size, err := NewBinomial(1000, 0.005)
	if err != nil {
		panic(err)
	}
	records, err := NewSubset(1000)
	if err != nil {
		panic(err)
	}
	src := noise.NewInsecure([32]byte{1}) // NewSource outside tests
	batch := make([]int32, size.Sample(src))
	records.Sample(src, batch)
	fmt.Println(batch) // each record with probability 0.005
	// Output: [758 539 186 835]
}
