package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// dense is Hamiltonian Monte Carlo with a mass matrix LLᵀ, and a bit for its test.
type denseFlaws struct {
	transposed, diagonal bool
}

func dense(name, effect string, f denseFlaws) Case {
	const h, n = 0.35, 2
	a, b, d := 1.4, 0.6, 0.9 // L is a, 0; b, d
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, slopes, err := grantBoth(c, target, steps, (n+1)*steps)
		p, q, g := make([]float64, 2), make([]float64, 2), make([]float64, 2)
		solve := func() (u, v float64) { // M⁻¹p
			y := p[0] / a
			w := (p[1] - b*y) / d
			v = w / d
			return (y - b*v) / a, v
		}
		energy := func() float64 {
			if f.diagonal {
				return p[0]*p[0]/(2*a*a) + p[1]*p[1]/(2*(b*b+d*d))
			}
			u, v := solve()
			return (u*p[0] + v*p[1]) / 2
		}
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				info := kernels.Info{StepSize: h, Gradients: n + 1}
				y, z := rng.NormFloat64(), rng.NormFloat64()
				p[0], p[1] = a*y, b*y+d*z
				if f.transposed {
					p[0], p[1] = a*y+b*z, d*z
				}
				copy(q, s.Theta)
				begun := energy()
				for i := range n + 1 {
					if i > 0 {
						u, v := solve()
						q[0], q[1] = q[0]+h*u, q[1]+h*v
					}
					if err := slopes.Release(g, q); err != nil {
						return info, err
					}
					for j, t := range q {
						p[j] -= h * either(i == 0 || i == n, 0.5, 1) * (g[j] + t)
					}
				}
				var err error
				info.Accepted, err = bits.Accept(q, s.Theta, priorRatio(target, q, s.Theta)+begun-energy())
				if info.Accepted {
					copy(s.Theta, q)
				}
				return info, err
			}}, err
	})
}

// leaping is Hamiltonian Monte Carlo whose leaps begin and end with a half move of the parameters.
func leaping(name, effect string, last float64, count func(rng *rand.Rand, p float64) int) Case {
	const h = 0.3
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, slopes, err := grantBoth(c, target, steps, 3*steps)
		p, q, g := make([]float64, 2), make([]float64, 2), make([]float64, 2)
		drift := func(by float64) { q[0], q[1] = q[0]+by*p[0], q[1]+by*p[1] }
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				info := kernels.Info{StepSize: h, Gradients: 3}
				copy(q, s.Theta)
				p[0], p[1] = rng.NormFloat64(), rng.NormFloat64()
				begun, n := dot(p, p)/2, count(rng, p[0])
				for i := range 3 {
					if i < n {
						drift(either(i == 0, h/2, h))
					}
					if err := slopes.Release(g, q); err != nil {
						return info, err
					}
					for j, t := range q {
						p[j] -= either(i < n, h, 0) * (g[j] + t)
					}
				}
				drift(h / 2 * last)
				var err error
				info.Accepted, err = bits.Accept(q, s.Theta, priorRatio(target, q, s.Theta)+begun-dot(p, p)/2)
				if info.Accepted {
					copy(s.Theta, q)
				}
				return info, err
			}}, err
	})
}

func three(*rand.Rand, float64) int { return 3 }

// kicking is Hamiltonian Monte Carlo of two leaps, whose momentum has a law and an energy of one's choice.
type kicking struct {
	momentum func(rng *rand.Rand) float64
	energy   func(p float64) float64
	speed    func(p float64) float64 // the energy's derivative
	widths   [2]float64              // of the leaps of each parameter
	early    bool                    // the energy at the end is that before the last half kick
}

func normalKick(second float64) kicking {
	return kicking{momentum: (*rand.Rand).NormFloat64, energy: func(p float64) float64 { return p * p / 2 },
		speed: func(p float64) float64 { return p }, widths: [2]float64{0.3, second}}
}

// studentKick has momenta of eight degrees of freedom.
func studentKick(energy func(p float64) float64) kicking {
	return kicking{momentum: func(rng *rand.Rand) float64 { return rng.NormFloat64() * heavier(rng, 8) / math.Sqrt(0.75) },
		energy: energy, speed: func(p float64) float64 { return p }, widths: [2]float64{0.3, 0.3}}
}

func kicked(name, effect string, f kicking) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, slopes, err := grantBoth(c, target, steps, 3*steps)
		p, q, g := make([]float64, 2), make([]float64, 2), make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				info := kernels.Info{StepSize: 0.3, Gradients: 3}
				copy(q, s.Theta)
				p[0], p[1] = f.momentum(rng), f.momentum(rng)
				begun, ended := f.energy(p[0])+f.energy(p[1]), 0.0
				for i := range 3 {
					if err := slopes.Release(g, q); err != nil {
						return info, err
					}
					ended = f.energy(p[0]) + f.energy(p[1])
					for j, h := range f.widths {
						p[j] -= h * either(i == 1, 1, 0.5) * (g[j] + q[j])
						q[j] += either(i < 2, h, 0) * f.speed(p[j])
					}
				}
				if !f.early {
					ended = f.energy(p[0]) + f.energy(p[1])
				}
				var err error
				info.Accepted, err = bits.Accept(q, s.Theta, priorRatio(target, q, s.Theta)+begun-ended)
				if info.Accepted {
					copy(s.Theta, q)
				}
				return info, err
			}}, err
	})
}

// reusing is Hamiltonian Monte Carlo of two leaps, whose momentum serves again now and then.
func reusing(name, effect string, chance int) Case {
	const h = 0.35
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, slopes, err := grantBoth(c, target, steps, 2*steps)
		q, g := make([]float64, 2), make([]float64, 2)
		k := &minding{remembered: remembered{memory: make([]float64, 2)}}
		p := k.memory
		k.made = made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				info := kernels.Info{StepSize: h, Gradients: 2}
				again, y, z := chance > 0 && rng.IntN(max(1, chance)) == 0, rng.NormFloat64(), rng.NormFloat64()
				if !again || !k.known {
					p[0], p[1] = y, z
				}
				k.known = true
				copy(q, s.Theta)
				begun := dot(p, p) / 2
				for range 2 {
					q[0], q[1] = q[0]+h/2*p[0], q[1]+h/2*p[1]
					if err := slopes.Release(g, q); err != nil {
						return info, err
					}
					p[0], p[1] = p[0]-h*(g[0]+q[0]), p[1]-h*(g[1]+q[1])
					q[0], q[1] = q[0]+h/2*p[0], q[1]+h/2*p[1]
				}
				var err error
				info.Accepted, err = bits.Accept(q, s.Theta, priorRatio(target, q, s.Theta)+begun-dot(p, p)/2)
				if info.Accepted {
					copy(s.Theta, q)
				}
				return info, err
			}}
		return k, err
	})
}
