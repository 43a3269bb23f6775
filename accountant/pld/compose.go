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
// ε and δ, sharp near the target, and resolves δ down to about 1e-280. Work grows
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

// composeAll composes every direction of the parts, on all cores. A positive
// guess says what ε to expect.
func composeAll(parts []Part, t Target, below bool, guess float64) []bound {
	if len(parts) == 0 {
		return nil
	}
	sides := 1
	for i := range parts {
		ways := parts[i].Mechanism.directions()
		if ways[0].forward.limit == 1 {
			return []bound{{single: &ways[0], below: below}}
		}
		sides = max(sides, len(ways))
	}
	out := make([]bound, sides)
	var wg sync.WaitGroup
	for side := range out {
		wg.Go(func() { out[side] = newJob(parts, side, t, below).run(guess) })
	}
	wg.Wait()
	return out
}

func newJob(parts []Part, side int, t Target, below bool) job {
	j := job{target: t, below: below}
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

// run composes the job. Where the Rényi bound, which the tilt and the grids
// follow, is far above what to expect, it aims at that, and once more if the
// answer is far below it.
func (j job) run(guess float64) bound {
	if len(j.pairs) == 1 && j.counts[0] == 1 {
		return bound{single: &j.pairs[0], below: j.below}
	}
	p := newPlan(j)
	if guess <= 0 && !j.target.byEpsilon {
		guess = p.saddle()
	}
	if 0 < guess && guess < p.eps/2 {
		p.aimAt(guess)
	}
	p.settle()
	b := p.compose()
	if j.below || j.target.byEpsilon || p.once {
		return b
	}
	if answer := b.epsilon(math.Exp(j.target.logDelta)); 0 < answer && answer < p.eps/2 {
		p.aimAt(answer)
		p.settle()
		b = p.compose()
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
