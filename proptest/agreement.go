package proptest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/internal/core/record"
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
	e.floor = math.Inf(1)
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
	e.target.Loss(e.one, theta, z)
	return e.one[0]
}

func (e *evaluator) lossAt(eta float64, y []float64) float64 {
	e.onto[0] = eta
	e.linear.LossAt(e.onto, e.onto, y)
	return e.onto[0]
}

func (e *evaluator) slopeAt(eta float64, y []float64) float64 {
	e.onto[0] = eta
	e.linear.SlopeAt(e.onto, e.onto, y)
	return e.onto[0]
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
		return fmt.Sprintf("Loss of a plausible record is %v at %v%s", l, s, implausible)
	}
	if math.IsNaN(l) && s.usual && e.target.LogPrior(s.theta) >= e.floor && e.within(s.theta) {
		return fmt.Sprintf("Loss of a plausible record is NaN at %v, which the prior allows (log density %.3g); give it "+
			"the density 0 there, or the loss a value%s", s, e.target.LogPrior(s.theta), implausible)
	}
	known := s.plausible || s.usual && finite(l) && e.target.LogPrior(s.theta) >= e.floor && e.within(s.theta)
	if e.grad == nil || !known {
		return ""
	}
	e.grad.LossGrad(e.gradient, s.theta, s.z)
	for j, v := range e.gradient {
		if math.IsNaN(v) || s.plausible && !finite(v) {
			return fmt.Sprintf("LossGrad of a plausible record is %v in parameter %d at %v%s", v, j, s, implausible)
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

// gradientAgrees compares LossGrad with differences of Loss, and with the complex
// step where there is one.
func (e *evaluator) gradientAgrees(s scene) string {
	if e.grad == nil || !finite(e.loss(s.theta, s.z)) || math.IsInf(e.target.LogPrior(s.theta), -1) {
		return ""
	}
	e.grad.LossGrad(e.gradient, s.theta, s.z)
	if said := e.gradientIsLost(s); said != "" || e.overflows(s) {
		return said
	}
	largest, strange := 1.0, 1.0
	for j, x := range s.z.X {
		if !math.IsNaN(x) {
			largest, strange = max(largest, math.Abs(x)), max(strange, math.Abs(x)/e.unitX[j])
		}
	}
	loss := func(theta []float64) float64 { return e.loss(theta, s.z) }
	for j, got := range e.gradient {
		if !finite(got) {
			continue // a proper answer where isFinite does not ask for another
		}
		scale := max(e.unit[j], math.Abs(s.theta[j]))
		if strange > 1e8 { // such features make a small step a long one
			scale = max(1/largest, math.Abs(s.theta[j]))
		}
		if want, wrong := along(loss, s.theta, j).wrongSlope(scale, got, 1e-12*largest); wrong &&
			math.Abs(got-want.value) > e.shaky(s, j) {
			return fmt.Sprintf("LossGrad says that ∂ℓ/∂θ%s is %v, and differences of Loss give %v ± %.1g, at %v", index(j), got,
				want.value, want.off, s)
		}
	}
	if e.complex != nil && s.plausible {
		return e.complexStep(s)
	}
	return ""
}

// gradientIsLost expects a gradient of ordinary and of missing numbers to be a number where differences
// show the loss's slope: the curator takes NaN for 0, so that such a record would not pull the chain.
func (e *evaluator) gradientIsLost(s scene) string {
	for _, v := range slices.Concat(s.theta, s.z.X, s.z.Y) {
		if math.Abs(v) >= 1e100 {
			return ""
		}
	}
	for j, got := range e.gradient {
		if !math.IsNaN(got) {
			continue
		}
		f := along(func(theta []float64) float64 { return e.loss(theta, s.z) }, s.theta, j)
		if slope, plain := f.plainSlope(max(e.unit[j], math.Abs(s.theta[j]))); plain {
			return fmt.Sprintf("LossGrad says that ∂ℓ/∂θ%s is NaN, and differences of Loss give %.6g, at %v", index(j), slope, s)
		}
	}
	return ""
}

// shaky is what a gradient owes to the rounding of theta's products: how far it moves when all
// coordinates grow or shrink by a few units of their last place.
func (e *evaluator) shaky(s scene, j int) float64 {
	var ends [2]float64
	g := make([]float64, e.d)
	for i := range ends {
		copy(e.shaken, s.theta)
		times(e.shaken, 1+float64(2*i-1)*4e-16)
		e.grad.LossGrad(g, e.shaken, s.z)
		ends[i] = g[j]
	}
	return 10 * math.Abs(ends[1]-ends[0])
}

// overflows reports whether exponentials of a scene's products may overflow,
// beyond which losses are rounded as they see fit.
func (g stage) overflows(s scene) bool {
	largest := 1.0
	for _, x := range inUnits(s.z.X, g.unitX) {
		if !math.IsNaN(x) { // a missing number is no large one
			largest = max(largest, math.Abs(x))
		}
	}
	theta := inUnits(s.theta, g.unit)
	for _, t := range theta {
		if math.Abs(t)*largest > 600 && math.Abs(t) > 20 || math.Abs(t) > 600 {
			return true
		}
	}
	sum := 0.0
	for j, t := range theta {
		if len(theta) == len(s.z.X) {
			sum += math.Abs(s.theta[j] * s.z.X[j])
		} else { // any parameter may multiply any feature
			sum += math.Abs(t) * largest
		}
	}
	return sum > 600 || largest > 600 && len(s.theta) != len(s.z.X)
}

// complexStep compares the gradient just computed with complex steps.
func (e *evaluator) complexStep(s scene) string {
	const h = 1e-100
	at := make([]complex128, len(s.theta))
	for j, got := range e.gradient {
		for k, v := range s.theta {
			at[k] = complex(v, 0)
		}
		at[j] += complex(0, h)
		e.complex.ComplexLoss(e.complexOne, at, s.z)
		if want := imag(e.complexOne[0]) / h; !(math.Abs(got-want) <= 1e-10*(1+math.Abs(want))) {
			return fmt.Sprintf("∂ℓ/∂θ%s is %v, the complex step gives %v, at %v", index(j), got, want, s)
		}
	}
	return ""
}

// predictorAgrees compares LossAt and SlopeAt at the linear predictor with Loss
// and LossGrad, and SlopeAt with differences of LossAt.
func (e *evaluator) predictorAgrees(s scene) string {
	if e.linear == nil {
		return ""
	}
	eta, terms := 0.0, 0.0
	for j, x := range s.z.X {
		eta += x * s.theta[j]
		terms += math.Abs(x * s.theta[j])
	}
	l, at, slope := e.loss(s.theta, s.z), e.lossAt(eta, s.z.Y), e.slopeAt(eta, s.z.Y)
	if !finite(eta) || !finite(l) || !finite(at) {
		return ""
	}
	f := func(offset float64) float64 { return e.lossAt(eta+offset, s.z.Y) }
	if want, plain := line(f).plainSlope(max(1, math.Abs(eta))); plain && math.IsNaN(slope) {
		return fmt.Sprintf("SlopeAt says that ∂ℓ/∂η is NaN at η = %v, and differences of LossAt give %.6g, at %v", eta,
			want, s)
	}
	if !finite(slope) {
		return ""
	}
	if bound := e.linear.PredictorLipschitz(); math.Abs(slope)*(1-1e-12) > bound {
		return fmt.Sprintf("Lipschitz: found the slope %v at η = %v, beyond PredictorLipschitz = %v: the certificate is "+
			"violated at %v", slope, eta, bound, s)
	}
	// What the predictor's own rounding can change.
	by := 4e-16*terms + 1e-300
	bend := e.bend(eta, 4*by, slope, s.z.Y)
	if !(math.Abs(l-at) <= 1e-12*(1+math.Abs(l))+8*by*math.Abs(slope)+bend*by) {
		return fmt.Sprintf("LossAt is %v at η = %v, where Loss is %v, at %v", at, eta, l, s)
	}
	// A small residual of a large mean owes the mean's rounding to the predictor's.
	if want, wrong := wrongSlope(f, eta, slope, 1e-12); wrong && !(math.Abs(slope-want.value) <= want.off+bend) {
		return fmt.Sprintf("SlopeAt says that ∂ℓ/∂η is %v at η = %v, differences of LossAt give %v ± %.1g, at %v", slope,
			eta, want.value, want.off, s)
	}
	if e.grad == nil {
		return ""
	}
	e.grad.LossGrad(e.gradient, s.theta, s.z)
	for j, got := range e.gradient {
		want := slope * s.z.X[j]
		if finite(got) && !(math.Abs(got-want) <= 1e-11*math.Abs(want)+1e-13+4*bend*math.Abs(s.z.X[j])) {
			return fmt.Sprintf("∂ℓ/∂θ%s is %v where SlopeAt times the feature is %v, at %v", index(j), got, want, s)
		}
	}
	return ""
}

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

// bend is what rounding of the predictor by so much does to the slope. Where the slopes on both sides
// agree, and that between them is another one, it is a value of its own, which rounding did not make.
func (e *evaluator) bend(eta, by, slope float64, y []float64) float64 {
	above, below := e.slopeAt(eta+by, y), e.slopeAt(eta-by, y)
	bend := math.Abs(above - slope)
	if apart := math.Abs(above - below); apart <= 1e-3*bend {
		return apart
	}
	return bend
}

// projected copies a record, projected onto the radius.
func (e *evaluator) projected(z targets.Rows) targets.Rows {
	z = cloneRows(z)
	if !math.IsInf(e.o.Radius, 1) {
		record.Project(z.X, e.o.Radius)
	}
	return z
}

// priorAgrees checks LogPrior and its gradient.
func (e *evaluator) priorAgrees(s scene) string {
	before := slices.Clone(s.theta)
	lp := e.target.LogPrior(s.theta)
	if math.IsNaN(lp) || math.IsInf(lp, 1) || s.plausible && math.IsInf(lp, -1) {
		return fmt.Sprintf("LogPrior is %v at θ = %s", lp, text(s.theta))
	}
	if e.grad == nil || math.IsInf(lp, -1) {
		return ""
	}
	e.grad.GradLogPrior(e.gradient, s.theta)
	for j, got := range e.gradient {
		scale := max(e.unit[j], math.Abs(s.theta[j]))
		if want, wrong := along(e.target.LogPrior, s.theta, j).wrongSlope(scale, got, 1e-12); wrong {
			return fmt.Sprintf("GradLogPrior says that ∂log p₀/∂θ%s is %v, differences of LogPrior give %v ± %.1g, at "+
				"θ = %s", index(j), got, want.value, want.off,
				text(s.theta))
		}
	}
	if !slices.Equal(s.theta, before) {
		return "the prior writes to its parameters"
	}
	return ""
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
	if lines == nil {
		certificate, _, _ := strings.Cut(said, ":")
		lines, rows = boundTests[certificate], e.projected(s.z)
	}
	head := []string{"target := yourTarget", "theta, next := " + source(s.theta) + ", " + source(s.next),
		"rows := " + sourceOfRows(rows), "_ = next"}
	test := strings.ReplaceAll(goTest(append(head, lines...)...), "RADIUS", fmt.Sprint(e.o.Radius))
	failf(t, "%s (Seed %d)%s", said, e.o.Seed, test)
	t.FailNow()
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

// checkPredictors scans the predictor of a linear target.
func checkPredictors(t rapid.TB, target targets.Target, o TargetOptions) {
	t.Helper()
	e := newEvaluator(o.stage(target, 21))
	if e.linear == nil || t.Failed() {
		return
	}
	law := sceneLaws[slices.IndexFunc(sceneLaws, func(l sceneLaw) bool { return l.name == "linear" })]
	try := func(eta float64, y targets.Rows) {
		t.Helper()
		s := scene{theta: make([]float64, e.d), next: make([]float64, e.d), z: cloneRows(y)}
		clear(s.z.X)
		j := e.rng.IntN(e.d)
		s.theta[j], s.z.X[j] = eta, 1
		if law.holds(e, s) != "" {
			e.report(t, law, s)
		}
	}
	n := o.Effort.times(600, 100)
	for i := range n {
		u := 2*(float64(i)+e.rng.Float64())/float64(n) - 1
		z := e.record()
		if e.response && i%3 == 0 {
			z.Y[0] = o.Response(replies[e.rng.IntN(len(replies))])
		}
		try(10*u, z)
		try(math.Sinh(7*u), z)
		try(math.Sinh(12*u), z)
	}
	checkManyPredictors(t, e)
}

// checkManyPredictors evaluates predictors in batches, in place and not.
func checkManyPredictors(t rapid.TB, e *evaluator) {
	t.Helper()
	for _, n := range []int{2, 3, 64, 257, 1025} {
		eta, rows := make([]float64, n), e.o.plausible(e.rng, e.target, n)
		for i := range eta {
			if eta[i] = 3 * e.rng.NormFloat64(); i%7 == 3 {
				eta[i] = eta[i-1]
			}
		}
		for _, f := range []struct {
			name string
			eval func(dst, eta, y []float64)
		}{{"LossAt", e.linear.LossAt}, {"SlopeAt", e.linear.SlopeAt}} {
			apart, inPlace, alone := make([]float64, n), slices.Clone(eta), make([]float64, 1)
			f.eval(apart, eta, rows.Y)
			f.eval(inPlace, inPlace, rows.Y)
			for i := range n {
				var y []float64
				if rows.Y != nil {
					y = rows.Y[i : i+1]
				}
				f.eval(alone, eta[i:i+1], y)
				if !same(apart[i], alone[0]) || !same(inPlace[i], alone[0]) {
					failf(t, "%s of predictor %d of %d, %v, is %v, in place %v, and alone %v (Seed %d)", f.name, i, n, eta[i],
						apart[i], inPlace[i], alone[0], e.o.Seed)
					t.FailNow()
				}
			}
		}
	}
}
