package convex

import (
	"math"
	"math/big"
	"testing"
)

func table(t testing.TB) map[string]Loss {
	t.Helper()
	all := map[string]Loss{"logistic": Logistic(), "halved": Halved(), "halved probit": HalvedProbit(),
		"halved cloglog": HalvedCLogLog()}
	add := func(name string, l Loss, err error) {
		if err != nil {
			t.Fatal(err)
		}
		all[name] = l
	}
	for name, make := range map[string]func() (Loss, error){
		"probit 1": func() (Loss, error) { return Probit(1) }, "probit 3": func() (Loss, error) { return Probit(3) },
		"probit 8": func() (Loss, error) { return Probit(8) }, "cloglog 1": func() (Loss, error) { return CLogLog(1) },
		"cloglog 5":   func() (Loss, error) { return CLogLog(5) },
		"Poisson 12":  func() (Loss, error) { return Poisson(12, 12) },
		"Poisson 100": func() (Loss, error) { return Poisson(100, 7) },
		"roots":       func() (Loss, error) { return RootCount(20, 0.5) },
		"roots of 1":  func() (Loss, error) { return RootCount(1, 1) },
		"nb":          func() (Loss, error) { return NegativeBinomial(2.5, 30, 30) },
		"nb small":    func() (Loss, error) { return NegativeBinomial(0.1, 4, 4) },
		"nb cut":      func() (Loss, error) { return NegativeBinomial(2, 100, 5) },
		"nb cut high": func() (Loss, error) { return NegativeBinomial(40, 12, 3) },
	} {
		l, err := make()
		add(name, l, err)
	}
	return all
}

var responses = []float64{0, 1, 2, 3, 7, 12, 30, 99, 100, 1e4}

// TestBounds: over predictors from −60 to 60 slopes rise, within MaxSlope; they are
// what values differ by, and curvatures, between 0 and MaxCurvature, what slopes
// differ by; no value is more than Drop below that at 0. Slopes come within a tenth of
// their bound, curvatures within two fifths, drops and pulls within a factor of 20, so that much
// smaller ones would be refused.
func TestBounds(t *testing.T) {
	for name, l := range table(t) {
		slope, bend, drop, pull := 0.0, 0.0, 0.0, 0.0
		for _, y := range responses {
			if l.Count() == 0 && y > 1 {
				continue
			}
			last := math.Inf(-1)
			for k := -12000; k <= 12000; k++ {
				eta := float64(k) / 200
				s, c := l.Slope(eta, y), l.Curvature(eta, y)
				if s < last-1e-12*l.MaxSlope() {
					t.Fatalf("%s: the slope falls to %v at η = %v, y = %v", name, s, eta, y)
				}
				last = s
				slope, bend, pull = max(slope, math.Abs(s)), max(bend, c), max(pull, math.Abs(eta)*c)
				if k%10 == 0 {
					drop = max(drop, l.Value(0, y)-l.Value(eta, y))
				}
				if c < 0 {
					t.Fatalf("%s: curvature %v at η = %v, y = %v", name, c, eta, y)
				}
				if k%10 != 0 || math.Abs(eta) > 20 {
					continue
				}
				const h = 1e-5
				if l.Capped(eta-h, y) != l.Capped(eta+h, y) {
					continue
				}
				v := (l.Value(eta+h, y) - l.Value(eta-h, y)) / (2 * h)
				if size := 1 + math.Abs(l.Value(eta, y)); math.Abs(v-s) > 1e-9*size {
					t.Errorf("%s: slope %v at η = %v, y = %v, values give %v", name, s, eta, y, v)
				}
				d := (l.Slope(eta+h, y) - l.Slope(eta-h, y)) / (2 * h)
				if math.Abs(d-c) > 1e-8*(1+l.MaxCurvature()) {
					t.Errorf("%s: curvature %v at η = %v, y = %v, slopes give %v", name, c, eta, y, d)
				}
			}
		}
		for _, b := range []struct {
			what        string
			got, bound  float64
			leastShared float64
		}{{"slope", slope, l.MaxSlope(), 0.9}, {"curvature", bend, l.MaxCurvature(), 0.6}, {"drop", drop, l.Drop(), 0.05},
			{"pull", pull, l.Pull(), 0.05}} {
			if b.got > b.bound {
				t.Errorf("%s: %s of %v, bound %v", name, b.what, b.got, b.bound)
			}
			if b.got < b.leastShared*b.bound {
				t.Errorf("%s: %s of %v at most, far below the bound %v", name, b.what, b.got, b.bound)
			}
		}
	}
}

