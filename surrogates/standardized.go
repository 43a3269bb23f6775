package surrogates

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/priors"
)

// standardize takes the prior on standardized features where the configuration asks for it.
func (c Config) standardize() (Config, error) {
	model, normal := c.Prior.(priors.Gaussian)
	switch {
	case c.Effect == 0:
		return c, nil
	case !(c.Effect > 0) || math.IsInf(c.Effect, 1) || !normal || c.Statistics.Weighted:
		return c, fmt.Errorf("surrogates: Config.Effect is %v; it must be positive and finite, or 0, and needs a "+
			"priors.Gaussian and second moments without weights", c.Effect)
	}
	c.Prior = c.Statistics.Standardized(c.Effect, model)
	return c, nil
}

// Standardized is a normal prior of coefficients on features of unknown spread. A number one
// standard deviation off its mean moves the linear predictor by N(0, effect²). The spread is the
// least that the released moments allow for, but for a chance of a tenth, so that noise which
// hides it widens the prior. Levels have the standard deviations of the model's prior. So has
// what the predictor is at the mean of the numbers, of which the intercept is a part.
//
// The moments must not be Weighted.
func (s Statistics) Standardized(effect float64, model priors.Gaussian) priors.Gaussian {
	d, n, constant := len(s.Anchor), float64(s.Records), constantOf(s.Columns)
	out := priors.Gaussian{SDs: make([]float64, d)}
	apart := 0.0 // variance of the predictor at 0 less that at the mean of the numbers
	for j := range d {
		out.SDs[j] = model.SD
		if model.SDs != nil {
			out.SDs[j] = model.SDs[j]
		}
		if s.Columns != nil && s.Columns[j].Kind != Number {
			continue
		}
		mean, variance, noise := s.released(j)
		out.SDs[j] = effect / math.Sqrt(max(leastVariance(variance, noise), s.Radius*s.Radius/(n*n)))
		apart += mean * mean * out.SDs[j] * out.SDs[j]
	}
	if constant >= 0 {
		out.SDs[constant] = math.Sqrt(out.SDs[constant]*out.SDs[constant] +
			apart/(s.Columns[constant].Upper*s.Columns[constant].Upper))
	}
	return out
}

// leastVariance is what a positive number is above with a chance of nine in ten, given it with
// normal noise, all numbers being as likely beforehand.
func leastVariance(released, noise float64) float64 {
	if noise == 0 {
		return released
	}
	positive := math.Erfc(-released/noise/math.Sqrt2) / 2
	return released + noise*math.Sqrt2*math.Erfcinv(2*0.9*positive)
}

// released are feature j's mean and variance by the released moments, and the standard deviation
// of the noise in the variance.
func (s Statistics) released(j int) (mean, variance, noise float64) {
	d, n, constant := len(s.Anchor), float64(s.Records), constantOf(s.Columns)
	variance, noise = s.Moment[j*d+j]/n, s.MomentSD/n
	if constant >= 0 {
		level := s.Columns[constant].Upper
		mean = s.Moment[j*d+constant] / (n * level)
		variance -= mean * mean
		noise *= math.Sqrt(1 + 2*mean*mean/(level*level))
	}
	return mean, variance, noise
}

// typicalSpread is the standard deviation of a number over half the distance of its bounds, where
// these are chosen well and within the radius.
const typicalSpread = 1.0 / 3

// faint are all numbers with bounds, if the release says more surely that columns hardly spread
// than that they spread as usual, and noise hides by how much they do. What is assumed of their
// spread then decides how far coefficients go. Nothing is said where noise would hide usual ones,
// nine times out of ten.
func (s Statistics) faint() (numbers []int) {
	if s.Weighted { // curvatures of rare counts are small, however far columns spread
		return nil
	}
	seen, typical := 0.0, 0.0 // sums over columns, in standard deviations of noise
	for j, c := range s.Columns {
		_, variance, noise := s.released(j)
		if c.Kind != Number || c.Lower == c.Upper || noise == 0 {
			continue
		}
		numbers = append(numbers, j)
		usual := min(typicalSpread*(c.Upper-c.Lower)/2, s.Radius/math.Sqrt(float64(len(s.Columns))))
		seen += variance / noise
		typical += usual * usual / noise
	}
	noise := math.Sqrt(float64(len(numbers)))
	if seen < min(typical/2, 3*noise) && typical/2 > 1.28*noise {
		return numbers
	}
	return nil
}
