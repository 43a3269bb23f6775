package surrogates

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/priors"
)

// broad is a normal of about the spread of a prior. Modes are looked for with it in
// the prior's place: a prior with unknown scales has a pole at 0 that holds no mass.
type broad struct{ priors.Gaussian }

// broaden takes a normal prior as it is, and of others the distance of the 16% and 84% quantiles of prior draws as
// two standard deviations.
func broaden(prior priors.Prior, d int, rng *rand.Rand) broad {
	if normal, ok := prior.(priors.Gaussian); ok {
		b := broad{priors.Gaussian{SDs: slices.Clone(normal.SDs)}}
		if b.SDs == nil {
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
	b := broad{priors.Gaussian{SDs: make([]float64, d)}}
	for j, column := range sample {
		slices.Sort(column)
		b.SDs[j] = max((column[draws*84/100]-column[draws*16/100])/2, 1e-12)
	}
	return b
}

// precision adds the prior's precision to a matrix.
func (b broad) precision(m *mat.SymDense) {
	for j, sd := range b.SDs {
		m.SetSym(j, j, m.At(j, j)+1/(sd*sd))
	}
}
