package vec

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/internal/core/dense"
)

const prec = 200

func newBig(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }

// bigExp returns e^x: the Taylor series at x/2⁴⁰, squared 40 times.
func bigExp(x *big.Float) *big.Float {
	const halvings = 40
	r := new(big.Float).SetPrec(prec+80).SetMantExp(x, -halvings)
	sum, term := newBig(1).SetPrec(prec+80), newBig(1).SetPrec(prec+80)
	for k := range 20 {
		term.Mul(term, r)
		term.Quo(term, newBig(float64(k+1)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigLog1p returns log(1+x) by Newton's method on e^y = 1+x, from float64's answer.
func bigLog1p(x *big.Float) *big.Float {
	one := new(big.Float).SetPrec(prec).Add(newBig(1), x)
	start, _ := x.Float64()
	y := newBig(math.Log1p(start))
	for range 3 {
		e := bigExp(y)
		step := new(big.Float).SetPrec(prec+80).Sub(one, e)
		y.Add(y, step.Quo(step, e))
	}
	return y
}

// ulps returns |got − want| in units of the last place of want.
func ulps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	diff := new(big.Float).Sub(newBig(got), want)
	d, _ := diff.Float64()
	unit := math.Nextafter(math.Abs(w), math.Inf(1)) - math.Abs(w)
	return math.Abs(d) / unit
}

// spread returns points spread evenly, around zero on a logarithmic scale, and
// next to the seams of the table.
func spread(lo, hi float64, n int) []float64 {
	rng := rand.New(rand.NewPCG(11, 12))
	var xs []float64
	for range n {
		xs = append(xs, lo+(hi-lo)*rng.Float64())
		tiny := math.Ldexp(1+rng.Float64(), -rng.IntN(60))
		for _, x := range []float64{tiny, -tiny} {
			if x >= lo && x <= hi {
				xs = append(xs, x)
			}
		}
		seam := (float64(rng.IntN(400)-200) + 0.5) * math.Ln2 / tableSize
		if seam >= lo && seam <= hi {
			xs = append(xs, seam, math.Nextafter(seam, 0), math.Nextafter(seam, 1))
		}
	}
	return xs
}

// each1 turns a function over slices into one of a number.
func each1(f func(dst, x []float64)) func(float64) float64 {
	return func(x float64) float64 {
		v := []float64{x}
		f(v, v)
		return v[0]
	}
}

func checkUlps(t *testing.T, name string, xs []float64, limit float64, got func(float64) float64,
	want func(*big.Float) *big.Float) {
	t.Helper()
	var worst, at float64
	for _, x := range xs {
		if u := ulps(got(x), want(newBig(x))); u > worst {
			worst, at = u, x
		}
	}
	t.Logf("%s: at most %.2f ulp, at %v", name, worst, at)
	if worst > limit {
		t.Errorf("%s is %.2f ulp off at %v; %.1f are documented", name, worst, at, limit)
	}
}

func TestElementaryAccuracy(t *testing.T) {
	minus1 := func(x *big.Float) *big.Float {
		return new(big.Float).SetPrec(prec+80).Sub(bigExp(x), newBig(1))
	}
	bigSoftplus := func(x *big.Float) *big.Float { return bigLog1p(bigExp(x)) }
	checkUlps(t, "Exp", spread(-708, 709, 3000), 2, Exp, bigExp)
	checkUlps(t, "Expm1", spread(-708, 709, 2000), 4, Expm1, minus1)
	checkUlps(t, "Expm1All", spread(-2, 2, 2000), 4, each1(Expm1All), minus1)
	checkUlps(t, "Expm1 near 0", spread(-2, 2, 2000), 4, Expm1, minus1)
	checkUlps(t, "Log1pUnit", spread(0, 1, 1000), 4, Log1pUnit, bigLog1p)
	added := func(u float64) float64 {
		dst := []float64{0}
		AddLog1p(dst, []float64{0}, []float64{u})
		return dst[0]
	}
	checkUlps(t, "AddLog1p", spread(0, 50, 1000), 4, added, bigLog1p)
	checkUlps(t, "Softplus", spread(-40, 40, 3000), 4, each1(Softplus), bigSoftplus)
}

func TestElementaryEdges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	edges := []float64{0, math.Copysign(0, -1), 1e-320, -1e-320, 708, -708, 709, 709.5, -709, -745, -746, 710, 1e8, -1e8,
		math.MaxFloat64, -math.MaxFloat64, inf, -inf, nan}
	for _, x := range edges {
		dst := []float64{x}
		Softplus(dst, dst)
		soft := math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
		all := []float64{x}
		Expm1All(all, all)
		neg := []float64{x}
		ExpNegAbs(neg, neg)
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"Exp", Exp(x), math.Exp(x)},
			{"Expm1", Expm1(x), math.Expm1(x)},
			{"Expm1All", all[0], math.Expm1(x)},
			{"Softplus", dst[0], soft},
			{"ExpNegAbs", neg[0], math.Exp(-math.Abs(x))},
		} {
			if !near(c.got, c.want, 1e-15) {
				t.Errorf("%s(%v) = %v, want %v", c.name, x, c.got, c.want)
			}
		}
	}
}

