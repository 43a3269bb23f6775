package pld

import (
	"fmt"
	"math"
	"sync"
)

// Part is a mechanism released Count times, Count ≥ 0.
type Part struct {
	Mechanism Mechanism
	Count     int64
}

// Target is where a composition shall be sharp. The zero Target is invalid.
type Target struct {
	epsilon, logDelta float64
	byEpsilon, set    bool
}

// AtDelta aims a composition at a δ in (0, 1).
func AtDelta(delta float64) Target {
	return Target{logDelta: math.Log(delta), set: delta > 0 && delta < 1}
}

// AtEpsilon aims a composition at an ε ≥ 0.
func AtEpsilon(epsilon float64) Target {
	return Target{epsilon: epsilon, byEpsilon: true, set: epsilon >= 0 && !math.IsInf(epsilon, 1)}
}

// Compose returns the privacy profile of releasing all parts, which must be
// stated under one adjacency, adaptively composed. The result is valid at every
// ε and δ, sharp near the target (far from it, where the other direction may decide,
// within 1e-3 of ε), and resolves δ down to about 1e-280. Work grows
// slowly with counts but linearly with the number of parts: merge equal ones.
// parts is not kept or changed.
func Compose(parts []Part, target Target) (*Result, error) {
	if !target.set {
		return nil, fmt.Errorf("pld: target: must be AtDelta of a number in (0, 1) or AtEpsilon of a finite number ≥ 0")
	}
	live := make([]Part, 0, len(parts))
	for i, p := range parts {
		switch {
		case p.Mechanism.forward == nil:
			return nil, fmt.Errorf("pld: part %d is the zero Mechanism; build one with Gaussian, Laplace, …", i)
		case p.Count < 0:
			return nil, fmt.Errorf("pld: part %d: count %d: must be at least 0", i, p.Count)
		case p.Count > 0 && !p.Mechanism.trivial:
			live = append(live, p)
		}
	}
	live = mergeGaussians(live)
	return &Result{upper: composeAll(live, target, false, 0), parts: live, target: target}, nil
}

// mergeGaussians replaces all unsampled Gaussian parts by the one Gaussian that
// they compose to exactly: squared shifts add (Dong, Roth, Su 2022, Cor. 3.3).
func mergeGaussians(parts []Part) []Part {
	square := 0.0
	out := parts[:0]
	for _, p := range parts {
		if p.Mechanism.mu > 0 {
			square += float64(p.Count) * p.Mechanism.mu * p.Mechanism.mu
		} else {
			out = append(out, p)
		}
	}
	if square > 0 {
		out = append(out, Part{gaussianShift("Gaussian", math.Sqrt(square)), 1})
	}
	return out
}

// leastStay is the least chance that no part escapes of which a grid is made. Below it, all is
// taken to be revealed.
const leastStay = 1e-3

// composeAll composes every direction of the parts, on all cores. A positive
// guess says what ε to expect.
func composeAll(parts []Part, t Target, below bool, guess float64) []bound {
	if len(parts) == 0 {
		return nil
	}
	sides, stays := 1, 1.0
	for i := range parts {
		ways := parts[i].Mechanism.directions()
		if ways[0].forward.limit == 1 {
			return []bound{{single: &ways[0], below: below}}
		}
		sides = max(sides, len(ways))
		stays *= math.Pow(1-max(ways[0].forward.limit, ways[0].backward.limit), float64(parts[i].Count))
	}
	switch {
	case stays >= leastStay:
	case below:
		return nil
	default:
		return []bound{{single: &everything("", false).directions()[0]}}
	}
	plans := make([]plan, sides)
	each(sides, func(side int) { plans[side] = newJob(parts, side, t, below).prepare(guess) })
	if sides == 2 {
		leave(&plans[0], &plans[1])
	}
	return runAll(plans, t)
}

// runAll composes the directions, and once more one that was left to a coarse grid and
// turns out to decide.
func runAll(plans []plan, t Target) []bound {
	out := make([]bound, len(plans))
	each(len(plans), func(side int) { out[side] = plans[side].run() })
	for side := 0; side < len(plans); side++ {
		if p := &plans[side]; p.leeway > accuracy && t.decides(out, side) {
			p.leeway = accuracy
			out[side] = p.run()
			side = -1 // the other may decide now
		}
	}
	return out
}

