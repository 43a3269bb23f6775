package proptest

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/targets"
)

// sizes are magnitudes at which a coordinate is looked at in turn.
var sizes = []float64{0, 1e-8, 1e-3, 0.03, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 12,
	12.5, 15, 18, 20, 25, 30,
	35, 40, 50, 75, 100, 250, 700, 800, 1e3, 1e4, 9e4, 1.1e5, 1e6, 1e8}

// magnitudes are factors of records whose squares overflow, or are lost.
var magnitudes = []float64{5e-324, 1e-310, 1e-250, 1e-165, 1e-100, 1e100, 1e155, 1e165, 1e250, 1e300}

// replies are turned into responses that a continuous draw never hits.
var replies = []float64{0, 1, -1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20, 25, 30, 50, 64, 0.5, 1.5, 100,
	-100, 128, 170, 171, 255, 256, math.Copysign(0, -1)}

// counts are whole responses beyond which the types of computers end.
var counts = []float64{127, 129, 1000, 1024, 32_767, 32_768, 65_535, 65_536, 1e6, 1<<24 + 1, 1<<31 - 1, 1 << 31,
	3e9, 1<<32 - 1, 1 << 32, 1e10, 1e12}

// codes are what tables write for a value that is missing or refused, which a target may take for
// one in one place and for a number in another.
var codes = []float64{-9, -99, -999, -9999, 88, 98, 99, 888, 998, 999, 9999, 99_999}

// scene is one place to look at a target: a move and one record.
type scene struct {
	theta, next []float64
	z           targets.Rows
	// usual says that z is as Record draws it; plausible that theta is as State
	// does too, so that the loss must be finite.
	usual, plausible bool
}

func (s scene) String() string {
	return "θ = " + text(s.theta) + ", θ′ = " + text(s.next) + ", " + describe(s.z)
}

// still is a scene of which a move is no part.
func (s scene) still() string { return "θ = " + text(s.theta) + ", " + describe(s.z) }

func (s scene) clone() scene {
	return scene{slices.Clone(s.theta), slices.Clone(s.next), cloneRows(s.z), s.usual, s.plausible}
}

// stage makes scenes of one target.
type stage struct {
	o        TargetOptions
	target   targets.Target
	rng      *rand.Rand
	d, p     int
	response bool
	unit     []float64 // of each parameter
	unitX    []float64 // and of each feature
}

func (o TargetOptions) stage(target targets.Target, purpose uint64) stage {
	p, response := target.Shape()
	g := stage{o: o, target: target, rng: rand64(o.Seed, purpose), d: target.Dim(), p: p, response: response}
	g.measure()
	return g
}

// random makes a scene of any kind.
func (g stage) random() scene {
	s := scene{z: g.record()}
	var near bool
	s.theta, near = g.place()
	usual := g.rng.IntN(3) > 0
	if !usual {
		g.distort(s)
	}
	s.usual, s.plausible = usual, near && usual
	s.next = g.move(s)
	return s
}

// plain is a plausible scene whose move is drawn like its start.
func (g stage) plain() scene {
	return scene{g.o.state(g.rng, g.target), g.o.state(g.rng, g.target), g.record(), true, true}
}

// record draws a plausible record.
func (g stage) record() targets.Rows { return g.o.plausible(g.rng, g.target, 1) }

// place draws parameters, and says whether they are plausible.
func (g stage) place() (theta []float64, plausible bool) {
	theta = g.o.state(g.rng, g.target)
	switch j := g.rng.IntN(g.d); g.rng.IntN(9) {
	case 0:
		theta[j] = g.unit[j] * max(-1e3, min(g.size(), 1e3))
	case 1:
		for k := range theta {
			theta[k] *= 4 * g.rng.Float64()
		}
	case 2:
		theta[j] *= 8 * g.rng.Float64()
	case 3:
		clear(theta)
	case 4:
		if s, ok := g.target.(targets.PriorSampler); ok {
			drawn := slices.Clone(theta)
			if s.SamplePrior(drawn, g.rng); !slices.ContainsFunc(drawn, func(v float64) bool { return !finite(v) }) {
				return drawn, false
			}
		}
	case 5: // extremes of several draws, coordinate by coordinate
		for range 20 {
			other := g.o.state(g.rng, g.target)
			k := g.rng.IntN(g.d)
			if math.Abs(other[k]) > math.Abs(theta[k]) {
				theta[k] = other[k]
			}
		}
	default:
		return theta, true
	}
	return theta, false
}

