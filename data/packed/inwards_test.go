package packed

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestInwardsIsTheNextTowardsZero: of all float32, the largest that is no larger, for
// numbers of every size down to those that vanish.
func TestInwardsIsTheNextTowardsZero(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	check := func(v float64) {
		got := inwards(v)
		size := math.Abs(v)
		if f := float64(got); math.Abs(f) > size || math.Signbit(f) != math.Signbit(v) ||
			float64(math.Nextafter32(float32(math.Abs(f)), math.MaxFloat32)) <= size {
			t.Fatalf("inwards(%v) = %v", v, got)
		}
	}
	for _, v := range []float64{0, math.Copysign(0, -1), 1, 0x1p-126, 0x1p-149, 0x1p-150, math.Nextafter(0x1p-126, 0),
		math.Nextafter(1, 0), math.Nextafter(1, 2), 1e30} {
		check(v)
		check(-v)
	}
	for range 200_000 {
		check(math.Ldexp(rng.Float64()-0.5, rng.IntN(260)-160))
	}
}
