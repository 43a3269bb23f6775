package surrogates

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/priors"
)

// CentredGaussian is a prior of the coefficients of features that are not centred as if they were:
// independent centred normals of all coefficients but the intercept, and of what the linear predictor
// is at the features' means. So that does not depend on how steep the predictor is. There may be
// several predictors of the same features, whose coefficients come one after the other.
type CentredGaussian struct {
	// Gaussian has SDs, the intercept's of centred features.
	priors.Gaussian
	// Intercept is the index of the intercept among the coefficients of a predictor.
	Intercept int
	// Means are those of the features over the constant one. It is 0 for the intercept, and for
	// features that are not centred.
	Means []float64
}

var _ priors.Prior = CentredGaussian{}

// Check refuses what Gaussian does, an intercept that is none of the parameters, and means that are
// not finite, not dim in number, or not 0 for the intercept.
func (c CentredGaussian) Check(dim int) error {
	if err := c.Gaussian.Check(dim); err != nil {
		return err
	}
	p := len(c.Means)
	if len(c.SDs) != dim || p == 0 || dim%p != 0 || c.Intercept < 0 || c.Intercept >= p {
		return fmt.Errorf("surrogates: CentredGaussian: %d SDs, %d means and intercept %d for %d parameters; give an SD "+
			"for each, and a mean for each of a predictor, of which the intercept is one", len(c.SDs), p, c.Intercept, dim)
	}
	for j, m := range c.Means {
		if math.IsNaN(m) || math.IsInf(m, 0) || j == c.Intercept && m != 0 {
			return fmt.Errorf("surrogates: CentredGaussian: Means[%d] = %v; means must be finite, and the intercept's 0", j, m)
		}
	}
	return nil
}

// moved is what centring adds to the intercept of the predictor whose coefficients begin at i.
func (c CentredGaussian) moved(theta []float64, i int) (by float64) {
	for j, m := range c.Means {
		by += m * theta[i+j]
	}
	return by
}

// LogDensity returns that of the Gaussian, up to a constant, at the coefficients of centred features.
func (c CentredGaussian) LogDensity(theta []float64) float64 {
	log := c.Gaussian.LogDensity(theta)
	for i := 0; i < len(theta); i += len(c.Means) {
		own, sd, by := theta[i+c.Intercept], c.SDs[i+c.Intercept], c.moved(theta, i)
		log -= (2*own + by) / sd * (by / sd) / 2
	}
	return log
}

// Grad sets dst to the gradient of LogDensity.
func (c CentredGaussian) Grad(dst, theta []float64) {
	c.Gaussian.Grad(dst, theta)
	for i := 0; i < len(theta); i += len(c.Means) {
		sd := c.SDs[i+c.Intercept]
		slope := -(theta[i+c.Intercept] + c.moved(theta, i)) / sd / sd
		dst[i+c.Intercept] = slope
		for j, m := range c.Means {
			dst[i+j] += m * slope
		}
	}
}

// Sample sets theta to a draw.
func (c CentredGaussian) Sample(theta []float64, rng *rand.Rand) {
	c.Gaussian.Sample(theta, rng)
	for i := 0; i < len(theta); i += len(c.Means) {
		theta[i+c.Intercept] -= c.moved(theta, i)
	}
}