func (g stage) size() float64 { return anySize(g.rng) }

// anySize is a magnitude of the list, or between two, of either sign.
func anySize(rng *rand.Rand) float64 {
	v := sizes[rng.IntN(len(sizes))]
	if rng.IntN(2) == 0 {
		v *= 0.8 + 0.4*rng.Float64()
	}
	if rng.IntN(2) == 0 {
		return -v
	}
	return v
}

// distort makes a scene's record one that Record would not draw.
func (g stage) distort(s scene) {
	if g.response && g.rng.IntN(2) == 0 {
		s.z.Y[0] = g.o.Response(replies[g.rng.IntN(len(replies))])
	}
	if g.p == 0 {
		return
	}
	x, j := s.z.X, g.rng.IntN(g.p)
	switch g.rng.IntN(7) {
	case 0:
		x[j] = g.unitX[j] * g.size()
	case 1: // one feature alone
		v := g.unitX[j] * g.size()
		clear(x)
		x[j] = v
	case 2: // all alike
		fill(x, g.unitX[j]*g.size())
	case 3: // along the parameters, with a predictor of the list
		if len(s.theta) == g.p {
			if n := norm(s.theta); n > 0 {
				v := g.size()
				for k, t := range s.theta {
					x[k] = t / n * v / n
				}
			}
		}
	case 4:
		times(x, math.Abs(g.size()))
	case 5:
		clear(x)
	case 6:
		for k := range x {
			x[k] = math.Round(x[k])
		}
	}
}

// lengths of moves.
var lengths = []float64{1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.3, 1, 3, 10}

// move draws where a chain may want to go: near, far, along one coordinate,
// along the record, back, nowhere.
func (g stage) move(s scene) []float64 {
	next := slices.Clone(s.theta)
	length := lengths[g.rng.IntN(len(lengths))] * (0.5 + g.rng.Float64())
	switch g.rng.IntN(8) {
	case 0:
		return g.o.state(g.rng, g.target)
	case 1, 2, 3:
		j := g.rng.IntN(g.d)
		next[j] += g.unit[j] * length * g.rng.NormFloat64()
	case 4:
		for j := range next {
			next[j] += g.unit[j] * length * g.rng.NormFloat64()
		}
	case 5:
		if g.p > 0 {
			if n := norm(s.z.X); n > 0 && !math.IsInf(n, 0) {
				for j := range min(g.d, g.p) {
					next[j] += g.unit[j] * length * s.z.X[j] / n
				}
			}
		}
	case 6:
		j := g.rng.IntN(g.d)
		next[j] = -next[j]
	}
	return next
}

// scans visits every coordinate of the parameters and of the record, and the
// response, at every size in turn, the rest being plausible.
func (g stage) scans(visit func(scene)) {
	for _, sign := range []float64{1, -1} {
		for _, v := range sizes {
			for j := range g.d {
				if v > 1e3 {
					break // losses of sums of squares lose their digits
				}
				s := g.plain()
				s.theta[j], s.plausible = sign*v*g.unit[j], false
				s.next = g.move(s)
				visit(s)
			}
			for j := range g.p {
				s := g.plain()
				s.z.X[j], s.usual, s.plausible = sign*v*g.unitX[j], false, false
				s.next = g.move(s)
				visit(s)
			}
		}
	}
	for _, v := range magnitudes {
		s := g.plain()
		times(s.z.X, v)
		s.usual, s.plausible = false, false
		visit(s)
		if g.response && v < 1 { // what is left of them and a response may be lost, too
			tiny := s.clone()
			tiny.z.Y[0] = g.o.Response(v * g.rng.NormFloat64())
			visit(tiny)
		}
		for j := range g.p {
			one := g.plain()
			one.z.X[j] *= v
			one.usual, one.plausible = false, false
			visit(one)
		}
	}
	g.zeros(visit)
	g.muted(visit)
	g.missing(visit)
	g.exact(visit)
	g.fitted(visit)
	g.met(visit)
	g.remade(visit)
	g.akin(visit)
	g.coded(visit)
	g.paired(visit)
	if g.response {
		for _, v := range replies {
			for range 20 {
				s := g.plain()
				s.z.Y[0], s.usual, s.plausible = g.o.Response(v), false, false
				s.next = g.move(s)
				visit(s)
			}
		}
		for _, v := range counts {
			for _, y := range []float64{v, -v} {
				s := g.plain()
				s.z.Y[0], s.usual, s.plausible = g.o.Response(y), false, false
				visit(s)
			}
		}
	}
}

