package accept

import (
	"math"
	"math/big"
	"testing"
)

// precision of the reference arithmetic in bits: the series below lose up to 150
// of them for the arguments that are used.
const precision = 320

func bigFloat(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func bigAdd(a, b *big.Float) *big.Float { return bigFloat(0).Add(a, b) }
func bigSub(a, b *big.Float) *big.Float { return bigFloat(0).Sub(a, b) }
func bigMul(a, b *big.Float) *big.Float { return bigFloat(0).Mul(a, b) }
func bigQuo(a, b *big.Float) *big.Float { return bigFloat(0).Quo(a, b) }

// bigExp is Taylor's series of e^x after 10 halvings of x.
func bigExp(x *big.Float) *big.Float {
	small := bigQuo(x, bigFloat(1024))
	sum, term := bigFloat(1), bigFloat(1)
	for n := 1; n < 90; n++ {
		term = bigQuo(bigMul(term, small), bigFloat(float64(n)))
		sum = bigAdd(sum, term)
	}
	for range 10 {
		sum = bigMul(sum, sum)
	}
	return sum
}

// bigNormalTail is P(N(0,1) > z) = ½ − (2π)^−½ Σ (−1)ⁿ z^(2n+1)/(2ⁿ n! (2n+1)),
// cut off at |z| = 14, where it is 2^−146.
func bigNormalTail(z *big.Float) *big.Float {
	if z.Cmp(bigFloat(14)) > 0 {
		return bigFloat(0)
	} else if z.Cmp(bigFloat(-14)) < 0 {
		return bigFloat(1)
	}
	pi, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510"+
		"582097494459230781640628620899862803482534211706798", 10, precision, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	sum, power := bigFloat(0), z
	for n := range 500 {
		sum = bigAdd(sum, bigQuo(power, bigFloat(float64(2*n+1))))
		if n > 2 && power.MantExp(nil) < -precision {
			break
		}
		power = bigQuo(bigMul(power, bigMul(z, z)), bigFloat(-2*float64(n+1)))
	}
	return bigSub(bigFloat(0.5), bigQuo(sum, bigFloat(0).Sqrt(bigMul(bigFloat(2), pi))))
}

// bigLogistic is 1/(1+e^−u).
func bigLogistic(u float64) *big.Float {
	return bigQuo(bigFloat(1), bigAdd(bigFloat(1), bigExp(bigFloat(-u))))
}

// bigCorrected is Σ w/2·[Φ((u+m)/s) + Φ((u−m)/s)] with s² = C−v, for the weights
// as they are stored, whose sum is 1 only up to rounding.
func bigCorrected(m Mixture, u, v float64) *big.Float {
	s := bigFloat(0).Sqrt(bigSub(bigFloat(m.C), bigFloat(v)))
	sum := bigFloat(0)
	for _, a := range m.Atoms {
		for _, mean := range []float64{a.Mean, -a.Mean} {
			z := bigQuo(bigSub(bigFloat(mean), bigFloat(u)), s)
			sum = bigAdd(sum, bigMul(bigFloat(a.Weight/2), bigNormalTail(z)))
		}
	}
	return sum
}

// bigPenalty is Φ(y−s) + e^x·Φ(−y) with x = u − v/2, s² = C−v, y = x/s + s/2.
func bigPenalty(c, u, v float64) *big.Float {
	x, variance := bigSub(bigFloat(u), bigFloat(v/2)), bigSub(bigFloat(c), bigFloat(v))
	s := bigFloat(0).Sqrt(variance)
	y := bigAdd(bigQuo(x, s), bigQuo(s, bigFloat(2)))
	return bigAdd(bigNormalTail(bigSub(s, y)), bigMul(bigExp(x), bigNormalTail(y)))
}

// relativeError compares a returned tail with the reference acceptance.
func relativeError(t *testing.T, test Test, u, v float64, reference *big.Float) float64 {
	t.Helper()
	tail, upper := test.Accept(u, v)
	if upper {
		reference = bigSub(bigFloat(1), reference)
	}
	if r, _ := reference.Float64(); r < MinTail {
		if tail != MinTail {
			t.Errorf("u = %v, v = %v: tail %v, want MinTail", u, v, tail)
		}
		return 0
	}
	e, _ := bigQuo(bigSub(bigFloat(tail), reference), reference).Float64()
	return math.Abs(e)
}

func TestTailsAgainstBigFloat(t *testing.T) {
	points := []float64{-31, -17.3, -12, -8, -6.1, -3.7, -1.2, -0.3, 0, 1e-9, 0.7, 1.9, 2.6, 4.4, 5.8, 7.1, 8, 11,
		13.9, 22.4, 22.9, 23.1, 26, 32}
	check := func(name string, test Test, bound float64, reference func(u, v float64) *big.Float) {
		worst := 0.0
		for _, u := range points {
			for _, share := range []float64{0, 0.3, 1} {
				v := share * test.VarianceLimit()
				if math.Abs(u) <= test.limit() {
					worst = max(worst, relativeError(t, test, u, v, reference(u, v)))
				}
			}
		}
		t.Logf("%s: largest relative error 2^%.1f", name, math.Log2(worst))
		if worst > bound {
			t.Errorf("%s: relative error %g, above %g", name, worst, bound)
		}
	}
	check("logistic", Logistic{}, 0x1p-49, func(u, _ float64) *big.Float { return bigLogistic(u) })
	for _, m := range corrections {
		// The constants are not needed here, so neither is the constructor.
		test := &Corrected{domain: domain{maxLogOdds: maxLimit, maxVariance: m.C - 0.25}, mixture: m}
		check("corrected", test, RelErr, func(u, v float64) *big.Float {
			if u > 0 { // as computed: from the smaller side
				return bigSub(bigFloat(1), bigCorrected(m, -u, v))
			}
			return bigCorrected(m, u, v)
		})
	}
	for _, c := range []float64{0.25, 0.5, 1, 2, 4, 16} {
		test := &Penalty{domain: domain{maxLogOdds: 32, maxVariance: c - 0.25}, variance: c}
		check("penalty", test, RelErr, func(u, v float64) *big.Float { return bigPenalty(c, u, v) })
	}
}
