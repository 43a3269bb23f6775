package pld

import (
	"math"
	"sort"
)

// job is one direction of a composition: pairs, how often each, and where the
// answer shall be sharp.
type job struct {
	pairs  []pair
	counts []int64
	target Target
	below  bool // bound from below
	// leeway is the relative excess of ε to aim at.
	leeway float64
	// A single pair's losses may be multiples of lattice, or end at ± knee.
	lattice, knee float64
}

// plan fixes the tilt and the grids of a job.
type plan struct {
	job
	parts []sketch
	aimed float64 // tilt that suits the target
	eps   float64 // the Rényi bound with it

	theta float64 // tilt
	final float64 // step of the grid that all parts end on
	tau   float64 // tilted mass that the whole composition may lose at each end
	once  bool    // one exact lattice, composed at once without coarsening
}

const (
	radix      = 16 // steps composed between two coarsenings of the grid
	coarsening = 4  // √radix: keeps the added variance per stage equal
	fewest     = 32 // compositions of fewer steps are done at once

	accuracy   = 3e-6    // aimed relative excess of ε from all grids together
	coarsest   = 1e-3    // the same of a direction that does not decide
	mostPoints = 1 << 18 // per step distribution or final grid
	escapes    = 1e-7    // share of δ spent on steps' losses beyond the grid
	loses      = 1e-10   // share of δ lost at each end of a window
	steepest   = 5.0     // largest change of the tilt's logarithm from point to point
)

// stages is how often the grid of a part is coarsened, and what remains.
func stages(count float64) (n int, rest float64) {
	for count >= fewest {
		count /= radix
		n++
	}
	return n, count
}

// newPlan sketches the parts and aims the tilt. Steps' profiles are cut where
// they fall below a share of δ, which a target in ε has to find first.
func newPlan(j job) plan {
	p := plan{job: j, parts: make([]sketch, len(j.pairs))}
	total := 0.0
	for _, c := range j.counts {
		total += float64(c)
	}
	logDelta := j.target.logDelta
	if j.target.byEpsilon {
		logDelta = math.Log(1e-12)
	}
	for range 8 {
		level := max(vanishing*1e3, math.Exp(logDelta)*escapes/total)
		for i, pr := range j.pairs {
			p.parts[i] = newSketch(pr, j.counts[i], level)
		}
		var reached float64
		p.aimed, p.eps, reached = aim(p.parts, j.target)
		if reached-5 > logDelta || level <= vanishing*1e3 || !j.target.byEpsilon {
			break
		}
		logDelta = reached - 10
	}
	return p
}

// aimAt moves the aim to eps.
func (p *plan) aimAt(eps float64) {
	p.aimed, p.eps, _ = aim(p.parts, AtEpsilon(eps))
}

// saddle returns what ε to expect at the target's δ, by the saddlepoint formula
// δ ≈ e^(K−θε)/(θ(θ+1)√(2πV)). Nothing rests on it.
func (p *plan) saddle() float64 {
	return (p.saddleAt(0) - p.target.logDelta) / p.aimed
}

// saddleAt returns what log δ to expect at eps, by the formula at the aimed tilt.
func (p *plan) saddleAt(eps float64) float64 {
	p.theta = p.aimed
	logDelta := totalMGF(p.parts, p.theta) - math.Log(p.theta*(p.theta+1)*math.Sqrt(2*math.Pi)*p.width())
	return logDelta - p.theta*eps
}

// scale is the ε that errors are relative to: the aim, or a part of the width where
// nearly none is spent.
func (p *plan) scale() float64 { return max(p.eps, p.width()/30) }

// spare coarsens the grids of a plan that is expected to be gap in ε below what it would
// take to matter.
func (p *plan) spare(gap float64) {
	if leeway := gap / 8 / p.scale(); leeway > p.leeway {
		p.leeway = min(coarsest, leeway)
	}
}

// settle chooses the grids, and the tilt they bear.
func (p *plan) settle() {
	p.theta = p.aimed
	p.final = p.grid()
	if p.lattice > 0 && p.width()*20 < mostPoints*p.lattice {
		p.once, p.final = true, p.lattice
	} else if p.knee > 0 {
		p.final *= p.knee / p.start(0) / math.Ceil(p.knee/p.start(0))
	}
	p.theta = min(p.theta, steepest/p.final)
	p.tau = loses
	if !p.target.byEpsilon {
		worth := totalMGF(p.parts, p.theta) + logShare(p.theta) - p.theta*p.eps
		p.tau = max(1e-250, p.tau*math.Exp(min(0, p.target.logDelta-worth)))
	}
}

