package surrogates

import (
	"errors"

	"gonum.org/v1/gonum/floats"
)

// varied are counts whose means differ by a factor of an exponential law: of mean m they have variance
// m + m² where those of the link are Poisson. Its three nodes have the right moments up to the fifth.
type varied struct{ Link }

// Slope has the mean alone.
func (v varied) Slope(at, eta float64) (mean, variance, dMean, dVariance float64) {
	for _, node := range []struct{ log, weight float64 }{
		{-0.877612, 0.711093}, {0.830413, 0.278518}, {1.838953, 0.010389}} {
		one, _, slope, _ := v.Link.Slope(at, eta+node.log)
		mean, dMean = mean+node.weight*one, dMean+node.weight*slope
	}
	return mean, 0, dMean, 0
}

// dispersed are negative binomial counts with so many times the dispersion.
type dispersed struct {
	centred
	times float64
}

// Slope is that of the link, of such counts.
func (v dispersed) Slope(at, eta float64) (mu, variance, dMean, dVariance float64) {
	return v.given(tails{of: v.counts(), m: mean(eta)}, at)
}

func (v dispersed) drawn() tails { return knownTails(v.counts()) }

func (v dispersed) counts() counts {
	f := v.response()
	f.w *= v.times
	return f
}

// variedBy is by how much a dispersion that was known beforehand may be off, either way.
const variedBy = 2

// Varied is by how many of its posterior standard deviations a coefficient would move, at most, if
// Poisson counts varied as those of people often do, with the variance m + m² in place of m, or negative
// binomial ones had twice or half the dispersion. Slopes of roots are those of another mean then, and so are slopes
// that are cut. It is to first order, and 0 of other responses.
func (p *Score) Varied() (float64, error) {
	link, ok := p.config.Link.(centred)
	if !ok {
		return 0, nil
	}
	if _, poisson := link.cutCount.(roots); poisson {
		return p.movedIf(varied{link})
	}
	more, err1 := p.movedIf(dispersed{link, variedBy})
	less, err2 := p.movedIf(dispersed{link, 1. / variedBy})
	return max(more, less), errors.Join(err1, err2)
}

// movedIf is that of responses with the law of another link.
func (p *Score) movedIf(other Link) (float64, error) {
	apart, one := make([]float64, p.dim), make([]float64, p.dim)
	for i := range p.imputations {
		n := p.imputations[i].features.normal
		for _, look := range p.seen() {
			at := n
			if p.looked != nil {
				at = n.from(look.Anchor)
			}
			for _, part := range []struct {
				share float64
				link  Link
			}{{-1, p.config.Link}, {1, other}} {
				meanScore(one, at, part.link, p.mean, p.config.Statistics.size())
				floats.AddScaled(apart, look.share*part.share/float64(len(p.imputations)), one)
			}
		}
	}
	return p.moved(apart)
}
