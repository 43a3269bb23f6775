package surrogates

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// effects is a CentredGaussian whose numbers have effects of unknown scale. The standard deviation of a number's
// coefficient is that of the CentredGaussian times s/√(1 + s²), and s is share times 1, 2, 4 or 8, with
// probabilities in proportion to the inverse: heavy tails, so that a few effects may be large beside many small
// ones, as under the horseshoe (Carvalho, Polson and Scott 2010). None is larger than under the CentredGaussian
// (Piironen and Vehtari 2017). Scales are summed over.
type effects struct {
	CentredGaussian
	numbers []int     // their coefficients
	precise []float64 // inverse squares of scales
	logs    []float64 // of their probabilities
	whole   float64   // log of the CentredGaussian's normalizing factor, but for one of dimensions
}

// effectShares are the shares that there may be, as likely as each other beforehand.
var effectShares = []float64{2, 1, 0.5, 0.25}

// mostScales is the number of scales that one coefficient may have.
const mostScales = 4

// newEffects takes which features are numbers.
func newEffects(of CentredGaussian, share float64, number func(feature int) bool) *effects {
	e := &effects{CentredGaussian: of, whole: broad{of}.log()}
	for i := range of.SDs {
		if j := i % len(of.Means); j != of.Intercept && number(j) {
			e.numbers = append(e.numbers, i)
		}
	}
	whole := 2 - math.Ldexp(1, 1-mostScales) // the sum of the inverses of 1, 2, 4, …
	for k := range mostScales {
		s := math.Ldexp(share, k)
		e.precise = append(e.precise, 1+1/(s*s))
		e.logs = append(e.logs, -float64(k)*math.Ln2-math.Log(whole))
	}
	return e
}

// over is what a coefficient adds to the log density in place of −square/2, its square over the largest
// variance, and the mean over scales of their inverse squares.
func (e *effects) over(square float64) (log, precise float64) {
	var logs [mostScales]float64
	for k, p := range e.precise {
		logs[k] = e.logs[k] + math.Log(p)/2 - p*square/2
	}
	top, sum := slices.Max(logs[:]), 0.0
	for k, p := range e.precise {
		w := math.Exp(logs[k] - top)
		sum, precise = sum+w, precise+w*p
	}
	return top + math.Log(sum), precise / sum
}

// LogDensity is that of the prior, with its normalizing factor but for one of dimensions.
func (e *effects) LogDensity(theta []float64) float64 {
	sum := e.whole + e.CentredGaussian.LogDensity(theta)
	for _, i := range e.numbers {
		z := theta[i] / e.SDs[i]
		log, _ := e.over(z * z)
		sum += log + z*z/2
	}
	return sum
}

// Grad sets dst to the gradient of LogDensity.
func (e *effects) Grad(dst, theta []float64) {
	e.CentredGaussian.Grad(dst, theta)
	for _, i := range e.numbers {
		z := theta[i] / e.SDs[i]
		_, precise := e.over(z * z)
		dst[i] -= (precise - 1) * z / e.SDs[i]
	}
}

// Sample sets theta to a draw.
func (e *effects) Sample(theta []float64, rng *rand.Rand) {
	own := e.CentredGaussian
	own.SDs = slices.Clone(own.SDs)
	for _, i := range e.numbers {
		own.SDs[i] /= math.Sqrt(e.precise[pick(e.logs, rng)])
	}
	own.Sample(theta, rng)
}

// about is the normal prior with the slopes that this one has where coefficients have such means and, unless nil,
// such a covariance.
func (e *effects) about(mean []float64, covariance *mat.SymDense) broad {
	out := e.CentredGaussian
	out.SDs = slices.Clone(out.SDs)
	for _, i := range e.numbers {
		_, precise := e.over(e.square(i, mean, covariance))
		out.SDs[i] /= math.Sqrt(precise)
	}
	return broad{out}
}

// square is the mean of a coefficient's square over the largest variance.
func (e *effects) square(i int, mean []float64, covariance *mat.SymDense) float64 {
	square := mean[i] * mean[i]
	if covariance != nil {
		square += covariance.At(i, i)
	}
	return square / (e.SDs[i] * e.SDs[i])
}

// bound is by how much the log evidence under the prior exceeds that under the one that is about so, without the
// factor of that: the least, by Jensen's inequality.
func (e *effects) bound(mean []float64, covariance *mat.SymDense) float64 {
	sum := e.whole
	for _, i := range e.numbers {
		square := e.square(i, mean, covariance)
		log, precise := e.over(square)
		sum += log + precise*square/2
	}
	return sum
}
