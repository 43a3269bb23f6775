package surrogates

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// effects is a CentredGaussian with effects of unknown scale. The standard deviation of a number's coefficient, or of
// those of a category's levels, is that of the CentredGaussian times s/√(1 + s²). Here s is share, times what is
// relative to a number, times 1, 2, 4 or 8 with probabilities in proportion to the inverse. So tails are heavy, and a
// few effects may be large beside many small ones, as under the horseshoe (Carvalho, Polson and Scott 2010). None is
// larger than under the CentredGaussian (Piironen and Vehtari 2017). Scales are summed over.
type effects struct {
	CentredGaussian
	alike []alike
	logs  []float64 // of the probabilities of scales
	whole float64   // log of the CentredGaussian's normalizing factor, but for one of dimensions
}

// alike are coefficients with the same scale, and the inverse squares of those it may have.
type alike struct {
	at      []int
	precise [mostScales]float64
}

// relative is the scale of a feature's effects over that of a number's, 0 where it is known.
type relative func(feature int) float64

// effectShares are the shares that there may be, as likely as each other beforehand.
var effectShares = []float64{2, 1, 0.5, 0.25}

// levelScale is the scale of the effects of levels, relative to numbers, where laws share the mean of the second
// moments. A level that one record in fifteen has moves that record by four of its column's standard deviations. With
// half of that scale effects of rare levels were missed (docs/anchored-figures.md).
const levelScale = 4

// shareScale sets the scale that all laws share where they share the mean of the second moments: the largest of those
// that there may be whose log evidence is less than nearlyAs below the highest. A score whose variance is held at the
// posterior's centre makes small scales look likelier than they are, so no smaller one is taken than need be.
func (p *Score) shareScale(given priorOf, m *moments) error {
	own, shares := &p.imputations[0].ownPrior, p.config.Statistics.shares(p.config.Effect, p.scale)
	given(own, nil, shares[0])
	if own.effects == nil || len(shares) == 1 {
		return nil
	}
	logs := make([]float64, len(shares))
	for i, share := range shares {
		given(own, nil, share)
		if err := p.settle(m); err != nil {
			return err
		}
		logs[i] = p.sharedEvidence()
	}
	given(own, nil, largestScale(shares, logs))
	return nil
}

// sharedEvidence is about the log evidence of the one law, by the normal approximation where it has settled.
func (p *Score) sharedEvidence() float64 {
	d := p.dim
	factor := mat.NewTriDense(d, mat.Lower, slices.Clone(p.factor))
	covariance := mat.NewSymDense(d, nil)
	covariance.SymOuterK(1, factor)
	log := p.under(1).Density().LogDensityGrad(make([]float64, d), p.mean)
	for j := range d {
		log += math.Log(p.factor[j*d+j])
	}
	return log + p.imputations[0].effects.bound(p.mean, covariance)
}

// nearlyAs is the difference of log evidences that says little.
const nearlyAs = 2

// largestScale is the largest share whose log evidence is nearly the highest.
func largestScale(shares, logs []float64) float64 {
	top, largest := slices.Max(logs), 0.0
	for i, share := range shares {
		if logs[i] > top-nearlyAs {
			largest = max(largest, share)
		}
	}
	return largest
}

// mostScales is the number of scales that one coefficient may have.
const mostScales = 4

// newEffects takes which features have effects of unknown scale, and of which.
func newEffects(of CentredGaussian, share float64, scale relative) *effects {
	e := &effects{CentredGaussian: of, whole: broad{of}.log()}
	first := map[int][]int{} // levels by the first of their category
	for _, levels := range of.Categories {
		for _, j := range levels {
			first[j] = nil
		}
		first[levels[0]] = levels
	}
	for i := range of.SDs {
		j := i % len(of.Means)
		if j == of.Intercept || scale(j) == 0 {
			continue
		}
		levels, level := first[j]
		if !level {
			levels = []int{j}
		}
		if levels == nil { // but the first of a category
			continue
		}
		var group alike
		for _, k := range levels {
			group.at = append(group.at, i-j+k)
		}
		for k := range group.precise {
			s := math.Ldexp(share*scale(j), k)
			group.precise[k] = 1 + 1/(s*s)
		}
		e.alike = append(e.alike, group)
	}
	whole := 2 - math.Ldexp(1, 1-mostScales) // the sum of the inverses of 1, 2, 4, …
	for k := range mostScales {
		e.logs = append(e.logs, -float64(k)*math.Ln2-math.Log(whole))
	}
	return e
}

