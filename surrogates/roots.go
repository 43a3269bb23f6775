package surrogates

import "math"

// roots is a Poisson count y under a loss with the slope h(η) − √y, h = m/√(1 + m) and m = e^η,
// cut at ±cut (convex.RootCount). A count above most counts as it.
type roots struct{ cut, most float64 }

// response is the count itself.
func (f roots) response() counts { return counts{cut: f.cut, most: f.most} }

// countOf is the count that a link is of, if it is.
func countOf(link Link) (counts, bool) {
	if f, ok := link.(cutCount); ok {
		return f.response(), true
	}
	return counts{}, false
}

// height is h, and bent its derivative.
func (f roots) height(eta float64) (h, bent float64) {
	m := mean(eta)
	h = m / math.Sqrt(1+m)
	return h, h * (1 + m/2) / (1 + m)
}

// slope is that of a count.
func (f roots) slope(h, y float64) float64 {
	return max(-f.cut, min(f.cut, h-math.Sqrt(min(y, f.most))))
}

// within are the counts from which and up to which slopes change with the count.
func (f roots) within(h float64) (from, to float64) {
	if h > f.cut {
		from = math.Floor((h - f.cut) * (h - f.cut))
	}
	return min(from, f.most), min(math.Ceil((h+f.cut)*(h+f.cut)), f.most)
}

func (f roots) Slope(at, eta float64) (mu, variance, dMean, dVariance float64) {
	return f.given(tails{of: f.response(), m: mean(eta)}, at)
}

func (f roots) drawn() tails { return knownTails(f.response()) }

func (f roots) given(d tails, at float64) (mu, variance, dMean, dVariance float64) {
	h, _ := f.height(at)
	return f.about(d, h, at)
}

func (f roots) slopeAbout(h, _, y float64) float64 { return f.slope(h, y) }

func (f roots) highest() float64 { return math.Sqrt(f.most) }

// about is the law of the slope h − √y, cut: it adds up the counts where the slope changes, and takes
// the rest by their chance. The derivative of a mean E[g(y)] in log m is m·E[g(y+1) − g(y)].
func (f roots) about(drawn tails, h, _ float64) (mu, variance, dMean, dVariance float64) {
	count, m := drawn.of, drawn.m
	from, to := f.within(h)
	below, above := 1-drawn.at(from).chance, drawn.at(to).chance
	low, high := f.slope(h, from), f.slope(h, to)
	mu, square := below*low+above*high, below*low*low+above*high*high
	dSquare := 0.0
	if from > 0 { // counts below from have the slope at it
		mass := count.mass(from-1, m)
		dMean += mass * (low - f.slope(h, from-1))
		dSquare += mass * (low*low - math.Pow(f.slope(h, from-1), 2))
	}
	for y, mass, g := from, count.mass(from, m), low; y < to; y++ {
		next := f.slope(h, y+1)
		mu, square = mu+mass*g, square+mass*g*g
		dMean, dSquare = dMean+mass*(next-g), dSquare+mass*(next*next-g*g)
		mass *= m / (y + 1)
		g = next
	}
	variance = max(0, min(square-mu*mu, f.cut*f.cut))
	return mu, variance, min(0, m*dMean), m*dSquare - 2*mu*m*dMean
}

// Weight is the mean of h′ over the counts whose slope is not cut.
func (f roots) Weight(at, eta float64) float64 {
	h, bent := f.height(at)
	return bent * f.uncut(h, mean(eta))
}

// uncut is the share of counts of mean m whose slope is not cut.
func (f roots) uncut(h, m float64) float64 {
	count := f.response()
	from, to := 0.0, math.Ceil((h+f.cut)*(h+f.cut))
	if h >= f.cut {
		from = math.Floor((h-f.cut)*(h-f.cut)) + 1
	}
	if from > f.most {
		return 0
	}
	within := count.tail(from, m).chance
	if to <= f.most {
		within -= count.tail(to, m).chance
	}
	return max(0, within)
}

// mass is the chance of a Poisson count.
func (f counts) mass(y, m float64) float64 {
	l, _ := math.Lgamma(y + 1)
	return math.Exp(y*math.Log(m) - m - l)
}
