package surrogates

import "math"

// tails are those of counts of one mean. Where they are asked for again and again they are known.
type tails struct {
	of    counts
	m     float64
	known []countTail // at 0, 1 and so on, with chance NaN where it is not worked out yet; nil for none
}

// knownTails has room for what is asked for again: as many as there are counts, but of very many.
func knownTails(of counts) tails {
	return tails{of: of, known: make([]countTail, int(min(of.most, 4096))+2)}
}

// move makes them those of a predictor.
func (d *tails) move(eta float64) {
	d.m = mean(eta)
	short := min(fewTerms+1, len(d.known))
	if d.of.w == 0 && d.m > farCount*farCount { // where a Poisson count may have no probability
		short = 0
	}
	d.of.shortTails(d.known[:short], d.m)
	for k := short; k < len(d.known); k++ {
		d.known[k].chance = math.NaN()
	}
}

// at is the tail at a whole number k.
func (d tails) at(k float64) countTail {
	if !(k >= 0 && k < float64(len(d.known))) {
		return d.of.tail(k, d.m)
	}
	t := &d.known[int(k)]
	if math.IsNaN(t.chance) {
		*t = d.of.tail(k, d.m)
	}
	return *t
}

// above is the mean of (1 + wy) over counts from that of a tail on.
func (d tails) above(t countTail) float64 {
	return t.chance + d.of.w*d.m*(t.chance+t.before)
}

// tabled are links of which many slopes are asked for at each of many predictors.
type tabled interface {
	Link
	// drawn are the tails of the counts, with room for those that are asked for again.
	drawn() tails
	// given is Slope at the predictor of d.
	given(d tails, at float64) (mean, variance, dMean, dVariance float64)
}

func (f counts) drawn() tails { return knownTails(f) }

func (f counts) given(d tails, at float64) (mu, variance, dMean, dVariance float64) {
	return f.about(d, mean(at), at)
}

func (f centred) drawn() tails { return knownTails(f.response()) }

func (f centred) given(d tails, at float64) (mu, variance, dMean, dVariance float64) {
	h, _ := f.centre(at)
	return f.about(d, h, at)
}