// fitted visits records whose response is what a linear model of them says, exactly: parameters
// of one 1 and 0 beside it, or of all 0. Where Record is the default they are as usual as others.
func (g stage) fitted(visit func(scene)) {
	if !g.response {
		return
	}
	for j := range min(g.d, 8) {
		for k := range min(g.p, 8) + 1 {
			s := g.plain()
			clear(s.theta)
			y := 0.0
			if k < g.p {
				s.theta[j], y = g.unit[j], g.unit[j]*s.z.X[k]
			}
			s.z.Y[0] = g.o.Response(y)
			s.usual, s.plausible = g.o.standard && s.z.Y[0] == y, false
			visit(s)
		}
	}
}

// muted visits records with a number that is infinite, where a parameter that may go with
// it is 0 before and after the move.
func (g stage) muted(visit func(scene)) {
	for j := range min(g.p, 8) {
		for k := range min(g.d, 8) {
			for _, v := range []float64{math.Inf(1), math.Inf(-1)} {
				s := g.plain()
				s.theta[k], s.next[k], s.z.X[j] = 0, 0, v
				s.usual, s.plausible = false, false
				visit(s)
			}
		}
	}
}

// missing visits records of which one number is missing, two are, or all features, which a target may
// make up for in one place and not in another.
func (g stage) missing(visit func(scene)) {
	lose := func(places ...int) {
		s := g.plain()
		for _, j := range places {
			switch {
			case j < g.p:
				s.z.X[j] = math.NaN()
			case g.response:
				s.z.Y[0] = math.NaN()
			}
		}
		s.usual, s.plausible = false, false
		s.next = g.move(s)
		visit(s)
	}
	all := make([]int, g.p)
	for j := range g.p + 1 {
		for range 3 {
			lose(j)
		}
		for k := range min(j, 8) {
			lose(j, k)
		}
		if j < g.p {
			all[j] = j
		}
	}
	lose(all...)
}

// decimals are tenths up to 3, whole numbers up to 400, years and thirds.
func decimals() (all []float64) {
	for k := 1; k <= 30; k++ {
		all = append(all, float64(k)/10)
	}
	for k := range 401 {
		all = append(all, float64(k))
	}
	for k := 1950; k <= 2030; k++ {
		all = append(all, float64(k))
	}
	return append(all, 1./3, 2./3)
}

// exact visits records one of whose numbers is a whole one, a year, or one of a decimal place, at which tables and
// branches begin and end, and which a continuous draw never hits.
func (g stage) exact(visit func(scene)) {
	if g.o.Effort < Standard {
		return
	}
	places := someOf(g.p, 4)
	if g.response {
		places = append(places, g.p)
	}
	for _, v := range decimals() {
		for _, j := range places {
			for _, v := range []float64{v, -v} {
				s := g.plain()
				if j < g.p {
					s.z.X[j] = v
					times(s.theta, 1/max(1, math.Abs(v)/100)) // or exponentials of products may overflow
				} else {
					s.z.Y[0] = g.o.Response(v)
				}
				s.usual, s.plausible = false, false
				s.next = g.move(s)
				visit(s)
			}
		}
	}
}

// coded visits records of which a feature, two features, or the response is what stands for a missing
// number.
func (g stage) coded(visit func(scene)) {
	for _, v := range codes {
		for j := range g.p + 1 {
			for k := range min(j, 8) + 1 {
				s := g.plain()
				switch {
				case j < g.p:
					s.z.X[j] = v
				case g.response:
					s.z.Y[0] = g.o.Response(v)
				}
				if k < j {
					s.z.X[k] = v
				}
				s.usual, s.plausible = false, false
				s.next = g.move(s)
				visit(s)
			}
		}
	}
}

