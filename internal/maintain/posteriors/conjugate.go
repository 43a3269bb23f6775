package posteriors

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// StandardMean is N(θ, I₂) with a standard normal prior of θ: the posterior of n
// records with sum s is N(s/(n+1), I/(n+1)).
func StandardMean() *targets.GaussianMean {
	return Must(targets.New(targets.GaussianMeanConfig{Features: 2, Prior: priors.Gaussian{SD: 1}}))
}

// Conjugate are six records and exact draws of their posterior under StandardMean.
func Conjugate() (records curator.Records, exact func(rng *rand.Rand, theta []float64)) {
	x := []float64{1.5, -1, 0.5, 0, 2, -0.5, 1, 0.5, 2.5, 0, 1.5, -1}
	return curator.Records{X: x, Features: 2}, func(rng *rand.Rand, theta []float64) {
		n := float64(len(x) / 2)
		for j := range theta {
			sum := 0.0
			for i := j; i < len(x); i += 2 {
				sum += x[i]
			}
			theta[j] = sum/(n+1) + rng.NormFloat64()/math.Sqrt(n+1)
		}
	}
}
