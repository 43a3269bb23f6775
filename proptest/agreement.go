package proptest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/targets"
)

// evaluator evaluates a target at one record without allocating.
type evaluator struct {
	stage
	linear     targets.LinearTarget // nil for others, as are the next four
	ratio      targets.RatioTarget
	grad       targets.GradTarget
	complex    ComplexTarget
	bound      targets.RatioCertificate
	one, onto  []float64
	gradient   []float64
	shaken     []float64
	floor      float64 // of the log prior at parameters where a loss must be a number
	reach      []float64
	complexOne []complex128
	usual      targets.Rows // a plausible record
	summed     targets.Rows // what a sum was last wrong over
}

func newEvaluator(g stage) *evaluator {
	e := &evaluator{stage: g, one: make([]float64, 1), onto: make([]float64, 1), gradient: make([]float64, g.d),
		shaken: make([]float64, g.d),
		reach:  make([]float64, g.d), complexOne: make([]complex128, 1)}
	e.linear, _ = g.target.(targets.LinearTarget)
	e.ratio, _ = g.target.(targets.RatioTarget)
	e.grad, _ = g.target.(targets.GradTarget)
	e.complex, _ = g.target.(ComplexTarget)
	e.bound, _ = g.target.(targets.RatioCertificate)
	e.floor, e.usual = math.Inf(1), g.record()
	for range 200 {
		theta := g.o.state(g.rng, g.target)
		e.floor = min(e.floor, g.target.LogPrior(theta)-20)
		for j, t := range theta {
			e.reach[j] = max(e.reach[j], 10*math.Abs(t))
		}
	}
	return e
}

func (e *evaluator) loss(theta []float64, z targets.Rows) float64 {
	e.o.watch.goesOn()
	e.target.Loss(e.one, theta, z)
	return e.one[0]
}

