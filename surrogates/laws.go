package surrogates

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Laws of features are drawn from their posterior given the second moments, each with a scale of effects. A few are
// chosen by about how likely the score is under them. That is divided out of their evidence, so what is about does
// not matter: the posterior is a mean over laws as they are drawn.

// imputed are laws of the features with the score and the prior beside each.
func (c Config) imputed(m *moments, looked []sharedLook, rng *rand.Rand, given priorOf) (all []imputation) {
	type one struct {
		law   *normal
		score []float64
		logs  []float64 // of about how likely the score is, for each scale of effects
	}
	seen, shares := map[*mat.SymDense]one{}, c.shares()
	chosen := m.draws(c.Imputations, rng, func(second *mat.SymDense) float64 {
		log, o := 0.0, one{score: c.Statistics.Score}
		if c.Statistics.Weighted {
			o.law = c.weighted(c.each(second), m)
		} else {
			o.law = c.law(second, m.constant)
		}
		if looked != nil {
			o.score, log = c.joint(looked, o.law)
		}
		o.logs = c.likely(o.law, o.score, shares, given)
		seen[second] = o
		return log + floats.LogSumExp(o.logs)
	})
	for _, second := range chosen {
		o := seen[second]
		i := pick(o.logs, rng)
		im := c.impute(second, o.score, m)
		given(&im, o.law, shares[i])
		im.chosen = o.logs[i]
		all = append(all, im)
	}
	mean := 0.0
	for _, im := range all {
		mean += im.chosen / float64(len(all))
	}
	for k := range all {
		all[k].chosen -= mean
	}
	return all
}

// pick draws an index, with probabilities of these logarithms up to a constant.
func pick(logs []float64, rng *rand.Rand) int {
	whole, left := floats.LogSumExp(logs), rng.Float64()
	for i, l := range logs[:len(logs)-1] {
		if left -= math.Exp(l - whole); left < 0 {
			return i
		}
	}
	return len(logs) - 1
}

// shares are the scales of effects that laws with priors of their own may have: the largest alone where noise hides
// the spreads of half of the numbers. Small effects look like narrow columns there.
func (c Config) shares() []float64 {
	numbers := 0
	for j := range c.Statistics.Columns {
		if c.Statistics.number(j) {
			numbers++
		}
	}
	if c.Effect > 0 && 2*len(c.Statistics.unseen()) <= numbers {
		return effectShares
	}
	return effectShares[:1]
}

// likely are the logarithms of about how likely the score is under a law, for each scale of effects. It is taken for
// normal, its variance that at the anchor and its mean linear in the coefficients.
func (c Config) likely(law *normal, score, shares []float64, given priorOf) []float64 {
	s := c.Statistics
	d, n := len(s.Anchor), s.size()
	f := featuresOf(law, c.Link, false)
	information := f.information(s.Anchor)
	information.ScaleSym(n, information)
	off, lower := mat.NewVecDense(d, nil), make([]float64, d*d)
	f.scores().law(off.RawVector().Data, lower, s.Anchor, n)
	variance := mat.NewSymDense(d, nil)
	for j := range d {
		for k := range j + 1 {
			variance.SetSym(j, k, lower[j*d+k])
		}
		variance.SetSym(j, j, variance.At(j, j)+s.ScoreSD*s.ScoreSD)
	}
	logs := make([]float64, len(shares))
	var moved, solved, pull mat.VecDense // off becomes the score less its mean at coefficients of 0
	moved.MulVec(information, mat.NewVecDense(d, s.Anchor))
	off.SubVec(mat.NewVecDense(d, score), off)
	off.SubVec(off, &moved)
	var chol mat.Cholesky
	var half, fisher mat.Dense
	if !chol.Factorize(variance) || chol.SolveTo(&half, information) != nil || chol.SolveVecTo(&solved, off) != nil {
		floats.AddConst(math.Inf(-1), logs)
		return logs
	}
	fisher.Mul(information, &half)
	pull.MulVec(information, &solved) // but for its sign, which priors do not see
	base := -chol.LogDet()/2 - mat.Dot(off, &solved)/2 + s.determinant(information)
	for i, share := range shares {
		var im imputation
		given(&im, law, share)
		logs[i] = base + im.marginal(&fisher, &pull)
	}
	return logs
}

// marginal is the log of the integral of the prior times exp(pull·θ − θᵀ·fisher·θ/2), up to a constant: of effects its
// variational bound, their scales independent of the rest.
func (im *imputation) marginal(fisher *mat.Dense, pull *mat.VecDense) float64 {
	d := pull.Len()
	b, log := im.broad, 0.0
	precision, covariance := mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
	var chol mat.Cholesky
	mean := mat.NewVecDense(d, nil)
	for range 6 { // of the scales of effects
		for j := range d {
			for k := range j + 1 {
				precision.SetSym(j, k, (fisher.At(j, k)+fisher.At(k, j))/2)
			}
		}
		b.precision(precision, 1)
		if !chol.Factorize(precision) || chol.SolveVecTo(mean, pull) != nil {
			return math.Inf(-1)
		}
		log = mat.Dot(mean, pull)/2 - chol.LogDet()/2
		if im.effects == nil {
			return log + b.log()
		}
		if chol.InverseTo(covariance) != nil {
			return math.Inf(-1)
		}
		log += im.effects.bound(mean.RawVector().Data, covariance)
		b = im.effects.about(mean.RawVector().Data, covariance)
	}
	return log
}
