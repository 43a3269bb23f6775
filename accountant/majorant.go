package accountant

// Proof: docs/proofs/accountant-isotropic.md.

import "math"

// majorant bounds a function of |Z| that grows, Z a standard normal, by one that
// is convex. Several records contribute to a bit in proportion to normals of their
// own, arbitrarily dependent, because a public move has another part along each;
// the mean of a convex function of the sum is at most that of equal parts
// (docs/proofs/accountant-isotropic.md, "Several directions"). Values are held as
// logarithms.
type majorant struct {
	at    []float64 // from 0 on
	value []float64 // bounds on the function there
	above []float64 // the convex function there; it is linear in between
}

// add appends a bound on the function.
func (m *majorant) add(at, value float64) {
	m.at, m.value, m.above = append(m.at, at), append(m.value, value), append(m.above, value)
}

// cover raises the last chord until it covers the function, which exceeds the
// chord of the bounds by at most e^bend, and nowhere the bound to the right.
func (m *majorant) cover(bend float64) {
	n := len(m.at) - 1
	left, right := logAddExp(m.value[n-1], bend), logAddExp(m.value[n], bend)
	if left > m.value[n] {
		left, right = m.value[n], m.value[n]
	}
	m.above[n-1], m.above[n] = max(m.above[n-1], left), max(m.above[n], right)
}

// touch raises the function to the line through e^value at the last node, of slope
// e^slope.
func (m *majorant) touch(value, slope float64) {
	end := m.at[len(m.at)-1]
	for i, z := range m.at {
		if fall := slope + math.Log(end-z) - value; fall < 0 {
			m.above[i] = max(m.above[i], value+math.Log1p(-math.Exp(fall)))
		}
	}
}

// slope is the logarithm of the slope of the chord between two bounds.
func (m *majorant) slope(values []float64, i int) float64 {
	if !(values[i] > values[i-1]) {
		return math.Inf(-1)
	}
	return values[i] + math.Log(-math.Expm1(values[i-1]-values[i])/(m.at[i]-m.at[i-1]))
}

// straighten raises the function from left to right until no slope falls.
func (m *majorant) straighten() {
	slope := math.Inf(-1)
	for i := 1; i < len(m.at); i++ {
		slope = max(slope, m.slope(m.above, i))
		m.above[i] = max(m.above[i], logAddExp(m.above[i-1], slope+math.Log(m.at[i]-m.at[i-1])))
	}
}

// addMean adds the mean of the function over |Z|, the last chord going on, to s.
func (m *majorant) addMean(s *logSum) {
	last := len(m.at) - 1
	for i := 1; i <= last; i++ {
		addChord(s, m.at[i-1], m.at[i], m.above[i-1], m.above[i], math.Inf(-1))
	}
	// P(Z > z) ≤ φ(z)/z and E(Z − z)₊ ≤ φ(z)/z².
	z := m.at[last]
	density := math.Ln2 - z*z/2 - math.Log(2*math.Pi)/2
	s.add(density + m.above[last] - math.Log(z))
	s.add(density + m.slope(m.above, last) - 2*math.Log(z))
}
