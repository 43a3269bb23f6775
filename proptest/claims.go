package proptest

import (
	"fmt"
	"math"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/targets"
)

// claims lists the target's finite certificates.
func (o TargetOptions) claims(target targets.Target) []claim {
	p, _ := target.Shape()
	s := searcher{o: o, target: target, p: p, d: target.Dim()}
	var all []claim
	if c, ok := target.(targets.RangeCertificate); ok {
		all = append(all, s.rangeClaim(c.LossRange()))
	}
	if l, ok := target.(targets.LinearTarget); ok {
		all = append(all, s.slopeClaim(l), s.moveClaim(l.PredictorLipschitz()))
	}
	if c, ok := target.(targets.RatioCertificate); ok {
		all = append(all, s.ratioClaim(c))
	}
	if c, ok := target.(targets.GradCertificate); ok {
		if g, ok := target.(targets.GradTarget); ok {
			all = append(all, s.gradientClaim(g, c.GradBound(o.Radius)))
		}
	}
	finite := all[:0]
	for _, c := range all {
		if !math.IsInf(c.bound, 1) {
			value := c.value
			c.value = func(u []float64) float64 {
				o.watch.goesOn()
				return value(u)
			}
			finite = append(finite, c)
		}
	}
	return finite
}

// searcher turns search vectors into parameters and records.
type searcher struct {
	o      TargetOptions
	target targets.Target
	p, d   int
}

// record makes a record of p+1 numbers, in units of the radius if that is large, and
// projected onto it as at sealing; an infinite radius leaves it as it is.
func (s searcher) record(u []float64, radius float64) targets.Rows {
	r := targets.Rows{X: append([]float64(nil), u[:s.p]...), P: s.p}
	if !math.IsInf(radius, 1) {
		times(r.X, max(1, radius))
		record.Project(r.X, radius)
	}
	if _, response := s.target.Shape(); response {
		r.Y = []float64{s.o.Response(u[s.p])}
	}
	return r
}

func (s searcher) rangeClaim(bound float64) claim {
	inf, d, z := math.Inf(1), s.d, s.p+1
	return claim{
		name: "range", bound: bound, size: d + 2*z,
		value: func(u []float64) float64 {
			if !s.plausible(u[:d]) {
				return math.NaN()
			}
			a := lossOf(s.target, u[:d], s.record(u[d:], inf))[0]
			b := lossOf(s.target, u[:d], s.record(u[d+z:], inf))[0]
			return a - b - blur(a, b)
		},
		witness: func(u []float64) string {
			return fmt.Sprintf("θ = %s, neighbouring data sets {%s} and {%s}", text(u[:d]), describe(s.record(u[d:], inf)),
				describe(s.record(u[d+z:], inf)))
		},
		test: func(u []float64) []string {
			return []string{"theta, a, b := " + source(u[:d]) + ", make([]float64, 1), make([]float64, 1)",
				"target.Loss(a, theta, " + sourceOfRows(s.record(u[d:], inf)) + ")",
				"target.Loss(b, theta, " + sourceOfRows(s.record(u[d+z:], inf)) + ")",
				"if a[0]-b[0] > target.LossRange() {",
				"\tt.Error(a[0]-b[0], target.LossRange())", "}"}
		},
	}
}

func (s searcher) slopeClaim(l targets.LinearTarget) claim {
	return claim{
		name: "Lipschitz", bound: l.PredictorLipschitz(), size: 2,
		value: func(u []float64) float64 {
			slope := []float64{u[0]}
			l.SlopeAt(slope, slope, []float64{s.o.Response(u[1])})
			return math.Abs(slope[0]) * (1 - 1e-12)
		},
		witness: func(u []float64) string { return fmt.Sprintf("η = %v, y = %v", u[0], s.o.Response(u[1])) },
		test: func(u []float64) []string {
			return []string{"slope := " + source(u[:1]), "target.SlopeAt(slope, slope, " +
				source([]float64{s.o.Response(u[1])}) + ")",
				"if math.Abs(slope[0]) > target.PredictorLipschitz() {",
				"\tt.Error(slope[0], target.PredictorLipschitz())", "}"}
		},
	}
}

// ratioAt evaluates a move of a search vector (θ, direction, log length, record)
// and returns |ratio| less its rounding.
func (s searcher) ratioAt(u []float64) (excess float64, theta, next []float64, z targets.Rows) {
	theta, next = u[:s.d], make([]float64, s.d)
	length := math.Exp(min(10, max(-10, -3+u[2*s.d])))
	for j := range next {
		next[j] = theta[j] + length*u[s.d+j]
	}
	z = s.record(u[2*s.d+1:], s.o.Radius)
	if !s.plausible(theta) || !s.plausible(next) {
		return math.NaN(), theta, next, z
	}
	a, b := lossOf(s.target, theta, z)[0], lossOf(s.target, next, z)[0]
	return max(0, math.Abs(a-b)-1e-14-blur(a, b)), theta, next, z
}

func (s searcher) moveWitness(u []float64) string {
	_, theta, next, z := s.ratioAt(u)
	return fmt.Sprintf("θ = %s, θ′ = %s, neighbouring data sets {%s} and {}", text(theta), text(next), describe(z))
}

