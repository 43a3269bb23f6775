package surrogates

import "math"

// powers are E[g·u₁ᵖ·u₂^q] of a function g of two independent standard normals, p + q ≤ 3 or less.
type powers [4][4]float64

// integrals are powers of a slope's mean and variance at the anchor, and of their derivatives in
// the predictor at theta.
type integrals struct{ slope, variance, dSlope, dVariance powers }

// highestPower is one more than the highest power that anyone asks of each.
var highestPower = [4]int{2, 3, 3, 4}

// predictors is the normal law of the linear predictors: at theta at + along·u₁ + own·u₂, u₁
// that at the anchor.
type predictors struct{ at, along, own float64 }

// over sets the integrals of a response, by the trapezoid rule.
func (in *integrals) over(p predictors, slopes *slopes) {
	*in = integrals{}
	inner, total := nodesFor(1.5*p.own/slopes.sharp), 1.0
	var by smoothing
	if slopes.jumps != nil {
		by = smoothingBy(p.own)
	} else {
		total = inner.total
	}
	scale := 1 / (slopes.outer.total * total)
	for i := range slopes.at {
		u1 := slopes.outer.at(i)
		eta := p.at + p.along*u1
		var sums [4][4]float64
		if slopes.jumps != nil {
			sums = slopes.smoothed(i, eta, &by)
		} else {
			sums = slopes.across(i, eta, p.own, inner)
		}
		for k, to := range []*powers{&in.slope, &in.variance, &in.dSlope, &in.dVariance} {
			w := slopes.outer.weights[i] * scale
			for a := range highestPower[k] {
				for q := range highestPower[k] - a {
					to[a][q] += w * sums[k][q]
				}
				w *= u1
			}
		}
	}
}

// across sums over predictors eta + own·u₂ at theta, by function and power of u₂.
func (s *slopes) across(i int, eta, own float64, inner *nodes) (sums [4][4]float64) {
	for n, w := range inner.weights {
		u := inner.at(n)
		m, v, dm, dv := s.slope(i, eta+own*u)
		for q := range 4 {
			sums[0][q] += w * m
			sums[1][q] += w * v
			sums[2][q] += w * dm
			sums[3][q] += w * dv
			w *= u
		}
	}
	return sums
}

// slopes are the law of a response's slope at nodes of the predictor at the anchor, in a table
// over predictors at theta.
type slopes struct {
	link  Link
	outer *nodes
	at    []float64 // at the anchor
	sharp float64   // over how many predictors the law changes
	lower float64   // end of the table
	step  float64
	cells [][4]float64 // as Link.Slope, first by node; nil where each is worked out when it is asked for
	each  int          // cells of a node
	jumps [][2]float64 // in place of cells, of halved logistic slopes: that of y = 0, and what y = 1 has less
}

// Predictors of which tables are made. Beyond them little changes. What does is worked out.
const (
	lowest, highest = -12, 12
	flat            = 1e-4 // of a slope's law
)

// newSlopes are those of a response at predictors mean + sd·u₁ at the anchor. A table is for many parameters: of one
// hardly a tenth of its cells is asked for.
func newSlopes(link Link, mean, sd float64, table bool) *slopes {
	top := float64(highest)
	s := &slopes{link: link, outer: nodesFor(4 * sd), sharp: 1, lower: lowest}
	if link == (halved{}) { // with no kink, and poles at ±πi/2
		s.outer = nodesFor(2 * sd)
		for i := range s.outer.weights {
			at := mean + sd*s.outer.at(i)
			a1, a0 := halvedSlopes(at)
			s.at, s.jumps = append(s.at, at), append(s.jumps, [2]float64{a0, a0 + a1})
		}
		return s
	}
	if f, ok := countOf(link); ok {
		top = min(top, math.Log(1+f.most)+5)
		s.sharp = f.sharpness(mean + 2*sd)
	}
	s.step = max(s.sharp/8, (top-s.lower)/1000)
	s.each = int(math.Ceil((top-s.lower)/s.step)) + 1
	for i := range s.outer.weights {
		s.at = append(s.at, mean+sd*s.outer.at(i))
	}
	if table {
		s.tabulate()
	}
	return s
}

