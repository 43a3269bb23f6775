package surrogates

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Where classes are nearly separable the size of coefficients is the prior's. Their signs may be the
// records', and so may the order in which predictors put records. Both are known if they are the same
// under priors of any width.

// knownChance is the part of a posterior that has what is known, under each prior.
const knownChance = 0.95

// signsOf are the signs that draws of d coefficients have, where nearly all have the same.
func signsOf(draws [][]float64, d int) []float64 {
	signs := make([]float64, d)
	for j := range signs {
		positive := 0
		for _, theta := range draws {
			if theta[j] > 0 {
				positive++
			}
		}
		switch share := float64(positive) / float64(len(draws)); {
		case share >= knownChance:
			signs[j] = 1
		case share <= 1-knownChance:
			signs[j] = -1
		}
	}
	return signs
}

// keepSign leaves the sign of a coefficient if its normal law under another prior has it as well.
func (c *PriorCheck) keepSign(j int, mean, sd float64) {
	if c.Signs[j]*mean < quantile(knownChance)*sd {
		c.Signs[j] = 0
	}
}

// confirm leaves of the order of records what another prior says as well, of a normal law about its mode.
// mean is that of the draws.
func (c *PriorCheck) confirm(mode []float64, spread, law *mat.SymDense, mean []float64, seed uint64) error {
	factor, err := lowerOf(spread)
	if err != nil {
		return err
	}
	other := around(mode, factor, 400, rand.New(rand.NewPCG(seed, 0x519)))
	c.Order = min(c.Order, orderAmong(other, mean, law))
	return nil
}

// around are draws of a normal law.
func around(mean, factor []float64, draws int, rng *rand.Rand) [][]float64 {
	out, z := make([][]float64, draws), make([]float64, len(mean))
	for i := range out {
		for j := range z {
			z[j] = rng.NormFloat64()
		}
		out[i] = make([]float64, len(mean))
		unwhiten(out[i], z, mean, factor)
	}
	return out
}

func meanDraw(draws [][]float64) []float64 {
	out := make([]float64, len(draws[0]))
	for _, theta := range draws {
		for j, v := range theta {
			out[j] += v / float64(len(draws))
		}
	}
	return out
}

// orderAmong is the correlation, over records, of linear predictors at draws with that at a point, of
// all but the least in twenty.
func orderAmong(draws [][]float64, at []float64, law *mat.SymDense) float64 {
	d := len(at)
	var toward mat.VecDense
	toward.MulVec(law, mat.NewVecDense(d, at))
	own := mat.Dot(&toward, mat.NewVecDense(d, at))
	all := make([]float64, len(draws))
	for i, theta := range draws {
		t := mat.NewVecDense(d, theta)
		all[i] = max(0, mat.Dot(&toward, t)/math.Sqrt(own*mat.Inner(t, law, t)+math.SmallestNonzeroFloat64))
	}
	slices.Sort(all)
	return all[int((1-knownChance)*float64(len(all)))]
}

// law is the covariance of features, averaged over imputations.
func (p *Score) law() *mat.SymDense {
	out := mat.NewSymDense(p.dim, nil)
	for _, im := range p.imputations {
		out.AddSym(out, mat.NewSymDense(p.dim, slices.Clone(im.features.spread)))
	}
	return out
}