// rounding is what the loss at theta owes to the rounding of theta's products:
// how far it moves when every coordinate does by a few units of its last place.
func rounding(target targets.Target, theta []float64, z targets.Rows) float64 {
	l, worst, shaken := lossOf(target, theta, z)[0], 0.0, make([]float64, len(theta))
	for shake := range 4 {
		for j, t := range theta {
			sign := float64(1 - 2*((shake>>(j%2))&1))
			shaken[j] = t * (1 + sign*4e-16)
		}
		worst = max(worst, math.Abs(lossOf(target, shaken, z)[0]-l))
	}
	return 10 * worst
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// A law of a scene says what is wrong, or nothing.
type sceneLaw struct {
	name  string
	holds func(e *evaluator, s scene) string
	// test is how a reader sees the failure: lines of Go over theta, next and rows.
	test []string
}

var sceneLaws = []sceneLaw{
	{"finite", (*evaluator).isFinite, []string{
		"dst := make([]float64, 1)",
		"target.Loss(dst, theta, rows)",
		"if math.IsNaN(dst[0]) || math.IsInf(dst[0], 0) {",
		"\tt.Error(dst[0])",
		"}"}},
	{"ratio", (*evaluator).ratioAgrees, []string{
		"now, then, ratio := make([]float64, 1), make([]float64, 1), make([]float64, 1)",
		"target.Loss(now, theta, rows)",
		"target.Loss(then, next, rows)",
		"target.LossRatio(ratio, theta, next, rows)",
		"if math.Abs(ratio[0]-(now[0]-then[0])) > 1e-11*(math.Abs(now[0])+math.Abs(then[0])) {",
		"\tt.Error(ratio[0], now[0]-then[0])",
		"}"}},
	{"counted ratio", (*evaluator).ratioCounts, []string{
		"now, then, ratio := make([]float64, 1), make([]float64, 1), make([]float64, 1)",
		"target.Loss(now, theta, rows)",
		"target.Loss(then, next, rows)",
		"target.LossRatio(ratio, theta, next, rows)",
		"want := now[0] - then[0]",
		"if math.IsNaN(want) != math.IsNaN(ratio[0]) || math.IsInf(want, 0) && !(want*ratio[0] > 0) {",
		"\tt.Error(ratio[0], want)",
		"}"}},
	{"counted gradient", (*evaluator).gradientCounts, []string{
		"dst, gradient := make([]float64, 1), make([]float64, target.Dim())",
		"target.Loss(dst, theta, rows)",
		"target.LossGrad(gradient, theta, rows)",
		"for j, got := range gradient {",
		"\tif math.IsNaN(dst[0]) && got != 0 && !math.IsNaN(got) {",
		"\t\tt.Errorf(\"parameter %d: %v, and the loss is no number\", j, got)",
		"\t}",
		"}"}},
	{"gradient", (*evaluator).gradientAgrees, []string{
		"gradient := make([]float64, target.Dim())",
		"target.LossGrad(gradient, theta, rows)",
		"for j, got := range gradient {",
		"\tconst h = 1e-4 // central differences of fourth order",
		"\tf := func(by float64) float64 {",
		"\t\tat, dst := slices.Clone(theta), make([]float64, 1)",
		"\t\tat[j] += by",
		"\t\ttarget.Loss(dst, at, rows)",
		"\t\treturn dst[0]",
		"\t}",
		"\twant := (8*(f(h)-f(-h)) - (f(2*h) - f(-2*h))) / (12 * h)",
		"\tif math.Abs(got-want) > 1e-6*math.Abs(want) {",
		"\t\tt.Errorf(\"parameter %d: %v, differences give %v\", j, got, want)",
		"\t}",
		"}"}},
	{"linear", (*evaluator).predictorAgrees, []string{
		"eta, dst := []float64{0}, make([]float64, 1)",
		"for j, x := range rows.X {",
		"\teta[0] += x * theta[j]",
		"}",
		"target.Loss(dst, theta, rows)",
		"target.LossAt(eta, eta, rows.Y)",
		"if math.Abs(dst[0]-eta[0]) > 1e-9*(1+math.Abs(dst[0])) {",
		"\tt.Error(dst[0], eta[0])",
		"}"}},
	{"sum", (*evaluator).sumAgrees, sumTest},
	{"bounds", (*evaluator).boundsHold, nil}, // see boundTests
	{"prior", (*evaluator).priorAgrees, []string{
		"gradient := make([]float64, target.Dim())",
		"target.GradLogPrior(gradient, theta)",
		"for j, got := range gradient {",
		"\tconst h = 1e-4",
		"\tafter, before := slices.Clone(theta), slices.Clone(theta)",
		"\tafter[j], before[j] = theta[j]+h, theta[j]-h",
		"\tif want := (target.LogPrior(after) - target.LogPrior(before)) / (2 * h); math.Abs(got-want) > " +
			"1e-6*math.Abs(want) {",
		"\t\tt.Errorf(\"parameter %d: %v, differences give %v\", j, got, want)",
		"\t}",
		"}",
		"_ = rows"}},
}

// boundTests are how a reader sees a certificate's violation, by the certificate.
var boundTests = map[string][]string{
	"ratio": append(slices.Clone(twoLosses), "bound := target.RatioBound(theta, next, RADIUS)",
		"if got := math.Abs(now[0] - then[0]); got > bound {", "\tt.Error(got, bound)", "}"),
	"symmetry": {"there, back := target.RatioBound(theta, next, RADIUS), target.RatioBound(next, theta, RADIUS)",
		"if math.Abs(there-back) > 1e-9*(there+back) {", "\tt.Error(there, back)", "}", "_ = rows"},
	"move": append(slices.Clone(twoLosses), "along := 0.0", "for j, x := range rows.X {",
		"\talong += x * (next[j] - theta[j])", "}",
		"if got, bound := math.Abs(now[0]-then[0]), target.PredictorLipschitz()*math.Abs(along); got > bound {",
		"\tt.Error(got, bound)", "}"),
	"Lipschitz": {"slope := []float64{0}", "for j, x := range rows.X {", "\tslope[0] += x * theta[j]", "}",
		"if target.SlopeAt(slope, slope, rows.Y); math.Abs(slope[0]) > target.PredictorLipschitz() {",
		"\tt.Error(slope[0], target.PredictorLipschitz())", "}"},
}

var twoLosses = []string{"now, then := make([]float64, 1), make([]float64, 1)", "target.Loss(now, theta, rows)",
	"target.Loss(then, next, rows)"}

// implausible is what to do about a record that cannot occur.
const implausible = "; if there are no such records or parameters, say what there is in TargetOptions' Response, " +
	"Record and State (Response: math.Abs for positive responses)"

// isFinite expects plausible parameters and records to have finite losses, and
// parameters of the prior's tail to have losses that are numbers.
func (e *evaluator) isFinite(s scene) string {
	l := e.loss(s.theta, s.z)
	if s.plausible && !finite(l) {
		return fmt.Sprintf("Loss of a plausible record is %v at %v%s", l, s.still(), implausible)
	}
	if math.IsNaN(l) && s.usual && e.target.LogPrior(s.theta) >= e.floor && e.within(s.theta) {
		return fmt.Sprintf("Loss of a plausible record is NaN at %v, which the prior allows (log density %.3g); give it "+
			"the density 0 there, or the loss a value%s", s.still(), e.target.LogPrior(s.theta), implausible)
	}
	if !finite(l) {
		return e.lossIsLost(s, l)
	}
	known := s.plausible || s.usual && finite(l) && e.target.LogPrior(s.theta) >= e.floor && e.within(s.theta)
	if e.grad == nil || !known {
		return ""
	}
	e.grad.LossGrad(e.gradient, s.theta, s.z)
	for j, v := range e.gradient {
		if math.IsNaN(v) || s.plausible && !finite(v) {
			return fmt.Sprintf("LossGrad of a plausible record is %v in parameter %d at %v%s", v, j, s.still(), implausible)
		}
	}
	return ""
}

func (e *evaluator) within(theta []float64) bool {
	for j, t := range theta {
		if math.Abs(t) > e.reach[j] {
			return false
		}
	}
	return true
}

// ratioAgrees compares LossRatio with the difference of losses, where finite.
func (e *evaluator) ratioAgrees(s scene) string {
	if e.ratio == nil {
		return ""
	}
	e.ratio.LossRatio(e.onto, s.theta, s.next, s.z)
	got := e.onto[0]
	a, b := e.loss(s.theta, s.z), e.loss(s.next, s.z)
	if !finite(a) || !finite(b) || math.Abs(got-(a-b)) <= 1e-12*(math.Abs(a)+math.Abs(b))+1e-13 {
		return ""
	}
	if math.Abs(got-(a-b)) <= 1e-12*(math.Abs(a)+math.Abs(b))+1e-13+
		rounding(e.target, s.theta, s.z)+rounding(e.target, s.next, s.z) {
		return ""
	}
	return fmt.Sprintf("LossRatio is %v, the losses are %v and %v, a difference of %v, at %v", got, a, b, a-b, s)
}

// checkScenes holds the laws at scans and random scenes, and shrinks what breaks
// one.
func checkScenes(t rapid.TB, target targets.Target, o TargetOptions) {
	t.Helper()
	e := newEvaluator(o.stage(target, 20))
	var broken *scene // reported below: from within a callback its line would be named
	e.each(o.Effort.times(30_000, 1500), func(s scene) {
		if broken == nil && e.breaks(s) {
			broken = &s
		}
	})
	if broken != nil {
		e.hold(t, *broken)
	}
}

// report shrinks a scene, and reports it with a test that shows it.
func (e *evaluator) report(t rapid.TB, l sceneLaw, s scene) {
	t.Helper()
	s = e.shrunk(s, func(s scene) bool { return l.holds(e, s) != "" })
	said, lines, rows := l.holds(e, s), l.test, s.z
	if l.name == "sum" {
		rows = e.summed
	}
	if lines == nil {
		certificate, _, _ := strings.Cut(said, ":")
		lines, rows = boundTests[certificate], e.projected(s.z)
	}
	head := []string{"target := yourTarget", "theta, next := " + source(s.theta) + ", " + source(s.next),
		"rows := " + sourceOfRows(rows), "_ = next"}
	test := strings.ReplaceAll(goTest(append(head, lines...)...), "RADIUS", fmt.Sprint(e.o.Radius))
	fatalf(t, "%s (Seed %d)%s", said, e.o.Seed, test)
}

// shrunk makes a scene as plain as it can while it still breaks a law. A response
// stays one that the model can be given.
func (e *evaluator) shrunk(s scene, breaks func(scene) bool) scene {
	d, p := e.d, e.p
	from := func(u []float64) scene {
		c := s.clone()
		copy(c.theta, u[:d])
		copy(c.next, u[d:2*d])
		copy(c.z.X, u[2*d:2*d+p])
		if c.z.Y != nil && len(u) > 2*d+p {
			c.z.Y[0] = u[2*d+p]
		}
		return c
	}
	u := slices.Concat(s.theta, s.next, s.z.X, s.z.Y)
	shrink(u, func(u []float64) bool {
		c := from(u)
		return (c.z.Y == nil || same(e.o.Response(c.z.Y[0]), c.z.Y[0]) || same(c.z.Y[0], s.z.Y[0])) && breaks(c)
	})
	return from(u)
}

// breaks reports whether a scene breaks a law.
func (e *evaluator) breaks(s scene) bool {
	return slices.ContainsFunc(sceneLaws, func(l sceneLaw) bool { return l.holds(e, s) != "" })
}

// hold checks the laws of scenes at one of them.
func (e *evaluator) hold(t rapid.TB, s scene) {
	t.Helper()
	for _, l := range sceneLaws {
		if l.holds(e, s) != "" {
			e.report(t, l, s)
		}
	}
}
