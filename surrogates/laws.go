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

// chosenLaw is one with a scale of effects.
type chosenLaw struct {
	second *mat.SymDense
	share  float64
	chosen float64 // see ownPrior
}

// choose draws so many, given about how likely the score is under one: logarithms for each scale of effects, and what
// is not divided out.
func (m *moments) choose(count int, shares []float64, rng *rand.Rand,
	likely func(second *mat.SymDense) (logs []float64, beside float64)) (all []chosenLaw) {
	seen, mean := map[*mat.SymDense][]float64{}, 0.0
	chosen := m.draws(count, rng, func(second *mat.SymDense) float64 {
		logs, beside := likely(second)
		seen[second] = logs
		return beside + floats.LogSumExp(logs)
	})
	for _, second := range chosen {
		logs := seen[second]
		i := pick(logs, rng)
		all = append(all, chosenLaw{second, shares[i], logs[i]})
		mean += logs[i] / float64(count)
	}
	for k := range all {
		all[k].chosen -= mean
	}
	return all
}

// imputed are laws of the features with the score and the prior beside each.
func (c Config) imputed(m *moments, looked []sharedLook, rng *rand.Rand, given priorOf) (all []imputation) {
	type one struct {
		law   *normal
		score []float64
	}
	seen, shares := map[*mat.SymDense]one{}, c.Statistics.shares(c.Effect, c.Statistics.numbers)
	for _, l := range m.choose(c.Imputations, shares, rng, func(second *mat.SymDense) (logs []float64, beside float64) {
		o := one{score: c.Statistics.Score}
		if c.Statistics.Weighted {
			o.law = c.weighted(c.each(second), m)
		} else {
			o.law = c.law(second, m.constant)
		}
		if looked != nil {
			o.score, beside = c.joint(looked, o.law)
		}
		seen[second] = o
		return c.likely(o.law, o.score, shares, given), beside
	}) {
		o := seen[l.second]
		im := c.impute(l.second, o.score, m)
		given(&im.ownPrior, o.law, l.share)
		im.chosen = l.chosen
		all = append(all, im)
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

// shares are the scales of effects that laws with priors of their own may have: the largest alone where as many
// as half of the features with such effects are numbers whose spreads noise hides. Small effects look like narrow
// columns there.
func (s Statistics) shares(effect float64, scale relative) []float64 {
	count := 0
	for j := range s.Columns {
		if scale(j) > 0 {
			count++
		}
	}
	if effect > 0 && 2*len(s.unseen()) <= count {
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
	var moved mat.VecDense // off becomes the score less its mean at coefficients of 0
	moved.MulVec(information, mat.NewVecDense(d, s.Anchor))
	off.SubVec(mat.NewVecDense(d, score), off)
	off.SubVec(off, &moved)
	return given.likely(law, off, information, variance, s.determinant, shares)
}

// likely are those of a score of a variance whose mean has the slope −information, off being what it is off by at
// coefficients of 0.
func (given priorOf) likely(law *normal, off *mat.VecDense, information, variance *mat.SymDense,
	more func(*mat.SymDense) float64, shares []float64) []float64 {
	logs := make([]float64, len(shares))
	var solved, pull mat.VecDense
	var chol mat.Cholesky
	var half, fisher mat.Dense
	if !chol.Factorize(variance) || chol.SolveTo(&half, information) != nil || chol.SolveVecTo(&solved, off) != nil {
		floats.AddConst(math.Inf(-1), logs)
		return logs
	}
	fisher.Mul(information, &half)
	pull.MulVec(information, &solved) // but for its sign, which priors do not see
	base := -chol.LogDet()/2 - mat.Dot(off, &solved)/2 + more(information)
	for i, share := range shares {
		var o ownPrior
		given(&o, law, share)
		logs[i] = base + o.marginal(&fisher, &pull)
	}
	return logs
}
