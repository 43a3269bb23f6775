package accept

import (
	"math"
	"testing"
)

// wide returns tests that keep their own shape far out, without the constants that
// only their price needs.
func wideCorrected(m Mixture) *Corrected {
	return &Corrected{domain: domain{maxLogOdds: 32, maxVariance: m.C - 0.25}, mixture: m}
}

func widePenalty(c float64) *Penalty {
	return &Penalty{domain: domain{maxLogOdds: 32, maxVariance: c - 0.25}, variance: c}
}

// averaged returns E a(Δ + N(0, v); v): the acceptance of a minibatch test over its
// batches. The trapezium rule converges faster than any power of the step for
// analytic integrands.
func averaged(a func(u, v float64) float64, delta, v float64) float64 {
	const step, end = 1.0 / 16, 9
	sum := 0.0
	for z := -float64(end); z <= end; z += step {
		sum += math.Exp(-z*z/2) * a(delta+z*math.Sqrt(v), v)
	}
	return sum * step / math.Sqrt(2*math.Pi)
}

// imbalance returns the largest |log A(Δ) − log A(−Δ) − Δ| of the averaged test.
func imbalance(a func(u, v float64) float64, v float64) float64 {
	worst := 0.0
	for delta := 0.0; delta <= 6; delta += 0.25 {
		worst = max(worst, math.Abs(math.Log(averaged(a, delta, v)/averaged(a, -delta, v))-delta))
	}
	return worst
}

func TestPenaltyBalance(t *testing.T) {
	for _, c := range []float64{0.25, 0.5, 1, 2, 4} {
		test := widePenalty(c)
		for u := 0.0; u <= 20; u += 0.37 {
			up, down := probability(test, u, 0), probability(test, -u, 0)
			if math.Abs(up/(math.Exp(u)*down)-1) > 4*RelErr {
				t.Errorf("C = %v: a(%v) = %v, e^u·a(−u) = %v", c, u, up, math.Exp(u)*down)
			}
		}
		for _, share := range []float64{0.2, 1} {
			v := share * test.maxVariance
			a := func(u, v float64) float64 { return probability(test, u, v) }
			if worst := imbalance(a, v); worst > 1e-10 {
				t.Errorf("C = %v, v = %v: detailed balance is off by %v", c, v, worst)
			}
			// The mutants correct for the batch noise the wrong way, or not at all.
			for _, wrong := range []float64{1, 0.5} {
				mutant := func(u, v float64) float64 { return probability(test, u+wrong*v, v) }
				if worst := imbalance(mutant, v); v > 0 && worst < 1e-3 {
					t.Errorf("C = %v, v = %v: a mutant that shifts by %v·v passes with %v", c, v, wrong, worst)
				}
			}
		}
		if got, want := averaged(func(u, v float64) float64 { return probability(test, u, v) }, 0, test.maxVariance),
			math.Erfc(math.Sqrt(c/8)); math.Abs(got-want) > 1e-10 {
			t.Errorf("C = %v: A(0) = %v, want 2Φ(−√C/2) = %v", c, got, want)
		}
	}
}

// misfit returns the largest |A(Δ) − 1/(1+e^−Δ)| of the averaged test.
func misfit(a func(u, v float64) float64, v float64) float64 {
	worst := 0.0
	for delta := -9.0; delta <= 9; delta += 0.25 {
		worst = max(worst, math.Abs(averaged(a, delta, v)-1/(1+math.Exp(-delta))))
	}
	return worst
}

func TestCorrectedIsBarkerOnAverage(t *testing.T) {
	for _, m := range corrections {
		test := wideCorrected(m)
		sup := m.SupError()
		for _, share := range []float64{0, 0.5, 1} {
			v := share * test.maxVariance
			if got := misfit(func(u, v float64) float64 { return probability(test, u, v) }, v); got > sup+1e-12 {
				t.Errorf("C = %v, v = %v: the averaged test is %v from Barker's, above the fit's %v", m.C, v, got, sup)
			}
			// The mutant does not take the batch's noise out of its own.
			if mutant := misfit(func(u, _ float64) float64 { return probability(test, u, 0) }, v); v > 0 && mutant < 4*sup {
				t.Errorf("C = %v, v = %v: the mutant is only %v from Barker's", m.C, v, mutant)
			}
		}
	}
}
