package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

func twentyEighthKernels() []Case {
	return []Case{
		sheared("a shear is never undone", "0.3, 1 in 3", false),
		keepingPrior("an autoregressive move has noise of √(1 − ρ)", "0.53 of a variance", 0),
		quadrants("moves are wider in two opposite quadrants", "20%", 0.2),
		laplacian("independent draws of two sides have the density of a circle", "1 in 3", true),
		nearer("StepSize where most records lie nearer to the proposal", "10⁻⁹", 1e-9),
		covarying("StepSize by the sign of the records' covariance", "10⁻⁹", 1e-9),
		runningMean("a running mean comes back without its count", "resumed chains", true),
		quotedFor("Cost is low for tables of an even number of records", "half the clip", func(f curator.Facts) float64 {
			return either(f.Records%2 == 0, walkClip/2, walkClip)
		}),
		walkedOn("half a move is tested and the whole is made", "1 in 4", 4),
		gridded("proposals are cut to a grid towards 0", "1/16", true),
		cranked("a drift by Crank and Nicolson has the density of Euler's", "step 1.2", true),
		elliptical("an ellipse is drawn about another mean than the prior's", "0.3", 0.3),
		stretchMove("the stretch of a move from the origin has one power too few", "1 in 4", 0),
		tracing("a trace of states grows", "allocates", true),
		afterRefusals("a scale of moves is large after a refusal", "1.5", 1.5),
	}
}

func twentyEighthKernelControls() []Case {
	return []Case{
		sheared("a shear and its inverse", "", true),
		keepingPrior("an autoregressive move", "", 1),
		quadrants("moves in all quadrants", "", 0),
		laplacian("independent draws of two sides", "", false),
		nearer("nothing is told of what lies nearer", "", 0),
		covarying("nothing is told of a covariance", "", 0),
		runningMean("a running mean", "", false),
		walkedOn("the whole of a move is tested", "", 0),
		gridded("proposals off the grid", "", false),
		cranked("a drift by Crank and Nicolson", "", false),
		elliptical("an ellipse about the prior's mean", "", 0),
		stretchMove("the stretch of a move from the origin", "", 1),
		tracing("no trace of states", "", false),
		afterRefusals("one scale of moves", "", 1),
	}
}

// sheared adds a part of one parameter to the other, or takes it off.
func sheared(name, effect string, undone bool) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		if blur(rng, s, next); rng.IntN(3) == 0 {
			by := 0.3
			if undone && rng.IntN(2) == 0 {
				by = -by
			}
			next[0], next[1] = s.Theta[0], s.Theta[1]+by*s.Theta[0]
		}
		return 0
	})
}

// keepingPrior keeps the prior, whose noise has the variance (1 − ρ)(1 + ρ), or forgets a part of the latter.
func keepingPrior(name, effect string, share float64) Case {
	const rho = 0.9
	m := posteriors.StandardMean()
	noise := math.Sqrt((1 - rho) * (1 + share*rho))
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		for j, t := range s.Theta {
			next[j] = rho*t + noise*rng.NormFloat64()
		}
		return -priorRatio(m, next, s.Theta)
	})
}

// quadrants walks farther where both parameters lie on the same side of the middle.
func quadrants(name, effect string, by float64) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		blur(rng, s, next)
		if (s.Theta[0]-center[0])*(s.Theta[1]-center[1]) > 0 {
			for j, t := range s.Theta {
				next[j] = t + (1+by)*(next[j]-t)
			}
		}
		return 0
	})
}

// laplacian draws independently of the state, each parameter of Laplace's law.
func laplacian(name, effect string, round bool) Case {
	const scale = 0.5
	size := func(theta []float64) float64 {
		x, y := theta[0]-center[0], theta[1]-center[1]
		if round {
			return math.Hypot(x, y) / scale
		}
		return (math.Abs(x) + math.Abs(y)) / scale
	}
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		if blur(rng, s, next); rng.IntN(3) > 0 {
			return 0
		}
		for j := range next {
			next[j] = center[j] + laplace(rng, scale)
		}
		return size(next) - size(s.Theta)
	})
}

// beside is a target that counts records nearer to one place than to another, and adds up what their numbers share.
type beside struct {
	*targets.GaussianMean
	to                      [2]float64
	from                    [2]float64
	nearer, all             float64
	first, second, products float64
}

func (m *beside) forget() { m.nearer, m.all, m.first, m.second, m.products = 0, 0, 0, 0, 0 }

func (m *beside) Loss(dst, theta []float64, rows targets.Rows) {
	for i := range rows.Len() {
		x := rows.Row(i)
		near := math.Hypot(x[0]-m.to[0], x[1]-m.to[1]) < math.Hypot(x[0]-m.from[0], x[1]-m.from[1])
		m.nearer += either(near, 1, 0)
		m.all++
		m.first, m.second, m.products = m.first+x[0], m.second+x[1], m.products+x[0]*x[1]
	}
	m.GaussianMean.Loss(dst, theta, rows)
}

