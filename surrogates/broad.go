package surrogates

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/priors"
)

// broad is a normal of about the spread of a prior. Modes are looked for with it in
// the prior's place: a prior with unknown scales has a pole at 0 that holds no mass.
type broad struct{ CentredGaussian }

// broaden takes a normal prior as it is, and of others the distance of the 16% and 84% quantiles of prior draws as
// two standard deviations.
func broaden(prior priors.Prior, d int, rng *rand.Rand) broad {
	b := broad{CentredGaussian{Means: make([]float64, d)}}
	switch normal := prior.(type) {
	case CentredGaussian:
		return broad{normal}
	case priors.Gaussian:
		if b.SDs = slices.Clone(normal.SDs); b.SDs == nil {
			b.SDs = slices.Repeat([]float64{normal.SD}, d)
		}
		return b
	}
	const draws = 501
	sample := make([][]float64, d)
	theta := make([]float64, d)
	for range draws {
		prior.Sample(theta, rng)
		for j, t := range theta {
			sample[j] = append(sample[j], t)
		}
	}
	b.SDs = make([]float64, d)
	for j, column := range sample {
		slices.Sort(column)
		b.SDs[j] = max((column[draws*84/100]-column[draws*16/100])/2, 1e-12)
	}
	return b
}

// widened has so many times the standard deviations.
func (b broad) widened(scale float64) broad {
	sds := slices.Clone(b.SDs)
	for j := range sds {
		sds[j] *= scale
	}
	b.SDs = sds
	return b
}

// precision adds a share of the prior's precision to a matrix.
func (b broad) precision(m *mat.SymDense, share float64) {
	for j, sd := range b.SDs {
		m.SetSym(j, j, m.At(j, j)+share/(sd*sd))
	}
	own, c := b.SDs[b.Intercept], b.Intercept
	for j, u := range b.Means {
		if u == 0 {
			continue
		}
		m.SetSym(j, c, m.At(j, c)+share*u/(own*own))
		for k, v := range b.Means[:j+1] {
			m.SetSym(j, k, m.At(j, k)+share*(u/own)*(v/own))
		}
	}
}

// variance is that of a coefficient.
func (b broad) variance(j int) float64 {
	v := b.SDs[j] * b.SDs[j]
	if j == b.Intercept {
		for k, m := range b.Means {
			v += m * b.SDs[k] * m * b.SDs[k]
		}
	}
	return v
}

// log is the density's normalizing factor's, but for one of dimensions.
func (b broad) log() (sum float64) {
	for _, sd := range b.SDs {
		sum -= math.Log(sd)
	}
	return sum
}

// smooth is a normal prior that modes are looked for with.
type smooth interface {
	priors.Prior
	// precision adds a share of the prior's precision to a matrix.
	precision(m *mat.SymDense, share float64)
	// variance is that of coefficient i.
	variance(i int) float64
	// scaled is the prior of coefficients so many times as large.
	scaled(by float64) smooth
}

func (b broad) scaled(by float64) smooth { return b.widened(by) }