// met visits moves from the record's own features, onto them, and of none, where there are as many
// parameters as features.
func (g stage) met(visit func(scene)) {
	if g.p != g.d {
		return
	}
	for i := range 6 {
		s := g.plain()
		if i%3 != 1 {
			copy(s.theta, s.z.X)
		}
		if i%3 != 0 {
			copy(s.next, s.z.X)
		}
		s.plausible = false
		visit(s)
	}
}

// remade visits moves to what is made of the start's own numbers, and back: nothing, their negatives, halves,
// another order, the largest for all. Or both are whole numbers.
func (g stage) remade(visit func(scene)) {
	for i := range 6 {
		for range 4 {
			s := g.plain()
			copy(s.next, s.theta)
			switch i {
			case 0:
				clear(s.next)
			case 1:
				times(s.next, -1)
			case 2:
				times(s.next, 0.5)
			case 3:
				slices.Reverse(s.next)
			case 4:
				fill(s.next, slices.Max(s.theta))
			case 5:
				for j := range s.theta {
					s.theta[j] = math.Round(s.theta[j]/g.unit[j]) * g.unit[j]
					s.next[j] = s.theta[j] + float64(g.rng.IntN(7)-3)*g.unit[j]
				}
			}
			s.plausible = false
			visit(s)
			s.theta, s.next = s.next, s.theta
			visit(s)
		}
	}
}

// akin visits scenes with a number that is made of another: parameters, or features and the response. Or all
// parameters, or features, have the length 1.
func (g stage) akin(visit func(scene)) {
	see := func(change func(s scene)) {
		s := g.plain()
		change(s)
		s.usual, s.plausible = false, false
		s.next = g.move(s)
		visit(s)
	}
	for _, line := range [][2]float64{{1, 0}, {-1, 0}, {2, 0}, {0.5, 0}, {-1, 1}} {
		made := func(v float64) float64 { return line[0]*v + line[1] }
		for _, i := range someOf(g.d, 4) {
			for _, j := range someOf(g.d, 4) {
				see(func(s scene) { s.theta[i] = made(s.theta[j]) })
			}
		}
		for _, j := range someOf(g.p, 4) {
			for _, i := range someOf(g.p, 4) {
				see(func(s scene) { s.z.X[i] = made(s.z.X[j]) })
			}
			if g.response {
				see(func(s scene) { s.z.Y[0] = g.o.Response(made(s.z.X[j])) })
			}
		}
	}
	for range 4 {
		see(func(s scene) { shorten(s.theta) })
		see(func(s scene) { shorten(s.z.X) })
	}
}

// shorten makes a vector one of length 1.
func shorten(v []float64) {
	if n := norm(v); n > 0 && finite(n) {
		times(v, 1/n)
	}
}

// paired visits parameters of which two are large: enough for their exponentials to be, or beyond where those end.
func (g stage) paired(visit func(scene)) {
	large := []float64{7, -7, 40, -40, 800, -800}
	some := someOf(g.d, 4)
	for i, j := range some {
		for _, k := range some[:i] {
			for _, v := range large {
				for _, w := range large {
					s := g.plain()
					s.theta[j], s.theta[k], s.plausible = v*g.unit[j], w*g.unit[k], false
					s.next = g.move(s)
					visit(s)
				}
			}
		}
	}
}

// zeros visits plausible records some of whose features, or all, are 0. Where plausible
// features are of either sign, so that 0 lies among them, those are plausible too.
func (g stage) zeros(visit func(scene)) {
	below, above := make([]bool, g.p), make([]bool, g.p)
	for range 50 {
		for j, x := range g.record().X {
			below[j], above[j] = below[j] || x < 0, above[j] || x > 0
		}
	}
	for from := range g.p {
		for _, to := range []int{from + 1, g.p} {
			s := g.plain()
			for j := from; j < to; j++ {
				if below[j] && above[j] {
					s.z.X[j] = 0
				}
			}
			visit(s)
		}
	}
}

// each visits the scans and then n scenes of any kind.
func (g stage) each(n int, visit func(scene)) {
	g.scans(visit)
	for range n {
		visit(g.random())
	}
}
