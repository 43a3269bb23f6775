package surrogates

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/priors"
)

// checkEffect reports what is wrong with an effect.
func (c Config) checkEffect() error {
	_, normal := c.Prior.(priors.Gaussian)
	if c.Effect != 0 && (!(c.Effect > 0) || math.IsInf(c.Effect, 1) || !normal || c.Statistics.Weighted) {
		return fmt.Errorf("surrogates: Config.Effect is %v; it must be positive and finite, or 0, and needs a "+
			"priors.Gaussian and second moments without weights", c.Effect)
	}
	return nil
}

// priorOf sets a prior, of a law of the features and a scale of effects.
type priorOf func(o *ownPrior, law *normal, share float64)

// priorGiven is that of each law, or by the released moments where no law is given, and one for all where the prior is
// not of effects. There are d coefficients, and scale says which features have effects of unknown scale.
func (s Statistics) priorGiven(effect float64, prior priors.Prior, d int, scale relative, rng *rand.Rand) priorOf {
	if model, _ := prior.(priors.Gaussian); effect > 0 {
		return func(o *ownPrior, law *normal, share float64) {
			of := s.standing
			if law != nil {
				of = s.standingIn(law)
			}
			o.effects = newEffects(s.onColumns(effect, model, of, d), share, scale)
			o.prior, o.broad = o.effects, o.effects.about(make([]float64, d), nil)
		}
	}
	shared := broaden(prior, d, rng)
	return func(o *ownPrior, _ *normal, _ float64) { o.prior, o.broad = prior, shared }
}

// numbers have effects of unknown scale, and levels have not.
func (s Statistics) numbers(j int) float64 {
	if s.number(j) {
		return 1
	}
	return 0
}

// number reports whether a feature is one.
func (s Statistics) number(j int) bool { return s.Columns == nil || s.Columns[j].Kind == Number }

// Openness is by how much wider than alone the prior of an intercept is beside so many numbers that are
// fitted, for responses that are labels. These spread the linear predictor by latentShare of the latent
// error's variance each, in the mean of the prior. The mean response over records is then that of an
// intercept divided by Openness. So it is as open beside numbers as without any.
func Openness(numbers int) float64 { return math.Sqrt(1 + latentShare*float64(numbers)) }

// latentShare is the square of an effect of 1.5 in log odds, and of as large ones under other links, over
// the variance of the latent error.
const latentShare = 1.5 * 1.5 * 3 / (math.Pi * math.Pi)

// Standardized is a normal prior of coefficients on features of unknown spread. A number one
// standard deviation off its mean moves the linear predictor by N(0, effect²). Any two levels of a category, or the
// labels of a binary column, differ by the standard deviation that the model's prior has for a level. So has what the
// predictor is at the means of all features, in place of the intercept. Moments are the released ones. Where these are
// noisy a spread is the least that they allow for, but for a chance of a tenth.
//
// The moments must not be Weighted.
func (s Statistics) Standardized(effect float64, model priors.Gaussian) CentredGaussian {
	return s.onColumns(effect, model, s.standing, len(s.Anchor))
}

// standing is a feature's mean over the constant one's value, its variance, and the standard deviation
// of the noise in that mean.
type standing func(j int) (mean, variance, noise float64)

// onColumns is that of d coefficients, of one predictor of all features after the other.
func (s Statistics) onColumns(effect float64, model priors.Gaussian, of standing, d int) CentredGaussian {
	n, constant, p := float64(s.Records), ConstantOf(s.Columns), len(s.Anchor)
	out := CentredGaussian{Gaussian: priors.Gaussian{SDs: make([]float64, d)}, Intercept: max(0, constant),
		Means: make([]float64, p), Categories: s.categories()}
	apart := make([]float64, d/p) // variance of a predictor at the means that their noise adds
	for i := range d {
		j := i % p
		out.SDs[i] = model.SD
		if model.SDs != nil {
			out.SDs[i] = model.SDs[i]
		}
		if j == constant {
			continue
		}
		mean, variance, noise := of(j)
		if s.Columns == nil || s.Columns[j].Kind == Number {
			variance = max(variance, s.Radius*s.Radius/(n*n))
			if s.Columns != nil {
				variance += s.Columns[j].Own
			}
			out.SDs[i] = effect / math.Sqrt(variance)
		} else if constant >= 0 {
			c := s.Columns[j]
			mean, noise = c.within(s.Columns[constant].Upper, mean, noise)
			out.SDs[i] *= c.Farthest() / (c.Upper - c.Lower) // half of it where labels are ±1
		}
		out.Means[j] = mean
		apart[i/p] += noise * out.SDs[i] * noise * out.SDs[i]
	}
	for k, v := range apart {
		if constant >= 0 {
			out.SDs[k*p+constant] = math.Hypot(out.SDs[k*p+constant], math.Sqrt(v))
		}
	}
	return out
}