// moveTest shows a move whose ratio exceeds a bound, an expression and lines of Go.
func (s searcher) moveTest(bound string, more ...string) func(u []float64) []string {
	return func(u []float64) []string {
		_, theta, next, z := s.ratioAt(u)
		head := []string{"theta, next := " + source(theta) + ", " + source(next),
			"rows, now, then := " + sourceOfRows(z) + ", make([]float64, 1), make([]float64, 1)",
			"target.Loss(now, theta, rows)", "target.Loss(then, next, rows)", "bound := " + bound}
		return append(append(head, more...), "if got := math.Abs(now[0] - then[0]); got > bound {",
			"\tt.Error(got, bound)", "}")
	}
}

func (s searcher) ratioClaim(c targets.RatioCertificate) claim {
	bound := 1.0
	if ones := unit(s.d); math.IsInf(c.RatioBound(make([]float64, s.d), ones, s.o.Radius), 1) {
		bound = math.Inf(1)
	}
	return claim{
		name: "ratio", bound: bound, size: 2*s.d + 1 + s.p + 1, witness: s.moveWitness,
		test: s.moveTest(fmt.Sprintf("target.RatioBound(theta, next, %v)", s.o.Radius)),
		value: func(u []float64) float64 {
			excess, theta, next, z := s.ratioAt(u)
			bound := c.RatioBound(theta, next, s.o.Radius)
			if excess > bound {
				excess = max(0, excess-rounding(s.target, theta, z)-rounding(s.target, next, z))
			}
			return share(excess, bound)
		},
	}
}

func (s searcher) moveClaim(lipschitz float64) claim {
	bound := 1.0
	if math.IsInf(lipschitz, 1) {
		bound = lipschitz
	}
	return claim{
		name: "move", bound: bound, size: 2*s.d + 1 + s.p + 1, witness: s.moveWitness,
		test: s.moveTest("0.0", "for j, x := range rows.X {", "\tbound += x * (next[j] - theta[j])", "}",
			"bound = target.PredictorLipschitz() * math.Abs(bound)"),
		value: func(u []float64) float64 {
			excess, theta, next, z := s.ratioAt(u)
			along, sizes := 0.0, 0.0
			for j, x := range z.X {
				along += x * (next[j] - theta[j])
				sizes += math.Abs(x) * (math.Abs(next[j]) + math.Abs(theta[j]))
			}
			// The predictors themselves round in proportion to their terms.
			return share(max(0, excess-1e-15*lipschitz*sizes), lipschitz*math.Abs(along))
		},
	}
}

func (s searcher) gradientClaim(g targets.GradTarget, bound float64) claim {
	grad := make([]float64, s.d)
	return claim{
		name: "gradient", bound: bound, size: s.d + s.p + 1,
		value: func(u []float64) float64 {
			if !s.plausible(u[:s.d]) {
				return math.NaN()
			}
			g.LossGrad(grad, u[:s.d], s.record(u[s.d:], s.o.Radius))
			sum := 0.0
			for _, v := range grad {
				sum += v * v
			}
			return math.Sqrt(sum) * (1 - 1e-12)
		},
		witness: func(u []float64) string {
			return fmt.Sprintf("θ = %s, neighbouring data sets {%s} and {}", text(u[:s.d]),
				describe(s.record(u[s.d:], s.o.Radius)))
		},
		test: func(u []float64) []string {
			return []string{"gradient := make([]float64, target.Dim())",
				"target.LossGrad(gradient, " + source(u[:s.d]) + ", " + sourceOfRows(s.record(u[s.d:], s.o.Radius)) + ")",
				"square := 0.0", "for _, g := range gradient {", "\tsquare += g * g", "}",
				fmt.Sprintf("if bound := target.GradBound(%v); math.Sqrt(square) > bound {", s.o.Radius),
				"\tt.Error(math.Sqrt(square), bound)", "}"}
		},
	}
}

// plausible keeps a search inside the prior's support, over which certificates
// are claimed, and where differences of losses are not mere roundings: ‖θ‖ ≤ 100.
func (s searcher) plausible(theta []float64) bool {
	sum := 0.0
	for _, t := range theta {
		sum += t * t
	}
	return sum <= 1e4 && s.target.LogPrior(theta) > math.Inf(-1)
}

// constants expects a target to say the same of itself whenever it is asked.
func constants(t rapid.TB, target targets.Target, o TargetOptions) {
	t.Helper()
	hold := func(name string, ask func() float64) {
		t.Helper()
		first := ask()
		for n := range 8 {
			if now := ask(); !same(now, first) && !t.Failed() {
				failf(t, "%s is %v, and %v when it is asked %d times more (Seed %d)", name, first, now, n+1, o.Seed)
			}
		}
	}
	hold("Dim", func() float64 { return float64(target.Dim()) })
	if c, ok := target.(targets.RangeCertificate); ok {
		hold("LossRange", c.LossRange)
	}
	if c, ok := target.(targets.LinearTarget); ok {
		hold("PredictorLipschitz", c.PredictorLipschitz)
	}
	if c, ok := target.(targets.GradCertificate); ok {
		hold("GradBound", func() float64 { return c.GradBound(o.Radius) })
	}
	if t.Failed() {
		t.FailNow()
	}
}
