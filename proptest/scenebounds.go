package proptest

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/targets"
)

// boundsHold checks the certificates of moves and slopes at one scene, its record
// projected onto the radius.
func (e *evaluator) boundsHold(s scene) string {
	if e.bound == nil && e.linear == nil {
		return ""
	}
	z := e.projected(s.z)
	for _, theta := range [][]float64{s.theta, s.next} {
		if n := norm(inUnits(theta, e.unit)); !(n <= 100) || math.IsInf(e.target.LogPrior(theta), -1) {
			return "" // nothing is claimed, or differences are mere roundings
		}
	}
	a, b := e.loss(s.theta, z), e.loss(s.next, z)
	change := math.Abs(a-b) - 1e-14 - blur(a, b)
	if e.bound != nil && change > e.bound.RatioBound(s.theta, s.next, e.o.Radius) {
		change -= rounding(e.target, s.theta, z) + rounding(e.target, s.next, z)
	}
	at := fmt.Sprintf("at %v", scene{theta: s.theta, next: s.next, z: z})
	if e.bound != nil {
		if c := e.bound.RatioBound(s.theta, s.next, e.o.Radius); s.plausible && math.IsNaN(c) || c < 0 ||
			change > c*(1+1e-12) {
			return fmt.Sprintf("ratio: found %v of the bound RatioBound = %v, radius %v: the certificate is violated %s",
				math.Abs(a-b), c, e.o.Radius, at)
		}
	}
	if e.bound != nil {
		there, back := e.bound.RatioBound(s.theta, s.next, e.o.Radius), e.bound.RatioBound(s.next, s.theta, e.o.Radius)
		if !same(there, back) && !(math.Abs(there-back) <= 1e-9*(there+back)) {
			return fmt.Sprintf("symmetry: RatioBound is %v from θ to θ′ and %v from θ′ to θ; a kernel whose noise is in "+
				"proportion to it would not leave its law invariant, %s", there, back, at)
		}
	}
	if e.linear == nil || math.IsInf(e.linear.PredictorLipschitz(), 1) {
		return ""
	}
	eta, along, sizes := 0.0, 0.0, 0.0
	for j, x := range z.X {
		eta += x * s.theta[j]
		along += x * (s.next[j] - s.theta[j])
		sizes += math.Abs(x) * (math.Abs(s.next[j]) + math.Abs(s.theta[j]))
	}
	l := e.linear.PredictorLipschitz()
	if change-1e-15*l*sizes > l*math.Abs(along)*(1+1e-12) {
		return fmt.Sprintf("move: found %v of the bound L·|x·δ| = %v: the certificate is violated %s", math.Abs(a-b),
			l*math.Abs(along), at)
	}
	if v := e.slopeAt(eta, z.Y); math.Abs(v)*(1-1e-12) > l {
		return fmt.Sprintf("Lipschitz: found the slope %v at η = %v, beyond PredictorLipschitz = %v: the certificate is "+
			"violated %s", v, eta, l, at)
	}
	return ""
}

// projected copies a record, projected onto the radius.
func (e *evaluator) projected(z targets.Rows) targets.Rows {
	z = cloneRows(z)
	if !math.IsInf(e.o.Radius, 1) {
		record.Project(z.X, e.o.Radius)
	}
	return z
}
