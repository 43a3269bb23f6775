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

// Centre returns the link of slopes with that mean which stands for one without: for roots of
// Poisson counts. Others have none, or need none.
func Centre(link Link) (Centred, bool) {
	f, ok := link.(roots)
	if !ok {
		return nil, false
	}
	return centred{f, sync.OnceValue(f.heights)}, true
}

// centred are roots of counts with the slope h(η) − √y, cut, of which h is where the cut slope has
// the mean 0. It is not that of a loss with a closed form, and need not be.
type centred struct {
	roots
	table func() []float64 // of h, over predictors from lowest on
}

// centredStep is the table's, between whose values h is a straight line.
const centredStep = 0.023

// heights are those of the table. They rise.
func (f roots) heights() []float64 {
	top := math.Log(1+f.most) + 5
	var out []float64
	low := 0.0
	for eta := float64(lowest); eta < top; eta += centredStep {
		high := math.Sqrt(f.most)
		for range 40 {
			h := (low + high) / 2
			if mu, _, _, _ := f.law(h, eta); mu > 0 {
				high = h
			} else {
				low = h
			}
		}
		out = append(out, low)
	}
	return out
}

// centre is h and its derivative.
func (f centred) centre(eta float64) (h, bent float64) {
	table := f.table()
	x := (eta - lowest) / centredStep
	if !(x > 0) { // where counts are 0 or 1, h is in proportion to the mean
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
func (f centred) Slope(at, eta float64) (mean, variance, dMean, dVariance float64) {
	h, _ := f.centre(at)
	return f.law(h, eta)
}

// Weight is the mean of Of's derivative.
func (f centred) Weight(at, eta float64) float64 {
	h, bent := f.centre(at)
	return bent * f.uncut(h, mean(eta))
}

// Of is a count's slope.
func (f centred) Of(at, y float64) float64 {
	h, _ := f.centre(at)
	return f.slope(h, max(0, y))
}

// Most is the cut.
func (f centred) Most() float64 { return f.cut }