// within are a level's mean over the constant's value and the noise in that, as far as bounds allow.
func (c Column) within(constant, mean, noise float64) (float64, float64) {
	a, b := c.Lower/constant, c.Upper/constant
	lower, upper := min(a, b), max(a, b)
	return max(lower, min(upper, mean)), min(noise, (upper-lower)/math.Sqrt(12))
}

// categories are the features that are levels of a category, for each of more than one, beside a constant.
func (s Statistics) categories() (all [][]int) {
	if ConstantOf(s.Columns) < 0 {
		return nil
	}
	at := map[int]int{} // where groups are among them
	for j, c := range s.Columns {
		if c.Kind != Level || c.Lower != 0 {
			continue
		}
		if _, known := at[c.Group]; !known {
			at[c.Group] = len(all)
			all = append(all, nil)
		}
		all[at[c.Group]] = append(all[at[c.Group]], j)
	}
	return slices.DeleteFunc(all, func(levels []int) bool { return len(levels) < 2 })
}

// OwnShare is the part of a number's variance that its own is taken to be, at least, in priors of numbers that are
// made uncorrelated: what other numbers do not say of it. Where one nearly follows from others, such as a
// charge from minutes, its coefficient beside theirs is then not as large as rounding errors are small.
const OwnShare = 0.01

// standing is that by the released moments, with the least variance.
func (s Statistics) standing(j int) (mean, variance, noise float64) {
	mean, variance, off := s.released(j)
	if constant := ConstantOf(s.Columns); constant >= 0 {
		level := s.Columns[constant].Upper
		mean /= level
		noise = s.MomentSD / math.Sqrt2 / (float64(s.Records) * level * level)
	}
	least := leastVariance(variance, off)
	if usual := s.usual(j); least > usual*usual { // noise alone makes no column a wide one
		least = max(usual*usual, variance-1.28*off)
	}
	return mean, least, noise
}

// usual is the standard deviation of a number whose bounds are chosen well.
func (s Statistics) usual(j int) float64 {
	most := s.Radius / math.Sqrt(float64(len(s.Anchor)))
	if s.Columns == nil || s.Columns[j].Lower == s.Columns[j].Upper {
		return most
	}
	return min(typicalSpread*(s.Columns[j].Upper-s.Columns[j].Lower)/2, most)
}

// standingOf is that of a law.
func (s Statistics) standingOf(law *normal) standing {
	constant := ConstantOf(s.Columns)
	return func(j int) (mean, variance, noise float64) {
		mean, variance = law.moments(j)
		if constant < 0 {
			return 0, variance, 0
		}
		return mean / law.mean[constant], variance, 0
	}
}

// standingIn is that of a law, with no less variance than the release allows for: coefficients would be
// as large as a law's columns are narrow, and most of them would be those of laws that it hardly does.
func (s Statistics) standingIn(law *normal) standing {
	of := s.standingOf(law)
	return func(j int) (mean, variance, noise float64) {
		_, least, _ := s.standing(j)
		mean, variance, noise = of(j)
		return mean, max(variance, least), noise
	}
}

// priors are those of the laws.
func (p *Score) priors() (all ownPriors) {
	for k := range p.imputations {
		all = append(all, &p.imputations[k].ownPrior)
	}
	return all
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
	d, n, constant := len(s.Anchor), float64(s.Records), ConstantOf(s.Columns)
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

// unseen are the numbers with bounds of which noise hides how far they spread: it is less than twice the noise.
func (s Statistics) unseen() (numbers []int) {
	if s.Weighted {
		return nil
	}
	for j, c := range s.Columns {
		_, variance, noise := s.released(j)
		if c.Kind == Number && c.Lower < c.Upper && variance < 2*noise {
			numbers = append(numbers, j)
		}
	}
	return numbers
}

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
		usual := s.usual(j)
		seen += variance / noise
		typical += usual * usual / noise
	}
	noise := math.Sqrt(float64(len(numbers)))
	if seen < min(typical/2, 3*noise) && typical/2 > 1.28*noise {
		return numbers
	}
	return nil
}
