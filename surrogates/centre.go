package surrogates

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// settle finds the posterior's centre, given the second moments unless imputations have their own, and freezes the
// score's variance there where there are many features.
func (p *Score) settle(m *moments) error {
	p.mean = append([]float64(nil), p.config.Statistics.Anchor...)
	var cov *mat.SymDense
	rounds := 1
	averaged := m != nil && m.mean != nil
	if averaged {
		rounds = 4 // the variance depends on the centre, and the centre on it
	} else if p.config.Doubt > 0 {
		rounds = 2
	}
	if p.imputations[0].effects != nil {
		rounds = max(rounds, 4) // as well as scales of effects
	}
	for range rounds {
		for k := range p.imputations {
			p.imputations[k].settle(p.mean, cov)
			p.doubt(&p.imputations[k])
		}
		if averaged {
			for k := range p.imputations {
				if err := p.freeze(&p.imputations[k], m, cov); err != nil {
					return err
				}
			}
		}
		var err error
		smooth := p.under(1)
		if cov, err = climb(smooth.Density(), p.mean, smooth.covariance); err != nil {
			return err
		}
	}
	var err error
	p.factor, err = lowerOf(cov)
	return err
}

// doubt sets what doubt in the law adds to the score's covariance. With m the way from the anchor to the
// centre, the mean score there is off by H^½EH^½m, H the information half-way and E symmetric, with
// independent entries: of the standard deviation share off the diagonal, and √2 times that on it.
func (p *Score) doubt(im *imputation) {
	if p.config.Doubt == 0 {
		return
	}
	d, s := p.dim, p.config.Statistics
	move, middle, off := make([]float64, d), make([]float64, d), mat.NewVecDense(d, nil)
	floats.SubTo(move, p.mean, s.Anchor)
	floats.AddScaledTo(middle, s.Anchor, 0.5, move)
	// Where predictors hardly spread weights are even, and second moments say the curvature.
	share := p.config.Doubt * min(1, im.features.from(p.mean).width/(mostSpread*mostSpread))
	h := im.features.information(middle)
	h.ScaleSym(share*s.size(), h)
	off.MulVec(h, mat.NewVecDense(d, move))
	length := floats.Dot(off.RawVector().Data, move)
	im.doubt = make([]float64, d*d)
	for j := range d {
		for k := range j + 1 {
			im.doubt[j*d+k] = length*h.At(j, k) + off.AtVec(j)*off.AtVec(k)
		}
	}
}

// freeze sets what is not known of an imputation's second moments: the score's mean is about
// −w·S(θ − θ₀), so an error E of S moves it by w·E(θ − θ₀). With many features it sets the
// covariance of the score at the centre, that in it.
func (p *Score) freeze(im *imputation, m *moments, spread *mat.SymDense) error {
	d, s := p.dim, p.config.Statistics
	im.frozen, im.missing = nil, nil
	move := make([]float64, d)
	for j := range d {
		move[j] = p.mean[j] - s.Anchor[j]
	}
	lower := make([]float64, d*d)
	im.features.scores().law(make([]float64, d), lower, p.mean, s.size())
	cov := mat.NewSymDense(d, nil)
	for j := range d {
		for k := range j + 1 {
			cov.SetSym(j, k, lower[j*d+k])
		}
		cov.SetSym(j, j, cov.At(j, j)+s.ScoreSD*s.ScoreSD)
	}
	w := s.temperature()
	if !s.Weighted {
		w *= p.slopeAlong(im, move)
	}
	im.missing = mat.NewSymDense(d, nil)
	positive := m.positive()
	for j := range d {
		for k := range d {
			square, product := move[k]*move[k], move[j]*move[k]
			if spread != nil {
				square, product = square+spread.At(k, k), product+spread.At(j, k)
			}
			cov.SetSym(j, j, cov.At(j, j)+w*w*m.open.At(j, k)*square)
			if k < j {
				cov.SetSym(j, k, cov.At(j, k)+w*w*m.open.At(j, k)*product)
			}
			im.missing.SetSym(j, k, w*(m.mean.At(j, k)-positive.At(j, k)))
		}
	}
	for j := range d {
		for k := range j + 1 {
			if im.doubt != nil {
				cov.SetSym(j, k, cov.At(j, k)+im.doubt[j*d+k])
			}
		}
	}
	factor, ok := choleskyOf(cov)
	if !ok {
		return errors.New("surrogates: the score's covariance is not positive definite")
	}
	im.frozen = factor
	return nil
}