// TestFarPredictors: far out bounds hold too, and no e^η that overflows makes a NaN, with which
// Newton's method fails.
func TestFarPredictors(t *testing.T) {
	within := func(v, low, high float64) bool { return v >= low && v <= high }
	for name, l := range table(t) {
		for _, l := range []Loss{l, l.Mirrored()} {
			for _, far := range []float64{70, 700, 710, 750, 1500, 1e6, 1e155, 1e250} {
				for _, eta := range []float64{far, -far} {
					for _, y := range responses {
						if s := l.Slope(eta, y); !within(s, -l.MaxSlope(), l.MaxSlope()) {
							t.Errorf("%s: slope %v at η = %v, y = %v", name, s, eta, y)
						}
						if c := l.Curvature(eta, y); !within(c, 0, l.MaxCurvature()) {
							t.Errorf("%s: curvature %v at η = %v, y = %v", name, c, eta, y)
						}
					}
				}
			}
		}
	}
}

// TestSlopesAgainstArbitraryPrecision: computed slopes of the losses made of
// exponentials are within Ulps of ones with 200 bits.
func TestSlopesAgainstArbitraryPrecision(t *testing.T) {
	const prec = 400
	erf := func(x float64) *big.Float { // by its series, whose terms are below e^(x²)
		square := new(big.Float).SetPrec(prec).SetFloat64(x)
		square.Mul(square, square)
		term := new(big.Float).SetPrec(prec).SetFloat64(x)
		sum := new(big.Float).SetPrec(prec)
		for k := range int64(400) {
			each := new(big.Float).SetPrec(prec).SetInt64(2*k + 1)
			sum.Add(sum, each.Quo(term, each))
			term.Mul(term, square).Quo(term, new(big.Float).SetInt64(-k-1))
		}
		rootPi, _, err := big.ParseFloat("1.772453850905516027298167483341145182797549456122387128213807789852911284591",
			10, prec, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		return sum.Quo(sum.Mul(sum, big.NewFloat(2)), rootPi)
	}
	exp := func(x float64) *big.Float { // by its series after halving
		v := new(big.Float).SetPrec(200).SetFloat64(x)
		v.SetMantExp(v, -12)
		sum, term := big.NewFloat(1).SetPrec(200), big.NewFloat(1).SetPrec(200)
		for k := 1; k < 40; k++ {
			term.Mul(term, v).Quo(term, new(big.Float).SetInt64(int64(k)))
			sum.Add(sum, term)
		}
		for range 12 {
			sum.Mul(sum, sum)
		}
		return sum
	}
	one := big.NewFloat(1).SetPrec(200)
	for name, l := range table(t) {
		for _, y := range responses {
			for eta := -9.0; eta < 9; eta += 0.37 {
				if l.Capped(eta, y) {
					continue
				}
				v, want := exp(eta), new(big.Float).SetPrec(200)
				switch l.kind {
				case logistic:
					sign := 1.0
					if y >= 0.5 {
						sign, v = -1, exp(eta)
					} else {
						v = exp(-eta)
					}
					want.Quo(big.NewFloat(sign), new(big.Float).Add(one, v))
				case halved:
					sign := 0.5
					if v = exp(-2 * eta); y >= 0.5 {
						sign, v = -0.5, exp(2*eta)
					}
					want.Quo(big.NewFloat(sign), v.Sqrt(v.Add(one, v)))
				case cloglog:
					if want.Set(v); y >= 0.5 {
						f, _ := v.Float64()
						e := exp(f) // e^(float of v); the rest by its derivative
						rest := new(big.Float).Sub(v, new(big.Float).SetFloat64(f))
						e.Mul(e, new(big.Float).Add(one, rest))
						want.Quo(v, e.Sub(e, one)).Neg(want)
					}
				case poisson:
					want.Sub(v, big.NewFloat(min(y, l.most)))
				case negBinomial:
					share := new(big.Float).Quo(v, new(big.Float).Add(v, new(big.Float).SetPrec(200).SetFloat64(l.size)))
					want.Mul(share, big.NewFloat(min(y, l.most)+l.size)).Sub(want, big.NewFloat(min(y, l.most)))
				case halvedProbit, halvedCLogLog:
					p := erf(eta / math.Sqrt2)
					p.Quo(p.Add(p, one), big.NewFloat(2))
					if l.kind == halvedCLogLog {
						f, _ := v.Float64()
						p.Sub(one, p.Quo(one, exp(f)))
					}
					q := new(big.Float).SetPrec(prec).Sub(one, p)
					size := new(big.Float).Add(new(big.Float).Mul(p, p), new(big.Float).Mul(q, q))
					if want.Quo(p, big.NewFloat(2)); y >= 0.5 {
						want.Quo(q, big.NewFloat(-2))
					}
					want.Quo(want, size.Sqrt(size))
				case rootCount:
					want.Add(v, one)
					want.Quo(v, want.Sqrt(want))
					root := new(big.Float).SetPrec(200).SetFloat64(min(y, l.most))
					want.Sub(want, root.Sqrt(root))
				default:
					continue
				}
				off, _ := new(big.Float).Sub(want, new(big.Float).SetFloat64(l.Slope(eta, y))).Float64()
				if math.Abs(off) > l.Ulps()*0x1p-53*l.MaxSlope() {
					t.Errorf("%s: the slope at η = %v, y = %v is off by %v, more than %v", name, eta, y, off,
						l.Ulps()*0x1p-53*l.MaxSlope())
				}
			}
		}
	}
}

// TestTiedLosses: curvatures are at most s(1−s), s the slope over MaxSlope, which is nearly
// attained. So it is of no other loss of the table.
func TestTiedLosses(t *testing.T) {
	for name, l := range table(t) {
		least := math.Inf(1)
		for _, y := range responses {
			for eta := -12.0; eta <= 12; eta += 0.01 {
				s := math.Abs(l.Slope(eta, y)) / l.MaxSlope()
				least = min(least, (s*(1-s)+1e-15)/(l.Curvature(eta, y)+1e-15))
			}
		}
		if tied := least > 1-1e-9 && least < 1.1; tied != l.Tied() {
			t.Errorf("%s: curvatures are at most %v of s(1−s), and Tied is %v", name, 1/least, l.Tied())
		}
	}
}

// TestHalvedIsConsistent: under the logistic law slopes of Halved have mean 0, and are those of
// Logistic times a weight that no response changes.
func TestHalvedIsConsistent(t *testing.T) {
	l, full := Halved(), Logistic()
	for eta := -40.0; eta <= 40; eta += 0.1 {
		p, q := full.Slope(eta, 0), -full.Slope(eta, 1)
		one, none := l.Slope(eta, 1)/full.Slope(eta, 1), l.Slope(eta, 0)/full.Slope(eta, 0)
		if math.Abs(one/none-1) > 1e-12 || one < 0.5-1e-12 || one > math.Sqrt2/2+1e-12 {
			t.Errorf("at %v slopes are %v and %v times those of the log loss", eta, one, none)
		}
		if mean := p*l.Slope(eta, 1) + q*l.Slope(eta, 0); math.Abs(mean) > 1e-15 {
			t.Errorf("at %v slopes have the mean %v", eta, mean)
		}
	}
}

// TestHalvedLawsAreConsistent: under the laws of probit and cloglog slopes of their halved losses
// have mean 0, and those of a response of each are ½ in length together.
func TestHalvedLawsAreConsistent(t *testing.T) {
	for eta := -12.0; eta <= 12; eta += 0.05 {
		for _, c := range []struct {
			l    Loss
			p, q float64
		}{
			{HalvedProbit(), math.Erfc(-eta/math.Sqrt2) / 2, math.Erfc(eta/math.Sqrt2) / 2},
			{HalvedCLogLog(), -math.Expm1(-math.Exp(eta)), math.Exp(-math.Exp(eta))},
		} {
			one, none := c.l.Slope(eta, 1), c.l.Slope(eta, 0)
			if mean := c.p*one + c.q*none; math.Abs(mean) > 1e-15 || math.Abs(math.Hypot(one, none)-0.5) > 1e-15 {
				t.Errorf("at %v slopes %v and %v have the mean %v", eta, one, none, mean)
			}
		}
	}
}

// TestMirrored: a mirrored loss of two labels is that of the other label at −η, with the same bounds,
// and twice mirrored the loss itself. A mirrored slope falls with a label's chance as a slope does:
// it has the mean 0 under the mirrored law. Counts have no mirrored loss.
func TestMirrored(t *testing.T) {
	for name, l := range table(t) {
		m := l.Mirrored()
		if l.Count() > 0 {
			if m.Valid() {
				t.Errorf("%s: counts have a mirrored loss", name)
			}
			continue
		}
		if m.Mirrored() != l || m.MaxSlope() != l.MaxSlope() || m.MaxCurvature() != l.MaxCurvature() ||
			m.Drop() != l.Drop() || m.Pull() != l.Pull() || m.Ulps() != l.Ulps() {
			t.Errorf("%s: the mirrored loss has other bounds", name)
		}
		for eta := -12.0; eta <= 12; eta += 0.05 {
			for y := range 2 {
				one, other := float64(y), float64(1-y)
				if m.Slope(eta, one) != -l.Slope(-eta, other) || m.Value(eta, one) != l.Value(-eta, other) ||
					m.Curvature(eta, one) != l.Curvature(-eta, other) || m.Capped(eta, one) != l.Capped(-eta, other) {
					t.Errorf("%s: the mirrored loss at %v of label %v is not that of the other label", name, eta, y)
				}
			}
		}
		if m.Slope(0.3, 0.5) != m.Slope(0.3, 1) || m.Slope(0.3, math.NaN()) != 0 {
			t.Errorf("%s: a mirrored loss reads other labels than the loss does", name)
		}
	}
	l := HalvedCLogLog().Mirrored()
	for eta := -6.0; eta <= 6; eta += 0.05 { // P(y = 1) = exp(−e^−η)
		p, q := math.Exp(-math.Exp(-eta)), -math.Expm1(-math.Exp(-eta))
		if mean := p*l.Slope(eta, 1) + q*l.Slope(eta, 0); math.Abs(mean) > 1e-15 {
			t.Errorf("at %v slopes have the mean %v", eta, mean)
		}
	}
}

// TestNormalHazard compares the probit slope with the hazard's differential equation
// h′ = h(h − t) integrated from t = 0 by a method of order 4 in 10⁵ steps.
func TestNormalHazard(t *testing.T) {
	for _, sign := range []float64{-1, 1} {
		h, at := math.Sqrt(2/math.Pi), 0.0
		const steps = 80000
		dt := sign * 8.0 / steps
		f := func(t, h float64) float64 { return h * (h - t) }
		for k := range steps {
			a := f(at, h)
			b := f(at+dt/2, h+dt/2*a)
			c := f(at+dt/2, h+dt/2*b)
			d := f(at+dt, h+dt*c)
			h += dt / 6 * (a + 2*b + 2*c + d)
			at = float64(k+1) * dt
			if k%8000 == 7999 {
				// Errors grow forwards, and with e^(t²/2) at most.
				if _, got := NormalTail(at); math.Abs(got-h) > 1e-14*math.Exp(max(0, at)*max(0, at)/2)*50 {
					t.Errorf("hazard at %v is %v, integrated %v", at, got, h)
				}
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, err := range map[string]error{
		"probit 0.5": second(Probit(0.5)), "probit 9": second(Probit(9)), "probit NaN": second(Probit(math.NaN())),
		"cloglog 0": second(CLogLog(0)), "Poisson cap": second(Poisson(5, 0)), "Poisson most": second(Poisson(0.5, 2)),
		"nb size": second(NegativeBinomial(0, 3, 3)), "nb most": second(NegativeBinomial(1, math.Inf(1), 2)),
		"roots cap": second(RootCount(5, 2)), "roots most": second(RootCount(0, 0.5)),
		"nb cap": second(NegativeBinomial(1, 3, 0.5)),
	} {
		if err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if (Loss{}).Valid() {
		t.Error("the zero loss is valid")
	}
	for name, l := range table(t) {
		for _, y := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			if !l.Absent(y) || l.Slope(0.3, y) != 0 || l.Curvature(0.3, y) != 0 {
				t.Errorf("%s: a response of %v counts", name, y)
			}
		}
	}
}

func second(_ Loss, err error) error { return err }
