package proptest

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/targets"
)

// lone is a prior of two parameters of one law; a record says nothing.
type lone struct {
	log  func(t float64) float64
	draw func(rng *rand.Rand) float64
}

func (lone) Dim() int                              { return 2 }
func (lone) Shape() (int, bool)                    { return 1, false }
func (l lone) LogPrior(theta []float64) float64    { return l.log(theta[0]) + l.log(theta[1]) }
func (lone) Loss(dst, _ []float64, _ targets.Rows) { clear(dst) }
func (l lone) SamplePrior(theta []float64, rng *rand.Rand) {
	theta[0], theta[1] = l.draw(rng), l.draw(rng)
}

// inside is a log density with an end or two.
func inside(t, low, high, log float64) float64 {
	if t <= low || t >= high {
		return math.Inf(-1)
	}
	return log
}

func sumLog(a, b float64) float64 {
	most := max(a, b)
	return most + math.Log(math.Exp(a-most)+math.Exp(b-most))
}

func normalDraw(mean, sd float64) func(rng *rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return mean + sd*rng.NormFloat64() }
}

// oneOf draws from either of two laws alike.
func oneOf(a, b func(rng *rand.Rand) float64) func(rng *rand.Rand) float64 {
	return func(rng *rand.Rand) float64 {
		if rng.IntN(2) == 0 {
			return a(rng)
		}
		return b(rng)
	}
}

func tangent(rng *rand.Rand) float64 { return math.Tan(math.Pi * (rng.Float64() - 0.5)) }

// laws of every shape: narrow and far away, of two scales and two places, with ends, poles and tails.
var laws = map[string]lone{
	"narrow": {func(t float64) float64 { return -(t - 1) * (t - 1) / 2e-8 }, normalDraw(1, 1e-4)},
	"far":    {func(t float64) float64 { return -(t - 1e6) * (t - 1e6) / 2 }, normalDraw(1e6, 1)},
	"spike": {func(t float64) float64 { return sumLog(-t*t/2, -t*t/2e-6+math.Log(1000)) },
		oneOf(normalDraw(0, 1), normalDraw(0, 1e-3))},
	"far modes": {func(t float64) float64 { return sumLog(-(t-2000)*(t-2000)/2, -(t+20)*(t+20)/2) },
		oneOf(normalDraw(2000, 1), normalDraw(-20, 1))},
	"uniform": {func(t float64) float64 { return inside(t, 2, 5, 0) },
		func(rng *rand.Rand) float64 { return 2 + 3*rng.Float64() }},
	"arcsine": {func(t float64) float64 { return inside(t, 0, 1, -math.Log(t*(1-t))/2) },
		func(rng *rand.Rand) float64 { return (1 + math.Sin(math.Pi*(rng.Float64()-0.5))) / 2 }},
	"χ²": {func(t float64) float64 { return inside(t, 0, math.Inf(1), -math.Log(t)/2-t/2) },
		func(rng *rand.Rand) float64 { return math.Pow(rng.NormFloat64(), 2) }},
	"lognormal": {func(t float64) float64 {
		return inside(t, 0, math.Inf(1), -math.Log(t)-math.Pow(math.Log(t), 2)/8)
	}, func(rng *rand.Rand) float64 { return math.Exp(2 * rng.NormFloat64()) }},
	"Cauchy": {func(t float64) float64 { return -math.Log1p(t * t) }, tangent},
	"Cauchy, far": {func(t float64) float64 { return -math.Log1p((t - 1e4) * (t - 1e4)) },
		func(rng *rand.Rand) float64 { return 1e4 + tangent(rng) }},
	"Pareto": {func(t float64) float64 { return inside(t, 1, math.Inf(1), -2.1*math.Log(t)) },
		func(rng *rand.Rand) float64 { return math.Pow(1-rng.Float64(), -1/1.1) }},
}

// TestDrawsOfEveryLaw: draws of a law pass, and are rejected where three in ten are the larger of two.
func TestDrawsOfEveryLaw(t *testing.T) {
	for name, law := range laws {
		for _, spoilt := range []bool{false, true} {
			target := law
			if spoilt {
				target.draw = func(rng *rand.Rand) float64 {
					if v := law.draw(rng); rng.IntN(10) > 2 {
						return v
					}
					return max(law.draw(rng), law.draw(rng))
				}
			}
			report, failed := Try("Test", func(t rapid.TB) {
				checkSampler(t, target, TargetOptions{Effort: Quick}.withDefaults())
			})
			if failed != spoilt {
				t.Errorf("%s, spoilt %v: failed %v\n%s", name, spoilt, failed, report)
			}
		}
	}
}

// TestPlacesInHeavyTails: a Cauchy law's quantiles are known from its middle to far out.
func TestPlacesInHeavyTails(t *testing.T) {
	where := about{draws: []float64{-8, -1, 0, 1, 12}, width: 1}
	for _, v := range []float64{0, 0.3, -1, 2, -5, 20, -100, 700, -5000} {
		got := quantile(laws["Cauchy"], []float64{v, 0}, 0, where)
		if want := 0.5 + math.Atan(v)/math.Pi; !(math.Abs(got-want) < 5e-4) {
			t.Errorf("%v is at the quantile %v, not %v", v, got, want)
		}
	}
}

// TestOutside: what lies beyond a point is known to a tenth, however little it is.
func TestOutside(t *testing.T) {
	where := about{draws: []float64{-3, -1, 0, 1, 3}, width: 0.7}
	normal := lone{func(t float64) float64 { return -t * t / 2 }, normalDraw(0, 1)}
	for _, v := range []float64{0, -1, 2, -3.3, 4.2, 6, -8} {
		below, above := outside(normal, []float64{v, 0}, 0, where, v)
		for got, want := range map[float64]float64{below: math.Erfc(-v/math.Sqrt2) / 2, above: math.Erfc(v/math.Sqrt2) / 2} {
			if !(math.Abs(got-want) < 0.1*want) {
				t.Errorf("beyond %v there is %v, not %v", v, got, want)
			}
		}
		below, above = outside(laws["Cauchy"], []float64{v, 0}, 0, where, v)
		if want := 0.5 + math.Atan(v)/math.Pi; !(math.Abs(below-want) < 0.1*want && math.Abs(above+want-1) < 0.1*(1-want)) {
			t.Errorf("of Cauchy's law %v is below %v and %v above, not %v", below, v, above, want)
		}
	}
}

// TestEndsOfDraws: draws that stop where a density has a few thousandths left are rejected for that.
func TestEndsOfDraws(t *testing.T) {
	for _, most := range []float64{math.Inf(1), 2.8} {
		target := lone{func(t float64) float64 { return -t * t / 2 }, func(rng *rand.Rand) float64 {
			for {
				if z := rng.NormFloat64(); math.Abs(z) < most {
					return z
				}
			}
		}}
		rng, draws := rand64(1, 25), make([][]float64, 20_000)
		for i := range draws {
			draws[i] = make([]float64, target.Dim())
			target.SamplePrior(draws[i], rng)
		}
		report, failed := Try("Test", func(t rapid.TB) {
			places := placesOf(target, draws[:apartDraws], rng)
			for i, theta := range draws {
				places.reach(theta, i >= len(draws)/2)
			}
			places.reached(t, draws[0], TargetOptions{Effort: Quick}.withDefaults())
		})
		if failed == math.IsInf(most, 1) || failed && !strings.Contains(report, "the farthest of as many before") {
			t.Errorf("up to %v: failed %v\n%s", most, failed, report)
		}
	}
}
