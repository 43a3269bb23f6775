package surrogates

import (
	"math"
	"sync"
)

// Centred is a link whose slopes have the mean 0 where they are taken at the predictor that
// responses are drawn at, whatever it is. So the mean score near the truth depends on the law of
// the features to second order alone.
type Centred interface {
	Link
	// Of is the slope at a predictor, of a response.
	Of(at, y float64) float64
	// Most bounds slopes.
	Most() float64
}

// cutCount is a count whose slopes are those about a height, cut.
type cutCount interface {
	Link
	response() counts
	// about is the law of the slope about a height at a predictor, of counts as drawn.
	about(drawn tails, h, at float64) (mean, variance, dMean, dVariance float64)
	// slopeAbout is that of a count.
	slopeAbout(h, at, y float64) float64
	// highest is a height above that of all counts.
	highest() float64
}

// Centre returns the link of slopes with that mean which stands for one without: for roots of
// Poisson counts and for negative binomial counts. Others have none, or need none.
func Centre(link Link) (Centred, bool) {
	var of cutCount
	switch f := link.(type) {
	case roots:
		of = f
	case counts:
		if f.w == 0 || math.IsInf(f.cut, 1) || math.IsInf(f.most, 1) {
			return nil, false
		}
		of = f
	default:
		return nil, false
	}
	return centred{of, sync.OnceValue(func() []float64 { return heights(of) })}, true
}

// centred are counts with the slopes about the height where the cut slope has the mean 0. It is not
// that of a loss with a closed form, and need not be.
type centred struct {
	cutCount
	table func() []float64 // of heights, over predictors from lowest on
}

// centredStep is the table's, between whose values the height is a straight line.
const centredStep = 0.023

// heights are those of the table. They rise.
func heights(of cutCount) []float64 {
	top := math.Log(1+of.response().most) + 5
	var out []float64
	low := 0.0
	drawn := knownTails(of.response())
	for eta := float64(lowest); eta < top; eta += centredStep {
		high := of.highest()
		drawn.move(eta)
		for range 40 {
			h := (low + high) / 2
			if mu, _, _, _ := of.about(drawn, h, eta); mu > 0 {
				high = h
			} else {
				low = h
			}
		}
		out = append(out, low)
	}
	return out
}

// centre is the height and its derivative.
func (f centred) centre(eta float64) (h, bent float64) {
	table := f.table()
	x := (eta - lowest) / centredStep
	if !(x > 0) { // where counts are 0 or 1, the height is in proportion to the mean
		h = table[0] * math.Exp(eta-lowest)
		return h, h
	}
	if x >= float64(len(table)-1) {
		return table[len(table)-1], 0
	}
	k := int(x)
	bent = table[k+1] - table[k]
	return table[k] + (x-float64(k))*bent, bent / centredStep
}

// Slope is the law of Of.
func (f centred) Slope(at, eta float64) (mu, variance, dMean, dVariance float64) {
	return f.given(tails{of: f.response(), m: mean(eta)}, at)
}

// Weight is the mean of Of's derivative.
func (f centred) Weight(at, eta float64) float64 {
	if r, ok := f.cutCount.(roots); ok {
		h, bent := f.centre(at)
		return bent * r.uncut(h, mean(eta))
	}
	above, _, _, _ := f.Slope(at+centredStep/2, eta)
	below, _, _, _ := f.Slope(at-centredStep/2, eta)
	return max(0, above-below) / centredStep
}

// Of is a count's slope.
func (f centred) Of(at, y float64) float64 {
	h, _ := f.centre(at)
	return f.slopeAbout(h, at, max(0, y))
}

// Most is the cut.
func (f centred) Most() float64 { return f.response().cut }
