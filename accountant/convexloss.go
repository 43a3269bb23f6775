package accountant

// Proof: docs/proofs/optimum.md.

import (
	"math"
	"sync"

	"github.com/dpmcmc/dpmcmc/accountant/internal/normal"
)

// convexLike mechanisms have a loss that is at most a variable in increasing convex order.
type convexLike interface {
	lossAtMost(adj Adjacency) convexLoss
}

// convexLoss is the variable base + f(sN), N standard normal, or base + f(s|N|) if even. f is
// convex, increasing from 0 on, and has slopes from 0 to 1.
type convexLoss struct {
	base, s float64
	f       func(y float64) float64
	even    bool
}

func (m objectivePerturbation) lossAtMost(adj Adjacency) convexLoss {
	s, f := 1/m.sigma, func(y float64) float64 { return foldedAt(y, m.curvature) }
	if adj == Substitute {
		f = func(y float64) float64 { return (foldedAt(y, 2*m.curvature) + max(y, 0)) / 2 }
	}
	return convexLoss{s * s / 2, s, f, false}
}

func (m convexPerturbation) lossAtMost(Adjacency) convexLoss {
	s := 1 / m.sigma
	return convexLoss{s*s/2 + m.curvature, s, func(y float64) float64 { return y }, true}
}

// foldedAt is f_t(y), the largest of p·y + p(1−p)·t over p in [0, 1].
func foldedAt(y, t float64) float64 {
	switch {
	case y >= t:
		return y
	case y <= -t:
		return 0
	}
	return (y + t) / t / 4 * (y + t) // 4t may overflow
}

// The nodes of the normal law, and how far below 0 they begin where f is not even. Beyond the
// last there is less than 10⁻¹²⁰.
const (
	cellsPerUnit = 32
	nodesFrom    = -5
	nodesTo      = 24
)

// node is a point z of the normal law with what a convex function's chords weigh there: those
// of the cell that ends and of the one that begins there.
type node struct{ z, before, after float64 }

var nodes = sync.OnceValue(func() []node {
	out := make([]node, (nodesTo-nodesFrom)*cellsPerUnit+1)
	for i := range out {
		out[i].z = nodesFrom + float64(i)/cellsPerUnit
	}
	for i := range out[1:] {
		lo, hi := &out[i], &out[i+1]
		between := normal.Tail(lo.z) - normal.Tail(hi.z)
		if lo.z < 0 {
			between = normal.Tail(-hi.z) - normal.Tail(-lo.z)
		}
		right := (normal.Density(lo.z) - normal.Density(hi.z) - lo.z*between) * cellsPerUnit
		lo.after, hi.before = max(0, between-right), max(0, right)
	}
	return out
})

// call is E(N − z)₊.
func call(z float64) float64 {
	value := normal.Density(z) * normal.MillsFall(math.Abs(z))
	if z < 0 {
		return value - z
	}
	return value
}

// atoms are a variable of finitely many values: at[i], which rise, has the chance weight[i]. The
// variables that it stands for may be above it by rest, in the mean.
type atoms struct {
	at, weight []float64
	rest       float64
	// Of what is beyond each value: the chance, and the mean distance times it.
	tail, beyond []float64
}

// atoms are those of the loss less its base: what its chords weigh at the nodes. Below the first
// node its value there is taken, and beyond the last its slope is at most s.
func (l convexLoss) atoms() atoms {
	all := nodes()
	if l.even {
		all = all[-nodesFrom*cellsPerUnit:]
	}
	a := atoms{at: make([]float64, len(all)), weight: make([]float64, len(all))}
	for i, n := range all {
		a.at[i], a.weight[i] = l.f(l.s*n.z), n.before+n.after
	}
	last := len(all) - 1
	a.weight[last] += normal.Tail(nodesTo)
	a.rest = l.s * call(nodesTo)
	if !l.even {
		a.weight[0] += normal.Tail(-nodesFrom)
		return a
	}
	a.weight[0] = all[0].after
	for i := range a.weight {
		a.weight[i] *= 2
	}
	a.rest *= 2
	return a
}

// onGrid moves every atom to the two multiples of a step from the first one on that it is
// between. The mean stays.
func (a atoms) onGrid(step float64) (weight []float64) {
	first, last := a.at[0], len(a.at)-1
	weight = make([]float64, int((a.at[last]-first)/step)+2)
	for i, w := range a.weight {
		place := min(max(0, a.at[i]-first), a.at[last]-first) / step
		k := int(place)
		weight[k] += w * (1 - (place - float64(k)))
		weight[k+1] += w * (place - float64(k))
	}
	return weight
}

// sumOf are atoms of the sum of independent losses, or not ok where these are beyond use. Of
// several they are on a grid, as fine as the sum and a Gaussian release of µ beside it ask for.
func sumOf(losses []convexLoss, mu float64) (sum atoms, ok bool) {
	square, base := mu*mu, 0.0
	for _, l := range losses {
		if !(l.s <= mostDominated && l.base <= mostDominated && l.f(l.s*nodesTo) <= mostDominated*nodesTo) {
			return sum, false
		}
		square, base = square+l.s*l.s, base+l.base
	}
	sum = losses[0].atoms()
	if len(losses) > 1 {
		step := max(math.Sqrt(square)/cellsPerUnit, 1e-12)
		first, weight, rest := sum.at[0], sum.onGrid(step), sum.rest
		for _, l := range losses[1:] {
			next := l.atoms()
			first, weight, rest = first+next.at[0], convolved(weight, next.onGrid(step)), rest+next.rest
		}
		sum = atoms{at: make([]float64, len(weight)), weight: weight, rest: rest}
		for i := range sum.at {
			sum.at[i] = first + float64(i)*step
		}
	}
	for i := range sum.at {
		sum.at[i] += base
	}
	sum.look()
	return sum, true
}

// convolved are the weights of a sum.
func convolved(a, b []float64) []float64 {
	out := make([]float64, len(a)+len(b)-1)
	for i, w := range a {
		part := out[i : i+len(b)]
		for j, v := range b {
			part[j] += float64(w * v)
		}
	}
	return out
}

// look fills in what is beyond each value.
func (a *atoms) look() {
	n := len(a.at)
	a.tail, a.beyond = make([]float64, n), make([]float64, n)
	for i := n - 2; i >= 0; i-- {
		a.tail[i] = a.tail[i+1] + a.weight[i+1]
		a.beyond[i] = a.beyond[i+1] + a.tail[i]*max(0, a.at[i+1]-a.at[i])
	}
}

// excess bounds E(V + µ²/2 + µN − ε)₊, V being what the atoms stand for. It ends where what is
// left is little, which grows by at most 1 a unit.
func (a atoms) excess(mu, eps float64) float64 {
	// Every difference below is off by less than this.
	eps -= 1e-14 * (math.Abs(eps) + mu*mu + math.Abs(a.at[len(a.at)-1]))
	given := func(at float64) float64 {
		mean := at + mu*mu/2 - eps
		if mu < 1e-9 {
			return max(mean, 0) + mu
		}
		return mu * call(-mean/mu)
	}
	sum := 0.0
	for i, at := range a.at {
		v := given(at)
		sum += v * a.weight[i]
		if left := v*a.tail[i] + a.beyond[i]; left < 1e-6*sum {
			sum += left
			break
		}
	}
	return (sum+a.rest)*(1+1e-9) + 1e-200
}