// grid returns the final step for which the discretisation, at all stages and
// of all parts, raises ε by about a relative accuracy. A step h used on n
// summands adds variance nh²/6 and half of it, per loss, in mean, hence about
// (θ+1)nh²/12 to ε, and never more than nh.
func (p *plan) grid() float64 {
	second, first, span := 0.0, 0.0, 0.0
	for _, s := range p.parts {
		n, rest := stages(s.count)
		again := 0.0
		if len(p.parts) > 1 {
			again = 1
		}
		second += float64(n+1)*rest + again
		first += s.count*math.Pow(coarsening, -float64(n))*float64(n+1) + again
		span = max(span, (s.x[len(s.x)-1]-s.x[0])*math.Pow(coarsening, float64(n)))
	}
	allowed := p.leeway * p.scale()
	h := max(math.Sqrt(12*allowed/((p.theta+1)*second)), allowed/first)
	most := float64(mostPoints)
	if p.below { // a profile can only be inscribed where it is resolved
		for _, s := range p.parts {
			n, _ := stages(s.count)
			h = min(h, min(-s.x[0], s.x[len(s.x)-1])/8*math.Pow(coarsening, float64(n)))
		}
		most *= 2
	}
	return max(h, span/most, 20*p.width()/most)
}

// width is the standard deviation of the composition's loss under the tilt.
func (p *plan) width() float64 {
	sum := 0.0
	for _, s := range p.parts {
		_, variance := s.moments(p.theta)
		sum += s.count * variance
	}
	return math.Sqrt(sum)
}

// start returns the step that part i starts on.
func (p *plan) start(i int) float64 {
	if p.once {
		return p.final
	}
	n, _ := stages(p.parts[i].count)
	return p.final * math.Pow(coarsening, -float64(n))
}

// discretise connects the dots of one part on its own starting grid. Where the
// tilted mass is small the dots are further apart.
func (p *plan) discretise(i int) (out *lattice, escape float64) {
	pr := p.pairs[i]
	s := p.parts[i]
	h := p.start(i)
	first, last := int(math.Ceil(-s.x[0]/h)), int(math.Ceil(s.x[len(s.x)-1]/h))
	k := s.logMGF(p.theta)
	right := p.sparse(s, k, h, last, +1)
	left := p.sparse(s, k, h, first, -1)
	index := make([]int, 0, len(left)+len(right)+1)
	for j := len(left) - 1; j >= 0; j-- {
		index = append(index, -left[j])
	}
	index = append(append(index, 0), right...)
	x := make([]float64, len(index))
	for j, at := range index {
		x[j] = float64(at) * h
	}
	var d dots
	short := 0.0
	switch {
	case !p.below:
		d = connect(pr, x, half.upper)
	case p.once: // nothing lies between the dots
		d = connect(pr, x, half.lower)
	default:
		d, short = inscribe(pr, x)
	}
	out = &lattice{step: h, first: index[0], mass: make([]float64, index[len(index)-1]-index[0]+1), log: k}
	for j, loss := range d.x {
		if d.p[j] > 0 {
			out.mass[int(math.Round(loss/h))-index[0]] = math.Exp(math.Log(d.p[j]) + p.theta*loss - k)
		}
	}
	out.slip = short * math.Exp(-k)
	out.normalise()
	out.trim(p.tau / s.count)
	return out, d.escape
}

// sparse returns grid points 1 ≤ j ≤ last on one side of 0, ending at last or
// the next multiple: spaced so that the tilted mass beyond a point times the
// squared spacing is small against one squared step, and the spacing small
// against the loss.
func (p *plan) sparse(s sketch, k, h float64, last, sign int) []int {
	beyond := s.beyond(p.theta, k, sign)
	var out []int
	for j := 0; j < last; {
		gap := 1
		for j%(2*gap) == 0 && 256*gap <= j &&
			40*float64(gap*gap)*beyond(float64(j)*h) <= 1 && p.theta*float64(2*gap)*h < 0.5 {
			gap *= 2
		}
		j += gap
		out = append(out, j)
	}
	return out
}

// beyond returns the function x ↦ tilted mass of losses past x on one side.
func (s sketch) beyond(theta, k float64, sign int) func(float64) float64 {
	var x, m []float64
	for i := range s.x {
		j := i
		if sign < 0 {
			j = len(s.x) - 1 - i
		}
		if at := float64(sign) * s.x[j]; at > 0 {
			x = append(x, at)
			m = append(m, 0)
			if s.p[j] > 0 {
				m[len(m)-1] = math.Exp(math.Log(s.p[j]) + theta*s.x[j] - k)
			}
		}
	}
	for i := len(m) - 2; i >= 0; i-- {
		m[i] += m[i+1]
	}
	return func(at float64) float64 {
		i := sort.SearchFloat64s(x, at)
		if i > 0 {
			i-- // the sketch's atoms are rough by one node
		}
		if i >= len(m) {
			return 0
		}
		return m[i]
	}
}