// slopeAlong is the factor between a move's linear predictors and the mean slopes.
func (p *Score) slopeAlong(im *imputation, move []float64) float64 {
	d := p.dim
	mean := make([]float64, d)
	im.features.scores().law(mean, nil, p.mean, 1)
	num, den := -dot(mean, move), 1e-300+im.features.square(move)
	if den < 1e-200 {
		return p.config.Link.Weight(0, 0)
	}
	return num / den
}

// Mode is where the density is largest, as far as steps along its gradient found.
func (p *Score) Mode() []float64 { return append([]float64(nil), p.mean...) }

// centre is the mode, and the covariance of the first-order approximation there.
func (p *Score) centre() (mean, factor []float64, err error) { return p.mean, p.factor, nil }

// covariance approximates the posterior's at theta: the inverse of H(V + σ²I)⁻¹H plus the
// prior's precision, H and the score's covariance V averaged over imputations.
func (p *Score) covariance(theta []float64) (*mat.SymDense, error) {
	h := p.slope(theta)
	chol, err := p.factorized(theta, h)
	if err != nil {
		return nil, err
	}
	var kept, product mat.Dense
	if err := chol.SolveTo(&kept, h); err != nil {
		return nil, fmt.Errorf("surrogates: the information of the release: %w", err)
	}
	product.Mul(h, &kept)
	precision := mat.NewSymDense(p.dim, nil)
	for j := range p.dim {
		for k := j; k < p.dim; k++ {
			precision.SetSym(j, k, (product.At(j, k)+product.At(k, j))/2)
		}
	}
	p.priors().precision(precision)
	if !chol.Factorize(precision) {
		return nil, errors.New("surrogates: the posterior's precision is not positive definite")
	}
	cov := mat.NewSymDense(p.dim, nil)
	err = chol.InverseTo(cov)
	if _, scales := err.(mat.Condition); scales { // coefficients of very different scales, which does no harm
		err = nil
	}
	return cov, err
}

// factorized is the score's covariance at theta, where its mean has the slope −H.
func (p *Score) factorized(theta []float64, h *mat.SymDense) (chol mat.Cholesky, err error) {
	if (!chol.Factorize(p.spread(theta, nil)) || chol.Cond() > illConditioned) && !chol.Factorize(p.spread(theta, h)) {
		return chol, errors.New("surrogates: the information of the release is not positive definite")
	}
	return chol, nil
}

// illConditioned is where a score's covariance has hardly a digit left.
const illConditioned = 1e12

// spread is the score's covariance at theta, averaged over imputations: by its law, or unless nil
// with h in place of what responses make of it, which it is under a log loss.
func (p *Score) spread(theta []float64, h *mat.SymDense) *mat.SymDense {
	s, d, im := p.config.Statistics, p.dim, p.imputations[0]
	out := mat.NewSymDense(d, nil)
	if im.frozen != nil {
		for j := range d {
			for k := range j + 1 {
				out.SetSym(j, k, dot(im.frozen[j*d:j*d+k+1], im.frozen[k*d:k*d+k+1]))
			}
		}
		return out
	}
	lower, own := make([]float64, d*d), make([]float64, d*d)
	for _, im := range p.imputations {
		clear(own)
		if h == nil {
			im.features.scores().law(make([]float64, d), own, theta, s.size())
		}
		if im.doubt != nil {
			floats.Add(own, im.doubt)
		}
		floats.AddScaled(lower, 1/float64(len(p.imputations)), own)
	}
	for j := range d {
		for k := range j + 1 {
			out.SetSym(j, k, lower[j*d+k])
		}
		out.SetSym(j, j, out.At(j, j)+s.ScoreSD*s.ScoreSD)
	}
	if h != nil {
		out.AddSym(out, h)
	}
	return out
}

// slope is minus the derivative of the score's mean, averaged over imputations: the
// information, but for what the features lack of the second moments' mean.
func (p *Score) slope(theta []float64) *mat.SymDense {
	h := p.information(theta)
	for _, im := range p.imputations {
		if im.missing != nil {
			missing := mat.NewSymDense(p.dim, nil)
			missing.ScaleSym(1/float64(len(p.imputations)), im.missing)
			h.AddSym(h, missing)
		}
	}
	return h
}

// information is τH(θ) of the laws of features, averaged over imputations: positive
// definite where there is any.
func (p *Score) information(theta []float64) *mat.SymDense {
	return p.averageInformation(theta, func(f *features) *features { return f })
}

// averageInformation is that of what is made of the features.
func (p *Score) averageInformation(theta []float64, of func(*features) *features) *mat.SymDense {
	h := mat.NewSymDense(p.dim, nil)
	for _, im := range p.imputations {
		one := of(im.features).information(theta)
		one.ScaleSym(p.config.Statistics.size()/float64(len(p.imputations)), one)
		h.AddSym(h, one)
	}
	return h
}
