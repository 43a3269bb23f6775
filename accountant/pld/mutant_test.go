package pld

import (
	"math"
	"testing"
)

// lattices of one direction of T Gaussian steps, as run composes them, with a
// defect injected after discretisation.
func mutated(count int64, delta float64, defect func(p *plan, d *lattice)) bound {
	j := newJob([]Part{{must(Gaussian(4)), count}}, 0, AtDelta(delta), false)
	p := newPlan(j)
	p.settle()
	d, escape := p.discretise(0)
	defect(&p, d)
	d.normalise()
	return p.bound(p.repeat(d, count), -math.Expm1(float64(count)*math.Log1p(-escape)))
}

// safe reports whether a bound lies above the closed form around its target.
func safe(b bound, count int64, delta float64) bool {
	mu := math.Sqrt(float64(count)) / 4
	e := b.epsilon(delta)
	return gaussianDelta(mu, e) <= delta
}

// The closed form rejects implementations that are wrong in ways this one could
// be: each defect is about as small as the error it replaces.
func TestMutantsAreRejected(t *testing.T) {
	const count, delta = 1000, 1e-6
	if !safe(mutated(count, delta, func(*plan, *lattice) {}), count, delta) {
		t.Fatal("the sound composition is rejected")
	}
	for name, defect := range map[string]func(p *plan, d *lattice){
		// All losses one grid step too small.
		"shifted": func(p *plan, d *lattice) {
			d.first--
			d.log -= p.theta * d.step
		},
		// Losses rounded to the nearest even point instead of shared upwards.
		"nearest": func(p *plan, d *lattice) {
			for i := range d.mass {
				if (d.first+i)%2 != 0 && i > 0 {
					d.mass[i-1] += d.mass[i] * math.Exp(-p.theta*d.step)
					d.mass[i] = 0
				}
			}
		},
		// Total probability lost instead of sent to infinity.
		"lost mass": func(_ *plan, d *lattice) { d.log -= 1e-6 },
		// Losses of the upper tail cut away.
		"cut tail": func(_ *plan, d *lattice) { d.mass = d.mass[:len(d.mass)/2+len(d.mass)/12] },
	} {
		if b := mutated(count, delta, defect); safe(b, count, delta) {
			t.Errorf("mutant %q passes: ε = %v", name, b.epsilon(delta))
		}
	}
}

// Rounding errors of the transforms stay within the bound that is charged: a
// power of a sparse lattice against exact convolution in the same arithmetic.
func TestTransformErrorIsCovered(t *testing.T) {
	d := &lattice{step: 0.01, first: -3, mass: make([]float64, 3000)}
	for i := range d.mass {
		d.mass[i] = math.Exp(-float64(i) / 300)
	}
	d.normalise()
	const k = 5
	got := convolve([]term{{d, k}}, nil, 1e-12)
	want := []float64{1}
	for range k {
		next := make([]float64, len(want)+len(d.mass)-1)
		for i, a := range want {
			for j, b := range d.mass {
				next[i+j] += a * b
			}
		}
		want = next
	}
	sum, square := 0.0, 0.0
	for i, v := range got.mass {
		e := v - want[got.first+i-k*d.first]
		sum += math.Abs(e)
		square += e * e
	}
	if math.Sqrt(square) > got.noise+got.slip/math.Sqrt(float64(len(got.mass))) ||
		sum > got.slip+got.noise*math.Sqrt(float64(len(got.mass))) {
		t.Errorf("error %.2e (sum %.2e), charged noise %.2e and slip %.2e", math.Sqrt(square), sum, got.noise, got.slip)
	}
	if got.noise > 1e-10 {
		t.Errorf("noise bound %v is useless", got.noise)
	}
}

// Coarsening keeps both totals and raises the profile; undercutting lowers it.
func TestCoarsenBrackets(t *testing.T) {
	const theta = 2.0
	fine := &lattice{step: 0.05, first: -41, mass: make([]float64, 120)}
	for i := range fine.mass {
		x := float64(i-60) / 15
		fine.mass[i] = math.Exp(-x * x)
	}
	fine.normalise()
	profile := func(d *lattice, eps float64) float64 {
		sum := 0.0
		for i, m := range d.mass {
			x := float64(d.first+i) * d.step
			sum += m * math.Exp(d.log-theta*x) * -math.Expm1(min(0, eps-x))
		}
		return sum
	}
	above := fine.coarsen(4, theta)
	under := fine.coarsen(4, theta)
	under.undercut(fine, theta)
	for eps := -2.5; eps < 4; eps += 0.013 {
		lo, mid, hi := profile(under, eps), profile(fine, eps), profile(above, eps)
		slack := under.slip * math.Exp(under.log-theta*eps)
		if mid > hi*(1+1e-12)+1e-300 || lo-slack > mid*(1+1e-12) {
			t.Errorf("ε=%v: %v, %v, %v", eps, lo, mid, hi)
		}
		if hi-lo > 0.03 {
			t.Errorf("ε=%v: bracket [%v, %v] is wide", eps, lo, hi)
		}
	}
}
