package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/internal/plot"
)

// mixPosterior is the tempered posterior of the mixture on a grid: the truth that
// chains are compared with.
type mixPosterior struct {
	cdf       []float64
	mean      [2]float64
	variance  [2]float64
	covariant float64
}

// The grid holds all but 1e-9 of the posterior.
const (
	mixSide = 240
	mixLow1 = -1.8
	mixHig1 = 2.8
	mixLow2 = -3.6
	mixHig2 = 3.6
)

func mixPoint(i int) [2]float64 {
	return [2]float64{
		mixLow1 + (mixHig1-mixLow1)*float64(i/mixSide)/(mixSide-1),
		mixLow2 + (mixHig2-mixLow2)*float64(i%mixSide)/(mixSide-1),
	}
}

// newMixPosterior integrates from the formula, not from the target. Records are binned
// (1000 bins over ±12): their variance of 2 grows by 5·10⁻⁵.
func newMixPosterior(x []float64) *mixPosterior {
	const bins, reach = 1000, 12.0
	count := make([]float64, bins)
	for _, v := range x {
		b := int((v + reach) / (2 * reach) * bins)
		count[min(max(b, 0), bins-1)]++
	}
	logp := make([]float64, mixSide*mixSide)
	for i := range logp {
		p := mixPoint(i)
		l := -p[0]*p[0]/20 - p[1]*p[1]/2
		for j, n := range count {
			if n > 0 {
				v := (float64(j)+0.5)/bins*2*reach - reach
				d, e := v-p[0], v-p[0]-p[1]
				// The larger component is factored out: far records underflow otherwise.
				near, far := min(d*d, e*e), max(d*d, e*e)
				l += mixTau * n * (math.Log1p(math.Exp((near-far)/4)) - near/4)
			}
		}
		logp[i] = l
	}
	return tabulate(logp)
}

// tabulate turns log densities on the grid into moments and a cumulative sum.
func tabulate(logp []float64) *mixPosterior {
	m := &mixPosterior{cdf: make([]float64, len(logp))}
	top, sum, cross := slices.Max(logp), 0.0, 0.0
	var square [2]float64
	for i, l := range logp {
		w, p := math.Exp(l-top), mixPoint(i)
		sum += w
		m.cdf[i] = sum
		cross += w * p[0] * p[1]
		for j, v := range p {
			m.mean[j] += w * v
			square[j] += w * v * v
		}
	}
	for i := range m.cdf {
		m.cdf[i] /= sum
	}
	for j := range m.mean {
		m.mean[j] /= sum
		m.variance[j] = square[j]/sum - m.mean[j]*m.mean[j]
	}
	m.covariant = cross/sum - m.mean[0]*m.mean[1]
	return m
}

// draw returns a point of the grid, moved within its cell.
func (m *mixPosterior) draw(rng *rand.Rand) []float64 {
	i, _ := slices.BinarySearch(m.cdf, rng.Float64())
	p := mixPoint(min(i, len(m.cdf)-1))
	return []float64{
		p[0] + (rng.Float64()-0.5)*(mixHig1-mixLow1)/(mixSide-1),
		p[1] + (rng.Float64()-0.5)*(mixHig2-mixLow2)/(mixSide-1),
	}
}

// marginal is the density of θ₂.
func (m *mixPosterior) marginal() plot.Line {
	l := plot.Line{Name: "exact", Dashed: true, X: make([]float64, mixSide), Y: make([]float64, mixSide)}
	step, before := (mixHig2-mixLow2)/(mixSide-1), 0.0
	for i, c := range m.cdf {
		l.X[i%mixSide] = mixPoint(i)[1]
		l.Y[i%mixSide] += (c - before) / step
		before = c
	}
	return l
}
