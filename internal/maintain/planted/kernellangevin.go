package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// mala corrects Langevin moves along released gradients, each of which serves twice.
type malaFlaws struct {
	wholeBack, plainBack bool // in the reverse density
	refused              bool // the gradient where a refused move ended is kept
	keeps                bool // what is kept is that
}

func mala(name, effect string, law bool, f malaFlaws) Case {
	const h = 0.12
	by := [2]float64{1, 1.6}
	return sampled(name, effect, law, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, slopes, err := grantBoth(c, target, steps, steps+1)
		next, there, here := make([]float64, 2), make([]float64, 2), make([]float64, 2)
		k := newMinding(target, 2, func() int64 { return bits.Left() })
		current := k.memory
		if f.keeps {
			current = here
		}
		started := false
		k.begin = func() { started = false }
		release := func(g, theta []float64) error {
			if err := slopes.Release(g, theta); err != nil {
				return err
			}
			for j, t := range theta {
				g[j] = -g[j] - t
			}
			return nil
		}
		k.step = func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
			info := kernels.Info{StepSize: h, Gradients: 1}
			if f.keeps && k.known && !started {
				copy(here, k.memory)
			}
			if !k.known {
				if bits.Left() == 0 {
					return info, curator.ErrSpent
				}
				if err := release(current, s.Theta); err != nil {
					return info, err
				}
				info.Gradients++
			}
			forward := 0.0
			for j, t := range s.Theta {
				z := rng.NormFloat64()
				forward -= z * z / 2
				next[j] = t + h*by[j]/2*current[j] + math.Sqrt(h*by[j])*z
			}
			if bits.Left() == 0 {
				return info, curator.ErrSpent
			}
			if err := release(there, next); err != nil {
				return info, err
			}
			back := 0.0
			for j, t := range s.Theta {
				d := t - next[j] - either(f.wholeBack, 0.55, 0.5)*h*by[j]*there[j]
				back -= d * d / (2 * h * either(f.plainBack && j == 1, 1.5, by[j]))
			}
			var err error
			info.Accepted, err = bits.Accept(next, s.Theta, priorRatio(target, next, s.Theta)+back-forward)
			if err != nil {
				return info, err
			}
			if started, k.known = true, true; info.Accepted {
				copy(s.Theta, next)
			}
			if info.Accepted || f.refused {
				copy(current, there)
			}
			if f.keeps {
				copy(k.memory, there)
			}
			return info, nil
		}
		return k, err
	})
}

// gradual makes Langevin steps along released gradients, with noise that a function of the
// step's size and of the releases' noise says, by a share of the prior's slope.
func gradual(name, effect string, h float64, m curator.NoisyGradient, noise func(h, sd float64) float64, prior float64,
	exact func(rng *rand.Rand, theta []float64)) Case {
	m.Target = posteriors.StandardMean()
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		return descends(c, steps, m, h,
			func(slopes *curator.Gradients, g []float64, rng *rand.Rand, theta []float64) {
				by := noise(h, slopes.NoiseSD())
				for j, t := range theta {
					theta[j] += by*rng.NormFloat64() - h/2*(g[j]+prior*t)
				}
			})
	}, func(o *proptest.KernelOptions) { o.Exact = exact })
}

// subtracting takes the releases' noise off what a step adds, so that both make the step's.
func subtracting(name, effect string, share float64) Case {
	return gradual(name, effect, size, curator.NoisyGradient{Clip: 10, NoiseMultiplier: 0.1},
		func(h, sd float64) float64 { return math.Sqrt(h - share*h*h*sd*sd) }, 1,
		exactly(math.Sqrt(size)/math.Sqrt(1-keep*keep)))
}

// halved follows gradients of three records in six, with a share of the prior's.
func halved(name, effect string, prior float64) Case { return halvedBy(name, effect, prior, 1) }

