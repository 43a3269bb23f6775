package targets

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/priors"
)

// An analytic density is the textbook one at complex parameters. With imaginary
// parts of 10⁻¹⁰⁰, whose squares vanish, complex numbers are dual numbers: the
// imaginary part of a function is its derivative to a few roundings, with no
// difference taken.
type analytic struct {
	logf  func(theta []complex128, x []float64, y float64) complex128
	power func(theta []complex128, x []float64, beta float64) complex128 // ∫f^β
}

func cdot(theta []complex128, x []float64) (s complex128) {
	for i, v := range x {
		s += theta[i] * complex(v, 0)
	}
	return s
}

func real128(v float64) complex128 { return complex(v, 0) }

// overOutcomes is Σf^β over the outcomes 0, …, n−1.
func overOutcomes(n int, logf func(theta []complex128, x []float64, y float64) complex128) analytic {
	return analytic{logf, func(theta []complex128, x []float64, beta float64) (s complex128) {
		for y := range n {
			s += cmplx.Exp(real128(beta) * logf(theta, x, float64(y)))
		}
		return s
	}}
}

// binaryAnalytic takes log P(1) and log P(0).
func binaryAnalytic(one, none func(eta complex128) complex128) analytic {
	return overOutcomes(2, func(theta []complex128, x []float64, y float64) complex128 {
		if y == 1 {
			return one(cdot(theta, x))
		}
		return none(cdot(theta, x))
	})
}

// normalCDF is Φ of a dual number.
func normalCDF(z complex128) complex128 {
	x := real(z)
	return complex(math.Erfc(-x/math.Sqrt2)/2, imag(z)*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi))
}

// scaled is a location-scale density with the given residual and scale.
func scaled(nu float64, at func(theta []complex128, x []float64) (eta, sigma complex128)) analytic {
	logg := func(z complex128) complex128 { return -z*z/2 - real128(math.Log(2*math.Pi)/2) }
	power := func(beta float64) float64 { return math.Pow(2*math.Pi, (1-beta)/2) / math.Sqrt(beta) }
	if nu > 0 {
		logc := lgamma((nu+1)/2) - lgamma(nu/2) - math.Log(nu*math.Pi)/2
		logg = func(z complex128) complex128 {
			return real128(logc) - real128((nu+1)/2)*cmplx.Log(1+z*z/real128(nu))
		}
		power = func(beta float64) float64 { // c^β·√ν·B(½, (β(ν+1)−1)/2)
			a := (beta*(nu+1) - 1) / 2
			return math.Exp(beta*logc + math.Log(nu*math.Pi)/2 + lgamma(a) - lgamma(a+0.5))
		}
	}
	return analytic{
		logf: func(theta []complex128, x []float64, y float64) complex128 {
			eta, sigma := at(theta, x)
			return logg((real128(y)-eta)/sigma) - cmplx.Log(sigma)
		},
		power: func(theta []complex128, x []float64, beta float64) complex128 {
			_, sigma := at(theta, x)
			return real128(power(beta)) * cmplx.Pow(sigma, real128(1-beta))
		},
	}
}

func linearAnalytic(nu float64) analytic {
	return scaled(nu, func(theta []complex128, x []float64) (eta, sigma complex128) {
		return cdot(theta[:2], x), 0.3 + cmplx.Exp(theta[2])
	})
}

// medianAnalytic takes the absolute value of a residual by the sign of its real part.
func medianAnalytic() analytic {
	const scale = 0.4
	return analytic{
		logf: func(theta []complex128, x []float64, y float64) complex128 {
			r := real128(y) - cdot(theta, x)
			if real(r) < 0 {
				r = -r
			}
			return -r/scale - real128(math.Log(2*scale))
		},
		power: func([]complex128, []float64, float64) complex128 { return 0 }, // the same for all θ
	}
}

func meanAnalytic(curvature complex128) analytic {
	const det = 0.5*0.4 - 0.3*0.3
	return analytic{
		logf: func(theta []complex128, x []float64, _ float64) complex128 {
			u, v := real128(x[0])-theta[0], real128(x[1])-theta[1]-curvature*theta[0]*theta[0]
			return -(0.4*u*u-0.6*u*v+0.5*v*v)/(2*det) - real128(math.Log(2*math.Pi*math.Sqrt(det)))
		},
		power: func([]complex128, []float64, float64) complex128 { return 0 }, // the same for all θ
	}
}

