package surrogates

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
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
	for i := 0; i < len(b.SDs); i += len(b.Means) {
		own, c := b.SDs[i+b.Intercept], i+b.Intercept
		for j, u := range b.Means {
			if u == 0 {
				continue
			}
			m.SetSym(i+j, c, m.At(i+j, c)+share*u/(own*own))
			for k, v := range b.Means[:j+1] {
				m.SetSym(i+j, i+k, m.At(i+j, i+k)+share*(u/own)*(v/own))
			}
		}
		for _, levels := range b.Categories {
			for at, j := range levels {
				each := share / (b.SDs[i+j] * b.SDs[i+j])
				m.SetSym(i+j, i+j, m.At(i+j, i+j)+each)
				for _, k := range levels[:at+1] {
					m.SetSym(i+j, i+k, m.At(i+j, i+k)-2*each/float64(len(levels)+1))
				}
			}
		}
	}
}

// variance is that of a coefficient.
func (b broad) variance(i int) float64 {
	v := make([]float64, len(b.SDs))
	v[i] = 1
	return b.along(v)
}

// along is that of a combination of coefficients.
func (b broad) along(v []float64) (variance float64) {
	moves := make([]float64, len(v))
	for i := 0; i < len(v); i += len(b.Means) {
		own := v[i+b.Intercept]
		for j, mean := range b.Means {
			moves[i+j] = (v[i+j] - own*mean) * b.SDs[i+j]
			variance += moves[i+j] * moves[i+j]
		}
		for _, levels := range b.Categories {
			sum, squares := ofLevels(moves, i, levels)
			variance += (sum*sum - squares) / 2
		}
	}
	return variance
}

// log is the density's normalizing factor's, but for one of dimensions.
func (b broad) log() (sum float64) {
	for _, sd := range b.SDs {
		sum -= math.Log(sd)
	}
	for _, levels := range b.Categories {
		m := float64(len(levels))
		sum += float64(len(b.SDs)/len(b.Means)) * (m*math.Ln2 - math.Log(m+1)) / 2
	}
	return sum
}

// eitherOf is a mixture of priors, as often of each.
type eitherOf []drawn

// LogDensity is that of the mixture, but for what the priors have in common.
func (e eitherOf) LogDensity(theta []float64) float64 {
	logs := make([]float64, len(e))
	for k, one := range e {
		logs[k] = one.LogDensity(theta)
	}
	return floats.LogSumExp(logs)
}

// Sample draws from one of them.
func (e eitherOf) Sample(theta []float64, rng *rand.Rand) { e[rng.IntN(len(e))].Sample(theta, rng) }