// halvedBy does so with a share of the noise.
func halvedBy(name, effect string, prior, noise float64) Case {
	const h, stays = 8.0 / 35, 0.2 // 1 − 7h/2
	posterior, _ := posteriors.Conjugate()
	var sums [][2]float64 // of all batches, less their mean
	for i := range 64 {
		at, n := [2]float64{-4.5, 1}, 0
		for r := range 6 {
			if i>>r&1 == 1 {
				n++
				at[0], at[1] = at[0]+posterior.X[2*r], at[1]+posterior.X[2*r+1]
			}
		}
		if n == 3 {
			sums = append(sums, at)
		}
	}
	return gradual(name, effect, h, curator.NoisyGradient{Clip: 50, NoiseMultiplier: 1e-5, Batch: curator.Batch{Size: 3}},
		func(h, _ float64) float64 { return noise * math.Sqrt(h) }, prior, func(rng *rand.Rand, theta []float64) {
			by := h / 2 * 2
			for j, c := range center {
				theta[j] = c + math.Sqrt(h/(1-stays*stays))*rng.NormFloat64()
			}
			for range 23 {
				at := sums[rng.IntN(len(sums))]
				theta[0], theta[1], by = theta[0]+by*at[0], theta[1]+by*at[1], by*stays
			}
		})
}

// decaying moves by a decay and noise that keep a law.
func decaying(name, effect string, noise func(stays float64) float64) Case {
	const stays = 0.93
	return gradual(name, effect, 2*(1-stays)/precision, curator.NoisyGradient{Clip: 50, NoiseMultiplier: 1e-5},
		func(float64, float64) float64 { return noise(stays) }, 1, exactly(sd))
}

// splitting is Langevin's diffusion with a velocity, in small parts: their letters say which.
func splitting(name, effect, order string, noise func(alpha float64) float64) Case {
	const h, friction = 0.15, 2.0
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		slopes, err := curator.Charge(c, curator.NoisyGradient{Target: target, Clip: 50, NoiseMultiplier: 1e-4}, 2*steps)
		g, q := make([]float64, 2), make([]float64, 2)
		k := newMinding(target, 2, func() int64 { return slopes.Left() / 2 })
		v := k.memory
		parts := map[rune]int{}
		for _, part := range order {
			parts[part]++
		}
		letters := []rune(order)
		k.step = func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
			copy(q, s.Theta)
			for j := range v {
				if z := rng.NormFloat64(); !k.known {
					v[j] = math.Sqrt(1-h*h*precision/4) * z
				}
			}
			for _, part := range letters {
				by := h / float64(parts[part])
				switch part {
				case 'A':
					q[0], q[1] = q[0]+by*v[0], q[1]+by*v[1]
				case 'B':
					if err := slopes.Release(g, q); err != nil {
						return kernels.Info{}, err
					}
					v[0], v[1] = v[0]-by*(g[0]+q[0]), v[1]-by*(g[1]+q[1])
				case 'O':
					alpha := math.Exp(-friction * by)
					for j := range v {
						v[j] = alpha*v[j] + noise(alpha)*rng.NormFloat64()
					}
				}
			}
			k.known = true
			copy(s.Theta, q)
			return kernels.Info{Accepted: true, StepSize: h, Gradients: 2}, nil
		}
		return k, err
	})
}

// preconditioned makes Langevin steps of two sizes, and takes the releases' noise off what it adds.
func preconditioned(name, effect string, power float64) Case {
	by := []float64{1, 0.25}
	m := curator.NoisyGradient{Target: posteriors.StandardMean(), Clip: 10, NoiseMultiplier: 0.1}
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		return descends(c, steps, m, size,
			func(slopes *curator.Gradients, g []float64, rng *rand.Rand, theta []float64) {
				sd := slopes.NoiseSD() * size / 2
				for j, t := range theta {
					adds := math.Sqrt(size*by[j] - sd*sd*math.Pow(by[j], power))
					theta[j] += adds*rng.NormFloat64() - size/2*by[j]*(g[j]+t)
				}
			})
	}, func(o *proptest.KernelOptions) {
		o.Exact = func(rng *rand.Rand, t []float64) {
			for j := range t {
				stays := 1 - size*by[j]*precision/2
				t[j] = center[j] + math.Sqrt(size*by[j]/(1-stays*stays))*rng.NormFloat64()
			}
		}
	})
}
