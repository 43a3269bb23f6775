package surrogates

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Look is a score of the same records at another anchor, of the same slopes.
type Look struct {
	Anchor, Score []float64
	ScoreSD       float64 // of the noise in it
}

// Scores at several anchors differ by Σ x·(slope at one − slope at the other), on which responses and
// θ have hardly a part. So given the second moments each score says what it would be at the last
// anchor, and their mean is as if one had been released there, of less noise. And how well they agree
// then says which second moments are likely.

// sharedLook is a score with its share in that mean.
type sharedLook struct {
	Look
	share, sd float64
}

// unlike is the part of a difference of scores that the law of features may be off by. It counts as
// noise, so that scores at far anchors have small shares where there are many records.
const unlike = 0.2

// looks are the scores, the last one last, and the standard deviation of the noise in their mean.
func (c Config) looks() (all []sharedLook, sd float64) {
	s := c.Statistics
	last := Look{s.Anchor, s.Score, s.ScoreSD}
	total := 0.0
	for _, l := range append(append([]Look(nil), c.Earlier...), last) {
		apart := floats.Distance(l.Score, s.Score, 2)
		own := math.Hypot(l.ScoreSD, unlike*apart/math.Sqrt(float64(len(s.Score))))
		all = append(all, sharedLook{l, 1 / (own * own), own})
		total += 1 / (own * own)
	}
	for i := range all {
		all[i].share /= total
	}
	return all, 1 / math.Sqrt(total)
}

// joint is the mean score, as at the last anchor, given a law of the features, and the log
// likelihood of how the scores differ.
func (c Config) joint(of []sharedLook, law *normal) (score []float64, log float64) {
	s := c.Statistics
	d := len(s.Anchor)
	score = make([]float64, d)
	var at [][]float64
	var moved mat.VecDense
	for _, l := range of {
		one := append([]float64(nil), l.Score...)
		way, middle := make([]float64, d), make([]float64, d)
		floats.SubTo(way, l.Anchor, s.Anchor)
		if floats.Norm(way, 2) > 0 {
			floats.AddScaledTo(middle, s.Anchor, 0.5, way)
			moved.MulVec(law.from(middle).curvature(c.Link), mat.NewVecDense(d, way))
			floats.AddScaled(one, -s.size(), moved.RawVector().Data)
		}
		floats.AddScaled(score, l.share, one)
		at = append(at, one)
	}
	for i, l := range of {
		off := floats.Distance(at[i], score, 2) / l.sd
		log -= off * off / 2
	}
	return score, log
}

// Where predictors spread by more than mostSpread the link bends over them, and the law of the features
// counts beyond its second moments. That it is another one shows where scores differ by mostUnlike
// standard deviations more than noise explains.
const (
	mostSpread = 2
	mostUnlike = 3
)

// Curved reports whether coefficients depend on the law of the features: predictors spread so far at the
// posterior's centre, or scores at two anchors differ so much from what the laws say, that a normal law
// with the released second moments may not stand for it.
func (p *Score) Curved() bool {
	variance := 0.0
	for _, im := range p.imputations {
		variance += im.features.from(p.mean).width / float64(len(p.imputations))
	}
	curved := variance > mostSpread*mostSpread
	for _, l := range p.config.Earlier {
		curved = curved || p.unlike(l) > mostUnlike
	}
	return curved
}

// unlike is by how many standard deviations the squared difference of two scores, less what the laws of
// features say it is, exceeds its mean, were it noise.
func (p *Score) unlike(l Look) float64 {
	s := p.config.Statistics
	d := len(s.Anchor)
	way, middle, off := make([]float64, d), make([]float64, d), make([]float64, d)
	floats.SubTo(way, l.Anchor, s.Anchor)
	floats.AddScaledTo(middle, s.Anchor, 0.5, way)
	floats.SubTo(off, l.Score, s.Score)
	var moved mat.VecDense
	for _, im := range p.imputations {
		moved.MulVec(im.features.from(middle).curvature(p.config.Link), mat.NewVecDense(d, way))
		floats.AddScaled(off, -s.size()/float64(len(p.imputations)), moved.RawVector().Data)
	}
	noise := l.ScoreSD*l.ScoreSD + s.ScoreSD*s.ScoreSD
	return (floats.Dot(off, off)/noise - float64(d)) / math.Sqrt(2*float64(d))
}

// checkLooks reports what is wrong with earlier scores.
func (c Config) checkLooks() error {
	s := c.Statistics
	d := len(s.Anchor)
	for _, l := range c.Earlier {
		if len(l.Anchor) != d || len(l.Score) != d || !(l.ScoreSD > 0) || !(s.ScoreSD > 0) || s.Weighted {
			return errors.New("surrogates: Config.Earlier needs an anchor and a score of the coefficients' number each, " +
				"noise in every score, and second moments without weights")
		}
	}
	return nil
}
