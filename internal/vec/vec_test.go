package vec

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestScaledByZeroIsZero(t *testing.T) {
	dst := []float64{3, 4}
	AddScaled(dst, 0, []float64{math.Inf(1), math.NaN()})
	if dst[0] != 3 || dst[1] != 4 {
		t.Errorf("AddScaled by 0 changed dst to %v", dst)
	}
	AddScaled(dst, 2, []float64{1, 10})
	if dst[0] != 5 || dst[1] != 24 {
		t.Errorf("AddScaled by 2: %v, want [5 24]", dst)
	}
	Scale(dst, 0, []float64{math.Inf(1), math.NaN()})
	if dst[0] != 0 || dst[1] != 0 {
		t.Errorf("Scale by 0 gives %v", dst)
	}
	Scale(dst, -1, []float64{1, 2})
	if dst[0] != -1 || dst[1] != -2 {
		t.Errorf("Scale by −1 gives %v, want [-1 -2]", dst)
	}
}

// exactQuantize is Quantize's definition in rational arithmetic.
func exactQuantize(x, bound, scale float64) *big.Int {
	if math.IsNaN(x) {
		return new(big.Int)
	}
	r := new(big.Rat)
	r.SetFloat64(math.Max(-bound, math.Min(bound, x)))
	r.Mul(r, new(big.Rat).SetFloat64(scale))
	return new(big.Int).Quo(r.Num(), r.Denom())
}

func TestQuantizeIsExact(t *testing.T) {
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, -5e-324, 1 << 53,
		-(1<<53 + 2), math.MaxFloat64}
	value := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-2, 2), rapid.SampledFrom(special))
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(value, 0, 40).Draw(t, "x")
		bound := rapid.Float64Range(0, 100).Draw(t, "bound")
		scale := math.Ldexp(1, rapid.IntRange(-20, 48).Draw(t, "log2 scale"))
		for _, x := range xs {
			k := exactQuantize(x, bound, scale)
			if got := Quantize(x, bound, scale); got != k.Int64() {
				t.Fatalf("Quantize(%v, %v, %v) = %d, want %v", x, bound, scale, got, k)
			}
		}
	})
}
