package surrogates

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/priors"
)

// CentredGaussian is a prior of the coefficients of features that are not centred as if they were:
// independent centred normals of all coefficients but the intercept, and of what the linear predictor
// is at the features' means. So that does not depend on how steep the predictor is. There may be
// several predictors of the same features, whose coefficients come one after the other.
//
// Levels of a category are as those of one more, which has none of its indicators: any two of them
// differ by N(0, SD²). So it does not matter which level has no indicator. The predictor of records
// with that one is as open as others, however few they are.
type CentredGaussian struct {
	// Gaussian has SDs, the intercept's of centred features, and the same for all levels of a category.
	priors.Gaussian
	// Intercept is the index of the intercept among the coefficients of a predictor.
	Intercept int
	// Means are those of the features over the constant one. It is 0 for the intercept, and for
	// features that are not centred.
	Means []float64
	// Categories are the features of a predictor that are levels of a category, for each.
	Categories [][]int
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
	return c.checkCategories()
}

func (c CentredGaussian) checkCategories() error {
	for _, levels := range c.Categories {
		for i, j := range levels {
			if j < 0 || j >= len(c.Means) || j == c.Intercept || slices.Contains(levels[:i], j) {
				return fmt.Errorf("surrogates: CentredGaussian: Categories has the level %d; it must be a feature, not the "+
					"intercept, and once", j)
			}
			for p := 0; p < len(c.SDs); p += len(c.Means) {
				if c.SDs[p+j] != c.SDs[p+levels[0]] {
					return fmt.Errorf("surrogates: CentredGaussian: SDs of features %d and %d differ; levels of a category have "+
						"the same", j, levels[0])
				}
			}
		}
	}
	return nil
}

// ofLevels are the sum and the sum of squares of values of a category's levels, where a predictor's begin at i.
func ofLevels(values []float64, i int, levels []int) (sum, squares float64) {
	for _, j := range levels {
		sum, squares = sum+values[i+j], squares+values[i+j]*values[i+j]
	}
	return sum, squares
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
		for _, levels := range c.Categories {
			sum, squares := ofLevels(theta, i, levels)
			sd := c.SDs[i+levels[0]]
			log -= (squares - 2*sum*sum/float64(len(levels)+1)) / (sd * sd) / 2
		}
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
		for _, levels := range c.Categories {
			sum, _ := ofLevels(theta, i, levels)
			for _, j := range levels {
				dst[i+j] -= (theta[i+j] - 2*sum/float64(len(levels)+1)) / c.SDs[i+j] / c.SDs[i+j]
			}
		}
	}
}

// Sample sets theta to a draw.
func (c CentredGaussian) Sample(theta []float64, rng *rand.Rand) {
	c.Gaussian.Sample(theta, rng)
	for i := 0; i < len(theta); i += len(c.Means) {
		for _, levels := range c.Categories {
			none := c.SDs[i+levels[0]] * rng.NormFloat64()
			for _, j := range levels {
				theta[i+j] = (theta[i+j] - none) / math.Sqrt2
			}
		}
		theta[i+c.Intercept] -= c.moved(theta, i)
	}
}