func near(a, b, rel float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= rel*math.Abs(b)
}

func ExampleSoftplus() {
	x := []float64{-1e8, 0, 1e8}
	Softplus(x, x)
	fmt.Println(x)
	// Output: [0 0.6931471805599453 1e+08]
}

// TestWideIsNarrow: over slices of every length and with exponents beyond the
// fast range among them, the loops give the bits of the functions of one number.
func TestWideIsNarrow(t *testing.T) {
	if !dense.Wide {
		t.Skip("this processor works on one number at a time")
	}
	defer func(was bool) { wider = was }(wider)
	rng := rand.New(rand.NewPCG(5, 6))
	special := []float64{0, math.Copysign(0, -1), tailMax, -tailMax, math.Nextafter(tailMax, 40),
		708, -708, 709, -709, 745, -746, 1e300, -1e300, math.Inf(1),
		math.Inf(-1), math.NaN(), 1e-320}
	same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }
	for round := range 6000 {
		wider = dense.Wider && round%2 == 0
		x, dst := make([]float64, 1+round%37), make([]float64, 1+round%37)
		for i := range x {
			x[i] = rng.NormFloat64() * math.Pow(10, 6*rng.Float64()-3)
			if rng.IntN(12) == 0 {
				x[i] = special[rng.IntN(len(special))]
			}
		}
		for name, f := range map[string]struct {
			all func(dst, x []float64)
			one func(x float64) float64
		}{
			"ExpNegAbs": {ExpNegAbs, func(x float64) float64 { return Exp(-math.Abs(x)) }},
			"Expm1All":  {Expm1All, Expm1},
			"AddLog1p": {func(dst, x []float64) { AddLog1p(dst, x, absolute(x)) }, func(x float64) float64 {
				if u := math.Abs(x); u <= 1 {
					return max(x, 0) + Log1pUnit(u)
				} else {
					return x + math.Log1p(u)
				}
			}},
			"Softplus": {Softplus, softplus},
		} {
			f.all(dst, x)
			for i, v := range x {
				if want := f.one(v); !same(dst[i], want) {
					t.Fatalf("%s: element %d of %d, %v, gives %x and not %x", name, i, len(x), v, dst[i], want)
				}
			}
		}
	}
}

func absolute(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Abs(v)
	}
	return out
}

// TestAgainst: numbers turn with the response, in place or not, however many there are.
func TestAgainst(t *testing.T) {
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 0.5, math.Nextafter(0.5, 0), 1,
		-1, 5e-324, 1e300}
	number := rapid.OneOf(rapid.SampledFrom(special), rapid.Map(rapid.Uint64(), math.Float64frombits))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 11).Draw(t, "n")
		v, y := rapid.SliceOfN(number, n, n).Draw(t, "v"), rapid.SliceOfN(number, n, n).Draw(t, "y")
		dst := make([]float64, n)
		Against(dst, v, y)
		given := slices.Clone(v)
		Against(v, v, y)
		for i, r := range y {
			want := given[i]
			if r >= 0.5 {
				want = -want
			}
			if math.IsNaN(r) || math.IsInf(r, 0) {
				want = math.NaN()
			}
			if !near(dst[i], want, 0) || math.Float64bits(v[i]) != math.Float64bits(dst[i]) && !math.IsNaN(v[i]) {
				t.Fatalf("%v against a response of %v is %v, in place %v, want %v", given[i], r, dst[i], v[i], want)
			}
		}
	})
}
