package pld

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant/internal/normal"
)

// LogisticPerturbation is the exact minimum of an objective with a normal random linear term,
// of losses whose curvature is tied to their slope: [accountant.Perturbation] with Logistic,
// sigma ≥ 0 being its multiplier and curvature ≥ 0 its Curvature. The privacy loss is at most
//
//	s²/2 + f_t(sN),  or s²/2 + (f_2t(sN) + f_0(sN))/2 under substitution,
//
// in increasing convex order, s = 1/sigma, t = curvature (docs/proofs/optimum.md).
func LogisticPerturbation(sigma, curvature float64, substitution bool) (Mechanism, error) {
	what, knots := "LogisticPerturbation", folded(curvature, 1)
	if substitution {
		what, knots = "LogisticPerturbationSubstitution", both(curvature)
	}
	return perturbation(what, sigma, curvature, perturbed{knots: knots, sides: 1})
}

// ConvexPerturbation is LogisticPerturbation of any convex losses, under either adjacency. The
// privacy loss is at most s²/2 + curvature + s|N|.
func ConvexPerturbation(sigma, curvature float64) (Mechanism, error) {
	return perturbation("ConvexPerturbation", sigma, curvature,
		perturbed{base: curvature, knots: folded(0, 1), sides: 2})
}

func perturbation(what string, sigma, curvature float64, p perturbed) (Mechanism, error) {
	if err := checkNoise(what, sigma); err != nil {
		return Mechanism{}, err
	}
	if !(curvature >= 0) {
		return Mechanism{}, fmt.Errorf("pld: %s: curvature %v: must be at least 0", what, curvature)
	}
	name := fmt.Sprintf("%s(%g, %g)", what, sigma, curvature)
	if sigma < leastNoise || curvature > 300 {
		return everything(name, false), nil
	}
	p.s = 1 / min(sigma, mostNoise)
	p.base += p.s * p.s / 2
	p.tangent()
	m := symmetric(name, p.delta)
	none := nothing(name)
	m.worst = &none
	return m, nil
}

// perturbed is a variable base + sides·Σ weight·(sN − at)₊ that bounds a privacy loss in
// increasing convex order. With two sides the other half of them are those of −N.
type perturbed struct {
	s, base, sides float64
	knots          []knot // increasing
	near, level    float64
}

// knot is where a convex polygon bends, and by how much.
type knot struct{ at, weight float64 }

// foldedCells is how many chords lie over the parabola of f_t, each above it by at most
// t/(4·foldedCells²).
const foldedCells = 64

// folded is a polygon above weight·f_t, f_t(y) = max over p in [0, 1] of p·y + p(1−p)·t: 0
// below −t, a parabola up to t, y beyond.
func folded(t, weight float64) []knot {
	if t == 0 {
		return []knot{{0, weight}}
	}
	knots := make([]knot, foldedCells+1)
	for i := range knots {
		knots[i] = knot{t * (2*float64(i)/foldedCells - 1), weight / foldedCells}
	}
	knots[0].weight /= 2
	knots[foldedCells].weight /= 2
	return knots
}

// both is a polygon above (f_2t + f_0)/2.
func both(t float64) []knot {
	knots := append(folded(2*t, 0.5), folded(0, 0.5)...)
	slices.SortFunc(knots, func(a, b knot) int { return cmp.Compare(a.at, b.at) })
	return knots
}

// excess is E(X − ε)₊, which no δ(ε) exceeds, X being the variable.
func (p *perturbed) excess(eps float64) float64 {
	rest, sum, ahead := eps-p.base, max(0, p.base-eps), p.knots
	if rest > 0 {
		ahead, sum = p.beyond(rest)
	}
	for _, k := range ahead {
		sum += k.weight * call(k.at/p.s) * p.s * p.sides
	}
	return sum
}

// beyond is what the chord on which the polygon exceeds rest would add to the excess if it
// went on, and the knots ahead of it.
func (p *perturbed) beyond(rest float64) (ahead []knot, sum float64) {
	slope, height, at := 0.0, 0.0, p.knots[0].at
	for i, k := range p.knots {
		height += slope * (k.at - at)
		if height >= rest {
			ahead = p.knots[i:]
			break
		}
		at, slope = k.at, slope+k.weight
		rest, height = rest-height, 0
	}
	return ahead, slope * call((at+rest/slope)/p.s) * p.s * p.sides
}

// call is E(N − z)₊.
func call(z float64) float64 {
	tail := normal.Density(z) * normal.MillsFall(math.Abs(z))
	if z < 0 {
		return tail - z
	}
	return tail
}

// tangent chooses near: below, δ is that of any mechanism with the δ that holds there, since
// E(X − ε)₊ is no privacy profile.
func (p *perturbed) tangent() {
	p.near, _ = leastOn(0, p.base+10*p.s+p.knots[len(p.knots)-1].at, 60, func(eps float64) float64 {
		return (p.excess(eps) - 1) / (1 + math.Exp(eps))
	})
	p.level = min(1, p.excess(p.near))
}

func (p *perturbed) delta(eps float64) float64 {
	if eps >= p.near {
		return min(1, p.excess(eps))
	}
	return p.level - (1-p.level)*math.Expm1(eps-p.near)/(1+math.Exp(-p.near))
}