// each calls f for every direction, on all cores.
func each(sides int, f func(side int)) {
	if sides == 1 {
		f(0)
		return
	}
	var wg sync.WaitGroup
	for side := range sides {
		wg.Go(func() { f(side) })
	}
	wg.Wait()
}

// leave lets the direction that is expected to decide less at the target be bounded on
// a coarser grid, to a part of the difference in ε.
func leave(a, b *plan) {
	if a.alone() {
		return
	}
	gap := b.saddle() - a.saddle()
	if eps := a.target.epsilon; a.target.byEpsilon {
		gap = (b.saddleAt(eps) - a.saddleAt(eps)) / max(a.aimed, b.aimed)
	}
	if gap < 0 {
		a, gap = b, -gap
	}
	a.spare(gap)
}

// decides reports whether side's bound is what a result says at the target.
func (t Target) decides(bounds []bound, side int) bool {
	value := func(b *bound) float64 {
		if t.byEpsilon {
			return b.delta(t.epsilon)
		}
		return b.epsilon(math.Exp(t.logDelta))
	}
	own := value(&bounds[side])
	for other := range bounds {
		if other != side && value(&bounds[other]) > own {
			return false
		}
	}
	return own > 0
}

func newJob(parts []Part, side int, t Target, below bool) job {
	j := job{target: t, below: below, leeway: accuracy}
	for _, p := range parts {
		ways := p.Mechanism.directions()
		j.pairs = append(j.pairs, ways[min(side, len(ways)-1)])
		j.counts = append(j.counts, p.Count)
	}
	if len(parts) == 1 {
		j.lattice, j.knee = parts[0].Mechanism.lattice, parts[0].Mechanism.knee
	}
	return j
}

// alone reports whether the job is a single release, whose profile is its own bound.
func (j job) alone() bool { return len(j.pairs) == 1 && j.counts[0] == 1 }

// prepare sketches the job and aims. Where the Rényi bound, which the tilt and the
// grids follow, is far above what to expect, it aims at that.
func (j job) prepare(guess float64) plan {
	if j.alone() {
		return plan{job: j}
	}
	p := newPlan(j)
	if guess <= 0 && !j.target.byEpsilon {
		guess = p.saddle()
		if p.eps == 0 { // even by the Rényi bound
			guess = math.Inf(-1)
		}
		p.spare(-guess)
	}
	if 0 < guess && guess < p.eps/2 {
		p.aimAt(guess)
	}
	return p
}

// mostHidden is the share of δ that rounding may hide before a composition aims again.
const mostHidden = 1e-3

// run composes a prepared job, and again at its answer where that is far below the aim, or
// where the tilt lets rounding decide: near the end of bounded losses it is aimed too steep.
func (p *plan) run() bound {
	if p.alone() {
		return bound{single: &p.pairs[0], below: p.below}
	}
	p.settle()
	b := p.compose()
	if p.below || p.target.byEpsilon || p.once {
		return b
	}
	delta := math.Exp(p.target.logDelta)
	answer := b.epsilon(delta)
	for range 2 {
		if !(0 < answer && answer < p.eps/2) && !(answer > 0 && b.slip(answer) > mostHidden*delta) {
			break
		}
		p.aimAt(answer)
		p.settle()
		again := p.compose()
		if e := again.epsilon(delta); e < answer {
			b, answer = again, e
		}
	}
	return b
}

// compose discretises and convolves all parts.
func (p *plan) compose() bound {
	ends := make([]term, len(p.pairs))
	stay := 0.0 // log probability of no escape
	for i, count := range p.counts {
		d, escape := p.discretise(i)
		stay += float64(count) * math.Log1p(-escape)
		ends[i] = term{p.repeat(d, count), 1}
	}
	d := ends[0].d
	if len(ends) > 1 {
		d = convolve(ends, nil, p.tau)
	}
	return p.bound(d, -math.Expm1(stay))
}

// repeat composes d with itself count times and ends on the final grid.
func (p *plan) repeat(d *lattice, count int64) *lattice {
	var rest []term // at most one: the remainders of the divisions by radix
	for !p.once && count >= fewest {
		if r := count % radix; r > 0 {
			rest = []term{{p.stage(append(rest, term{d, r}), count), 1}}
		} else if rest != nil {
			rest[0].d = p.coarsen(rest[0].d)
			rest[0].d.normalise()
		}
		d = p.stage([]term{{d, radix}}, count)
		count /= radix
	}
	return convolve(append(rest, term{d, count}), nil, p.tau)
}