// over is what a group adds to the log density in place of −square/2, its square over the largest variance, and the
// mean over scales of their inverse squares.
func (e *effects) over(square float64, group alike) (log, precise float64) {
	var logs [mostScales]float64
	for k, p := range group.precise {
		logs[k] = e.logs[k] + float64(len(group.at))*math.Log(p)/2 - p*square/2
	}
	top, sum := slices.Max(logs[:]), 0.0
	for k, p := range group.precise {
		w := math.Exp(logs[k] - top)
		sum, precise = sum+w, precise+w*p
	}
	return top + math.Log(sum), precise / sum
}

// LogDensity is that of the prior, with its normalizing factor but for one of dimensions.
func (e *effects) LogDensity(theta []float64) float64 {
	sum := e.whole + e.CentredGaussian.LogDensity(theta)
	for _, group := range e.alike {
		square := e.square(group.at, theta, nil)
		log, _ := e.over(square, group)
		sum += log + square/2
	}
	return sum
}

// Grad sets dst to the gradient of LogDensity.
func (e *effects) Grad(dst, theta []float64) {
	e.CentredGaussian.Grad(dst, theta)
	for _, group := range e.alike {
		_, precise := e.over(e.square(group.at, theta, nil), group)
		own, shared := e.form(group.at)
		sum := 0.0
		for _, i := range group.at {
			sum += theta[i]
		}
		for _, i := range group.at {
			dst[i] -= (precise - 1) * (own*theta[i] - shared*sum)
		}
	}
}

// form is that of a group's square: own times the sum of squares, less shared times the square of the sum.
func (e *effects) form(group []int) (own, shared float64) {
	sd, m := e.SDs[group[0]], float64(len(group))
	if m == 1 {
		return 1 / (sd * sd), 0
	}
	return 2 / (sd * sd), 2 / (sd * sd * (m + 1))
}

// Sample sets theta to a draw.
func (e *effects) Sample(theta []float64, rng *rand.Rand) {
	e.scaled(func(group alike) float64 { return group.precise[pick(e.logs, rng)] }).Sample(theta, rng)
}

// scaled is the normal prior with such inverse squares of scales.
func (e *effects) scaled(precise func(group alike) float64) CentredGaussian {
	out := e.CentredGaussian
	out.SDs = slices.Clone(out.SDs)
	for _, group := range e.alike {
		by := math.Sqrt(precise(group))
		for _, i := range group.at {
			out.SDs[i] /= by
		}
	}
	return out
}

// about is the normal prior with the slopes that this one has where coefficients have such means and, unless nil,
// such a covariance.
func (e *effects) about(mean []float64, covariance *mat.SymDense) broad {
	return broad{e.scaled(func(group alike) float64 {
		_, precise := e.over(e.square(group.at, mean, covariance), group)
		return precise
	})}
}

// square is the mean of a group's square over the largest variance.
func (e *effects) square(group []int, mean []float64, covariance *mat.SymDense) float64 {
	own, shared := e.form(group)
	squares, sum, spread := 0.0, 0.0, 0.0
	for _, i := range group {
		squares, sum = squares+mean[i]*mean[i], sum+mean[i]
		if covariance != nil {
			squares += covariance.At(i, i)
			for _, k := range group {
				spread += covariance.At(i, k)
			}
		}
	}
	return own*squares - shared*(sum*sum+spread)
}

// bound is by how much the log evidence under the prior exceeds that under the one that is about so, without the
// factor of that: the least, by Jensen's inequality.
func (e *effects) bound(mean []float64, covariance *mat.SymDense) float64 {
	sum := e.whole
	for _, group := range e.alike {
		square := e.square(group.at, mean, covariance)
		log, precise := e.over(square, group)
		sum += log + precise*square/2
	}
	return sum
}