func mixtureAnalytic() analytic {
	logf := func(theta []complex128, x []float64, _ float64) complex128 {
		n := func(mu complex128) complex128 {
			return cmplx.Exp(-(real128(x[0]) - mu) * (real128(x[0]) - mu) / 4)
		}
		return cmplx.Log((n(theta[0]) + n(theta[0]+theta[1])) / real128(2*math.Sqrt(4*math.Pi)))
	}
	return analytic{logf, func(theta []complex128, x []float64, beta float64) (s complex128) {
		const step = 0.05 // trapezoids of an analytic integrand are exact to rounding
		middle := real(theta[0] + theta[1]/2)
		for k := -480; k <= 480; k++ {
			s += real128(step) * cmplx.Exp(real128(beta)*logf(theta, []float64{middle + step*float64(k)}, 0))
		}
		return s
	}}
}

func logSoftmax(k int, logits ...complex128) complex128 {
	var sum complex128
	for _, a := range logits {
		sum += cmplx.Exp(a)
	}
	return logits[k] - cmplx.Log(sum)
}

// networkOutputs is the forward pass of plainNetwork.
func networkOutputs(classes int, relu bool, theta []complex128, x []float64) []complex128 {
	hidden := make([]complex128, 2)
	for j := range hidden {
		hidden[j] = cdot(theta[2*j:2*j+2], x) + theta[4+j]
		switch {
		case !relu:
			e := cmplx.Exp(2 * hidden[j])
			hidden[j] = (e - 1) / (e + 1)
		case real(hidden[j]) < 0:
			hidden[j] = 0
		}
	}
	k := max(1, classes)
	out := make([]complex128, k)
	for j := range out {
		out[j] = hidden[0]*theta[6+2*j] + hidden[1]*theta[7+2*j] + theta[6+2*k+j]
	}
	return out
}

// analyticCases are the densities of modelCases, by their names.
func analyticCases() map[string]analytic {
	const r = 1.7
	softplus := func(z complex128) complex128 { return cmplx.Log(1 + cmplx.Exp(z)) }
	return map[string]analytic{
		"logistic": binaryAnalytic(func(e complex128) complex128 { return -softplus(-e) },
			func(e complex128) complex128 { return -softplus(e) }),
		"probit": binaryAnalytic(func(e complex128) complex128 { return cmplx.Log(normalCDF(e)) },
			func(e complex128) complex128 { return cmplx.Log(normalCDF(-e)) }),
		"cloglog": binaryAnalytic(func(e complex128) complex128 { return cmplx.Log(1 - cmplx.Exp(-cmplx.Exp(e))) },
			func(e complex128) complex128 { return -cmplx.Exp(e) }),
		"loglog": binaryAnalytic(func(e complex128) complex128 { return -cmplx.Exp(-e) },
			func(e complex128) complex128 { return cmplx.Log(1 - cmplx.Exp(-cmplx.Exp(-e))) }),
		"median":         medianAnalytic(),
		"linear-normal":  linearAnalytic(0),
		"linear-student": linearAnalytic(4),
		"mixture":        mixtureAnalytic(),
		"mean":           meanAnalytic(0),
		"banana":         meanAnalytic(0.7),
		"heteroscedastic": scaled(0, func(theta []complex128, x []float64) (eta, sigma complex128) {
			return cdot(theta[:2], x), 0.3 + cmplx.Exp(cdot(theta[2:], x))
		}),
		"softmax": overOutcomes(3, func(theta []complex128, x []float64, y float64) complex128 {
			return logSoftmax(int(y), cdot(theta[:2], x), cdot(theta[2:4], x), cdot(theta[4:], x))
		}),
		"dirichlet": overOutcomes(3, func(theta []complex128, _ []float64, y float64) complex128 {
			return logSoftmax(int(y), 0, theta[0], theta[1])
		}),
		"poisson": overOutcomes(250, func(theta []complex128, x []float64, y float64) complex128 {
			eta := cdot(theta, x)
			return real128(y)*eta - cmplx.Exp(eta) - real128(lgamma(y+1))
		}),
		"negative-binomial": overOutcomes(1500, func(theta []complex128, x []float64, y float64) complex128 {
			mean := cmplx.Exp(cdot(theta, x))
			choose := lgamma(y+r) - lgamma(y+1) - lgamma(r)
			return real128(choose) + r*cmplx.Log(r/(r+mean)) + real128(y)*cmplx.Log(mean/(r+mean))
		}),
		"network-regression": scaled(0, func(theta []complex128, x []float64) (eta, sigma complex128) {
			return networkOutputs(0, false, theta, x)[0], 0.8
		}),
		"network-scale": scaled(0, func(theta []complex128, x []float64) (eta, sigma complex128) {
			return networkOutputs(0, false, theta, x)[0], 0.3 + cmplx.Exp(theta[9])
		}),
		"network-classes": overOutcomes(3, func(theta []complex128, x []float64, y float64) complex128 {
			return logSoftmax(int(y), networkOutputs(3, true, theta, x)...)
		}),
	}
}