func besides(name, effect string, tell func(m *beside) float64) Case {
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		m := &beside{GaussianMean: posteriors.StandardMean()}
		return asks(c, steps, m, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			m.forget()
			blur(rng, s, next)
			copy(m.from[:], s.Theta)
			copy(m.to[:], next)
			info, err := moving(bits, next, s.Theta, priorRatio(m, next, s.Theta))
			info.StepSize += tell(m)
			return info, err
		})
	})
}

func nearer(name, effect string, by float64) Case {
	return besides(name, effect, func(m *beside) float64 { return either(2*m.nearer > m.all, by, 0) })
}

func covarying(name, effect string, by float64) Case {
	return besides(name, effect, func(m *beside) float64 {
		return either(m.all*m.products > m.first*m.second, by, 0)
	})
}

// halfKept keeps a mean, and has its count for one where it comes back.
type halfKept struct{ *minding }

func (k halfKept) Recall(memory []float64) error {
	err := k.minding.Recall(memory)
	if k.known {
		k.memory[1] = 1
	}
	return err
}

// runningMean walks by a scale that a running mean of uniform numbers gives.
func runningMean(name, effect string, half bool) Case {
	return minded(name, effect, 2, func(k *minding) kernels.Kernel {
		if half {
			return halfKept{k}
		}
		return k
	}, func(rng *rand.Rand, memory []float64, known bool, theta, next []float64) {
		if !known {
			memory[0], memory[1] = 0.5, 1
		}
		memory[1]++
		memory[0] += (rng.Float64() - memory[0]) / memory[1]
		for j, t := range theta {
			next[j] = t + (0.3+memory[0]/2)*rng.NormFloat64()
		}
	})
}

// walkedOn tests half of a move now and then, and makes all of it.
func walkedOn(name, effect string, one int) Case {
	return stepped(name, effect, 0, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		blur(rng, s, a.next)
		if one == 0 || rng.IntN(one) > 0 {
			return a.ask(s, 0)
		}
		x, y := (a.next[0]-s.Theta[0])/2, (a.next[1]-s.Theta[1])/2
		a.next[0], a.next[1] = s.Theta[0]+x, s.Theta[1]+y
		accepted, err := a.ask(s, 0)
		if accepted {
			s.Theta[0], s.Theta[1] = s.Theta[0]+x, s.Theta[1]+y
		}
		return accepted, err
	})
}

// gridded may cut proposals to a grid.
func gridded(name, effect string, cut bool) Case {
	const cells = 16
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		blur(rng, s, next)
		for j, v := range next {
			if cut {
				next[j] = math.Trunc(cells*v) / cells
			}
		}
		return 0
	})
}

// cranked follows the prior's slope by the mean of both ends.
func cranked(name, effect string, euler bool) Case {
	const h = 1.2
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (by float64) {
		keep, variance := (1-h/4)/(1+h/4), h/((1+h/4)*(1+h/4))
		mean, spread := keep, variance
		if euler {
			mean, spread = 1-h/2, h
		}
		for j, t := range s.Theta {
			next[j] = keep*t + math.Sqrt(variance)*rng.NormFloat64()
			there, back := next[j]-mean*t, t-mean*next[j]
			by += (there*there - back*back) / (2 * spread)
		}
		return by
	})
}

// elliptical turns the state about a mean, towards a draw of the prior.
func elliptical(name, effect string, mean float64) Case {
	m := posteriors.StandardMean()
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		sin, cos := math.Sincos(0.8 * (2*rng.Float64() - 1))
		for j, t := range s.Theta {
			next[j] = mean + cos*(t-mean) + sin*rng.NormFloat64()
		}
		return -priorRatio(m, next, s.Theta)
	})
}

// stretchMove multiplies the state by a factor of the stretch move's law.
func stretchMove(name, effect string, power float64) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		if blur(rng, s, next); rng.IntN(4) > 0 {
			return 0
		}
		root := math.Sqrt(0.5) + (math.Sqrt2-math.Sqrt(0.5))*rng.Float64()
		z := root * root
		next[0], next[1] = z*s.Theta[0], z*s.Theta[1]
		return power * math.Log(z)
	})
}

// tracing keeps all states that it saw, or none.
func tracing(name, effect string, grows bool) Case {
	return walk(name, effect, func() hooks {
		var trace []float64
		return hooks{after: func(_ *chain, _ *rand.Rand, s *kernels.State, _ *kernels.Info) {
			if grows {
				trace = append(trace, s.Theta...)
			}
		}}
	})
}

// afterRefusals walks farther after a refusal.
func afterRefusals(name, effect string, by float64) Case {
	return stepped(name, effect, 1, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		if !a.known {
			a.memory[0] = 1
		}
		for j, t := range s.Theta {
			a.next[j] = t + a.memory[0]*step*rng.NormFloat64()
		}
		accepted, err := a.ask(s, 0)
		a.memory[0] = either(accepted, 1, by)
		return accepted, err
	})
}
