package data

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// numbered returns a table whose record i is (i, −i), with response 10·i.
func numbered(n int) *Table {
	t := &Table{Source: "numbered", Shape: Shape{Records: n, Terms: make([]Term, 2), Radius: 1, RowsPerPerson: 1}}
	for i := range n {
		t.X = append(t.X, float64(i), -float64(i))
		t.Y = append(t.Y, 10*float64(i))
	}
	return t
}

func TestSplitIsAPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 50).Draw(t, "n")
		// 1/n may be rounded down, to less than one record.
		fraction := rapid.Float64Range(math.Nextafter(1/float64(n), 1), 1-1e-9).Draw(t, "fraction")
		seed := rapid.Uint64().Draw(t, "seed")
		table := numbered(n)
		first, second, err := Split(table, fraction, rand.New(rand.NewPCG(seed, 0)))
		if err != nil {
			t.Fatal(err)
		}
		if first.Records != int(math.Floor(fraction*float64(n))) || first.Records+second.Records != n ||
			first.Source != "numbered" {
			t.Fatalf("%d and %d of %d records at fraction %v", first.Records, second.Records, n, fraction)
		}
		var ids []float64
		for _, part := range []*Table{first, second} {
			if len(part.X) != part.Records*part.Features() || len(part.Y) != part.Records {
				t.Fatalf("%+v", part)
			}
			for i := range part.Records {
				row := part.Row(i)
				if row[1] != -row[0] || part.Y[i] != 10*row[0] {
					t.Fatalf("record %d is torn: %v, %v", i, row, part.Y[i])
				}
				ids = append(ids, row[0])
			}
			clear(part.X) // a copy: the table stays as it is
		}
		slices.Sort(ids)
		for i, id := range ids {
			if id != float64(i) || table.X[2*i] != id {
				t.Fatalf("records %v", ids)
			}
		}
	})
}

// Every record is as likely as any other to be in the first part: over 4000 splits
// each count is binomial with mean 1000 and standard deviation 27.4. The seed is
// fixed; a fresh one would fail with probability below 20·2e-9.
func TestSplitIsUniform(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	counts := make([]int, 20)
	for range 4000 {
		first, _, err := Split(numbered(20), 0.25, rng)
		if err != nil {
			t.Fatal(err)
		}
		for i := range first.Records {
			counts[int(first.Row(i)[0])]++
		}
	}
	for i, c := range counts {
		if math.Abs(float64(c)-1000) > 6*27.4 {
			t.Errorf("record %d was in the first part %d times of 4000, want about 1000", i, c)
		}
	}
}

func TestSplitRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, fraction := range []float64{0, 1, -0.5, 2, math.NaN(), 0.05} {
		if _, _, err := Split(numbered(10), fraction, rng); err == nil ||
			!strings.HasPrefix(err.Error(), "data: split fraction") {
			t.Errorf("fraction %v: %v", fraction, err)
		}
	}
	unlabelled := numbered(10)
	unlabelled.Y = nil
	if first, second, err := Split(unlabelled, 0.5, rng); err != nil || first.Y != nil || second.Y != nil {
		t.Errorf("without responses: %v, %v, %v", first, second, err)
	}
	defer func() {
		if r := recover(); r != "data: Split needs a generator, not nil" {
			t.Errorf("panic %v", r)
		}
	}()
	_, _, _ = Split(numbered(10), 0.5, nil)
}