// gradient is that of the loss by complex steps, and the size of the terms that
// make it up, to which its roundings are proportional.
func (a analytic) gradient(theta, x []float64, y float64, l Loss) (grad, size []float64) {
	const h = 1e-100
	b := max(1, l.Beta) - 1
	for j := range theta {
		z := make([]complex128, len(theta))
		for k, v := range theta {
			z[k] = complex(v, 0)
		}
		z[j] += complex(0, h)
		logf := a.logf(z, x, y)
		own, common := -imag(logf)/h, 0.0
		if b > 0 {
			own *= math.Exp(b * real(logf))
			common = imag(a.power(z, x, 1+b)) / h / (1 + b)
		}
		grad, size = append(grad, own+common), append(size, math.Abs(own)+math.Abs(common))
	}
	return grad, size
}

// TestGradientsMatchComplexSteps holds every gradient to the complex step of the
// textbook density: 10⁻¹² of the size of its terms; where a table or a quadrature is
// behind the integral, 10⁻¹⁰.
func TestGradientsMatchComplexSteps(t *testing.T) {
	densities := analyticCases()
	forEachCase(t, func(t *testing.T, c *modelCase, rng *rand.Rand) {
		name, _, _ := strings.Cut(c.name, "/")
		density, ok := densities[name]
		if !ok {
			t.Fatal("no density at complex parameters")
		}
		tolerance := 1e-12
		if density.power != nil && c.loss.Beta != 0 && (name == "poisson" || name == "negative-binomial" ||
			name == "mixture") {
			tolerance = 1e-10
		}
		d := c.target.Dim()
		for range 8 {
			theta, rows := c.draw(rng), c.sample(rng, 1)
			var y float64
			if rows.Y != nil {
				y = rows.Y[0]
			}
			got := make([]float64, d)
			c.target.(GradTarget).LossGrad(got, theta, rows)
			want, size := density.gradient(theta, rows.X, y, c.loss)
			for j := range got {
				if !(math.Abs(got[j]-want[j]) <= tolerance*size[j]+1e-15) {
					t.Fatalf("parameter %d: gradient %v, complex step %v: %.1e of its terms apart", j, got[j], want[j],
						math.Abs(got[j]-want[j])/size[j])
				}
			}
		}
	})
}

// TestComplexStepsRejectSmallErrors: the comparison tells 10⁻¹¹.
func TestComplexStepsRejectSmallErrors(t *testing.T) {
	m := must[*Regression](t)(New(RegressionConfig{Family: "probit", Features: 1, Loss: betaLoss(t, 1.5),
		Prior: priors.Gaussian{SD: 1}}))
	got := []float64{0}
	m.LossGrad(got, []float64{0.4}, Rows{X: []float64{1}, P: 1, Y: []float64{1}})
	want, size := analyticCases()["probit"].gradient([]float64{0.4}, []float64{1}, 1, betaLoss(t, 1.5))
	if off := math.Abs(got[0]-want[0]) / size[0]; off > 1e-12 || math.Abs(got[0]*(1+1e-11)-want[0])/size[0] <= 1e-12 {
		t.Errorf("the gradient is %.1e off, or one that is 1e-11 off would pass", off)
	}
}
