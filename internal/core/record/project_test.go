package record_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// tooLong says in which senses a row is longer than radius: exactly, and by several
// ways to compute a norm.
func tooLong(row []float64, radius float64) (senses []string) {
	exact := new(big.Float).SetPrec(2000)
	var forward, backward, fused float64
	for i, v := range row {
		w := row[len(row)-1-i]
		exact.Add(exact, new(big.Float).SetPrec(2000).Mul(big.NewFloat(v), big.NewFloat(v)))
		forward += float64(v * v)
		backward += float64(w * w)
		fused = math.FMA(v, v, fused)
	}
	r := big.NewFloat(radius)
	if exact.Cmp(new(big.Float).SetPrec(2000).Mul(r, r)) > 0 {
		senses = append(senses, "exactly")
	}
	for name, sum := range map[string]float64{"forward": forward, "backward": backward, "fused": fused} {
		if math.Sqrt(sum) > radius {
			senses = append(senses, name)
		}
	}
	return senses
}

func TestProject(t *testing.T) {
	size := rapid.Custom(func(t *rapid.T) float64 {
		return math.Pow(10, rapid.Float64Range(-99, 99).Draw(t, "exponent"))
	})
	entry := rapid.OneOf(rapid.Float64Range(-1, 1), rapid.Float64Range(-1e100, 1e100),
		rapid.SampledFrom([]float64{0, 1, -1, 5e-324, 1e-160, 1e100}))
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.SliceOfN(entry, 1, 40).Draw(t, "row")
		radius := rapid.OneOf(rapid.Just(1.0), rapid.Float64Range(0.1, 10), size).Draw(t, "radius")
		if rapid.Bool().Draw(t, "touching") {
			radius = min(max(record.Norm(row), 1e-100), 1e100)
		}
		before := slices.Clone(row)
		record.Project(row, radius)
		if how := tooLong(row, radius); how != nil {
			t.Fatalf("norm of %v is above %v %s", row, radius, how)
		}
		length := record.Norm(before)
		if length < radius*(1-1e-14) && !slices.Equal(row, before) {
			t.Fatalf("%v of norm %v changed to %v under radius %v", before, length, row, radius)
		}
		for i, v := range row {
			if want := before[i] * min(1, radius/length); math.Abs(v-want) > 1e-13*math.Abs(want)+1e-300 {
				t.Fatalf("entry %d: %v, want about %v", i, v, want)
			}
		}
		twice := slices.Clone(row)
		if record.Project(twice, radius); !slices.Equal(twice, row) {
			t.Fatalf("projection changed a projected row %v to %v", row, twice)
		}
	})
}

// The check must see what it is there for: the textbook projection, without a
// margin, leaves some rows outside in every sense.
func TestTooLongRejectsTheNaiveProjection(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	seen := make(map[string]bool)
	for range 20_000 {
		row := make([]float64, 1+rng.IntN(10))
		for i := range row {
			row[i] = rng.NormFloat64()
		}
		norm := record.Norm(row)
		for i := range row {
			row[i] *= 1 / norm
		}
		for _, how := range tooLong(row, 1) {
			seen[how] = true
		}
		if how := tooLong(slices.Repeat([]float64{0.5}, 4), 1); how != nil {
			t.Fatalf("a row of norm 1 is too long %s", how)
		}
	}
	for _, how := range []string{"exactly", "forward", "backward", "fused"} {
		if !seen[how] {
			t.Errorf("no naive projection was found too long %s", how)
		}
	}
}

func BenchmarkProject(b *testing.B) {
	b.ReportAllocs()
	row, source := make([]float64, 11), []float64{1, -1, 0.5, 1, 1, 0, 0, 0, 2, 1, 1}
	for b.Loop() {
		copy(row, source)
		record.Project(row, 1)
	}
}
