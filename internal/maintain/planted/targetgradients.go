package planted

import "math"

func ratioDefects() []Case {
	add := func(name, effect string, m model, cond func(a at) bool, by float64) Case {
		return target(name, effect, m, func(p *planted) { p.ratio = when(cond, by) })
	}
	return []Case{
		add("moves of one coordinate", "5%", logistic, func(a at) bool {
			return a.next[0] == a.theta[0] && a.next[1] != a.theta[1]
		}, 1.05),
		add("moves of the first coordinate alone", "1%", huber, func(a at) bool { return a.next[1] == a.theta[1] }, 1.01),
		add("moves shorter than 10⁻³", "5%", logistic, func(a at) bool { return distance(a) < 1e-3 }, 1.05),
		add("moves shorter than 10⁻⁶", "10%", welsch, func(a at) bool { return distance(a) < 1e-6 }, 1.1),
		add("moves longer than 5", "1%", logistic, func(a at) bool { return distance(a) > 5 }, 1.01),
		add("moves along the record", "2%", logistic, func(a at) bool {
			d := []float64{a.next[0] - a.theta[0], a.next[1] - a.theta[1]}
			return math.Abs(dot(d, a.x)) > 0.999*math.Sqrt(dot(d, d)*dot(a.x, a.x))
		}, 1.02),
		add("a reflected coordinate", "sign", huber, func(a at) bool { return a.next[0] == -a.theta[0] && a.theta[0] != 0 },
			-1),
		add("responses that are exactly 1", "3%", huber, func(a at) bool { return a.y == 1 }, 1.03),
		add("whole responses", "3%", welsch, func(a at) bool { return a.y == math.Round(a.y) }, 1.03),
		add("label 1 only", "0.1%", logistic, func(a at) bool { return a.y == 1 }, 1.001),
		add("features beyond 4", "5%", logistic, func(a at) bool { return a.x[1] > 4 }, 1.05),
		add("records beyond 10⁵", "5%", logistic, func(a at) bool { return math.Abs(a.x[0]) > 1e5 }, 1.05),
		add("a feature that is 0", "sign", huber, func(a at) bool { return a.x[0] == 0 && a.x[1] != 0 }, -1),
		add("predictors beyond 15", "10%", logistic, func(a at) bool { return math.Abs(a.eta()) > 15 }, 1.1),
		add("parameters of one sign", "0.01%", welsch, func(a at) bool { return a.theta[0] > 0 && a.theta[1] > 0 }, 1.0001),
		add("at the origin", "50%", logistic, func(a at) bool { return a.theta[0] == 0 && a.theta[1] == 0 }, 1.5),
	}
}

func gradientDefects() []Case {
	add := func(name, effect string, m model, cond func(a at) bool, j int, by float64) Case {
		return target(name, effect, m, func(p *planted) {
			p.grad = func(a at, g []float64) {
				if cond(a) {
					g[j] *= by
				}
			}
		})
	}
	return []Case{
		add("|x₂| > 3", "10%", logistic, func(a at) bool { return math.Abs(a.x[1]) > 3 }, 0, 1.1),
		add("x₁ < −8", "1%", huber, func(a at) bool { return a.x[0] < -8 }, 1, 1.01),
		add("predictors beyond 12", "sign", logistic, func(a at) bool { return a.eta() > 12 }, 0, -1),
		add("predictors below −20", "sign", logistic, func(a at) bool { return a.eta() < -20 }, 1, -1),
		add("|θ₁| > 3.5", "2%", welsch, func(a at) bool { return math.Abs(a.theta[0]) > 3.5 }, 1, 1.02),
		add("y = 1", "1%", huber, func(a at) bool { return a.y == 1 }, 0, 1.01),
		add("y = 0", "zero", welsch, func(a at) bool { return a.y == 0 }, 0, 0),
		add("y > 50", "sign", huber, func(a at) bool { return a.y > 50 }, 0, -1),
		add("one coordinate everywhere", "10⁻⁵", logistic, func(a at) bool { return true }, 1, 1+1e-5),
		add("one quadrant of parameters", "0.1%", huber,
			func(a at) bool { return a.theta[0] > 0 && a.theta[1] < 0 }, 0, 1.001),
		add("records beyond 100", "5%", logistic,
			func(a at) bool { return math.Abs(a.x[0])+math.Abs(a.x[1]) > 100 }, 1, 1.05),
		add("a narrow band of predictors", "2%, width 0.1", logistic,
			func(a at) bool { return math.Abs(a.eta()-1.3) < 0.05 }, 0, 1.02),
		add("a zero feature", "constant", huber, func(a at) bool { return a.x[1] == 0 }, 0, 1.5),
		add("residuals beyond 5", "clipped", huber, func(a at) bool { return math.Abs(a.eta()-a.y) > 5 }, 1, 0.97),
		target("swapped coordinates for label 0", "all", logistic,
			func(p *planted) {
				p.grad = func(a at, g []float64) {
					if a.y == 0 {
						g[0], g[1] = g[1], g[0]
					}
				}
			}),
	}
}

func valueDefects() []Case {
	add := func(name, effect string, m model, cond func(a at) bool, v float64) Case {
		return target(name, effect, m, func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				return either(cond(a), v, l)
			}
		})
	}
	scaled := func(name, effect string, m model, cond func(a at) bool, by float64) Case {
		return target(name, effect, m, func(p *planted) { p.loss = when(cond, by) })
	}
	return []Case{
		add("NaN for |θ₁| > 3.5", "region", logistic, func(a at) bool { return math.Abs(a.theta[0]) > 3.5 }, math.NaN()),
		add("NaN for θ₂ < −5", "2.5 prior sd", huber, func(a at) bool { return a.theta[1] < -5 }, math.NaN()),
		add("+Inf for plausible predictors beyond 4", "region", logistic,
			func(a at) bool { return a.eta() < -4 && distanceTo(a.x) < 3 }, math.Inf(1)),
		add("zero for labels of 1 and negative predictors", "region", logistic,
			func(a at) bool { return a.y == 1 && a.eta() < 0 }, 0),
		scaled("2% larger for y = 1, gradient not", "2%", huber, func(a at) bool { return a.y == 1 }, 1.02),
		scaled("1% larger for x₁ > 2.5", "1%", logistic, func(a at) bool { return a.x[0] > 2.5 }, 1.01),
		scaled("beyond its range far away", "3%", welsch, func(a at) bool { return math.Abs(a.eta()) > 30 }, 1.03),
		scaled("depends on x beyond the predictor", "10⁻⁴", logistic, func(a at) bool { return a.x[0]*a.x[1] > 0 }, 1.0001),
		target("a jump of 0.02 at θ₁ = 1.234567", "0.02", logistic, func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				return either(a.theta[0] > 1.234567, l+0.02, l)
			}
		}),
	}
}