// tabulate fills in the cells. Anchors share what is known of counts at a predictor.
func (s *slopes) tabulate() {
	s.cells = make([][4]float64, len(s.at)*s.each)
	counted, ok := s.link.(tabled)
	var drawn tails
	if ok {
		drawn = counted.drawn()
	}
	for k := range s.each {
		eta := s.lower + float64(k)*s.step
		if ok {
			drawn.move(eta)
		}
		for i, at := range s.at {
			c := &s.cells[i*s.each+k]
			if ok {
				c[0], c[1], c[2], c[3] = counted.given(drawn, at)
			} else {
				c[0], c[1], c[2], c[3] = s.link.Slope(at, eta)
			}
		}
	}
}

// slope is Link.Slope at node i by cubic interpolation, with the derivatives of that.
func (s *slopes) slope(i int, eta float64) (mean, variance, dMean, dVariance float64) {
	if s.cells == nil {
		return s.link.Slope(s.at[i], eta)
	}
	x := (eta - s.lower) / s.step
	cells := s.cells[i*s.each : (i+1)*s.each]
	if !(x >= 0 && x < float64(s.each-1)) {
		end := &cells[0]
		if x > 0 {
			end = &cells[s.each-1]
		}
		if math.Abs(end[2])+math.Abs(end[3]) < flat {
			return end[0], end[1], 0, 0
		}
		return s.link.Slope(s.at[i], eta)
	}
	k := int(x)
	a, b := &cells[k], &cells[k+1]
	x -= float64(k)
	mean, dMean = s.between(x, a[0], b[0], a[2], b[2])
	variance, dVariance = s.between(x, a[1], b[1], a[3], b[3])
	return mean, variance, dMean, dVariance
}

// between is the cubic with values f and g and slopes df and dg at the ends of a cell, and its
// slope, at x of it.
func (s *slopes) between(x, f, g, df, dg float64) (v, slope float64) {
	df, dg = df*s.step, dg*s.step
	rise := g - f
	c, d := 3*rise-2*df-dg, df+dg-2*rise
	return f + x*(df+x*(c+x*d)), (df + x*(2*c+x*3*d)) / s.step
}

// weightsOver are the powers of the loss's mean second derivative, of responses drawn at linear
// predictors mean + sd·u₁.
func weightsOver(mean, sd float64, link Link) (out powers) {
	n := nodesFor(4 * max(1, sd))
	for i, w := range n.weights {
		u := n.at(i)
		at := mean + sd*u
		w *= link.Weight(at, at) / n.total
		for p := range 3 {
			out[p][0] += w
			w *= u
		}
	}
	out[0][2] = out[0][0]
	return out
}

// nodes of the trapezoid rule for a standard normal, between ±farSD.
type nodes struct {
	weights     []float64
	step, total float64
}

// Nodes are at most one standard deviation apart. Very far predictors have no more than mostNodes.
const (
	farSD     = 6
	mostNodes = 64 // on either side
)

// rules are the nodes by their number on either side.
var rules = func() (out [mostNodes + 1]nodes) {
	for half := range out {
		n := nodes{weights: make([]float64, 2*half+1), step: farSD / max(1, float64(half))}
		for i := range n.weights {
			u := float64(i-half) * n.step
			n.weights[i] = math.Exp(-u * u / 2)
			n.total += n.weights[i]
		}
		out[half] = n
	}
	return out
}()

// nodesFor are those for functions of sd·u that are smooth over one unit: the error is below
// 10⁻⁸.
func nodesFor(sd float64) *nodes {
	if !(sd > 0) {
		return &rules[0]
	}
	return &rules[int(min(mostNodes, math.Ceil(farSD*max(1, sd))))]
}

// at is node i.
func (n *nodes) at(i int) float64 { return float64(i-len(n.weights)/2) * n.step }

// sharpness is over how many predictors the law of a count changes at one of them: that of a
// large mean is narrow.
func (f counts) sharpness(at float64) float64 {
	m := min(mean(at), f.most)
	return max(0.05, 1/math.Sqrt(1+m/(1+f.w*m)))
}
