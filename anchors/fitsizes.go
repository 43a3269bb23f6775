package anchors

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpmcmc/dpmcmc/targets"
)

// sizeBins are the sizes of residuals, each less by √2: from twice the response's bound on.
const sizeBins = 24

// sizes is a target whose gradient counts residuals y − x·θ by their size, of features coefficients and
// then a bin each. It has neither a loss nor a prior, which nobody asks for.
type sizes struct {
	features int
	most     float64
}

var _ targets.GradTarget = sizes{}

func (s sizes) Dim() int { return s.features + sizeBins }

func (s sizes) Shape() (features int, response bool) { return s.features, true }

func (s sizes) LogPrior([]float64) float64 { return 0 }

func (s sizes) GradLogPrior(dst, _ []float64) { clear(dst) }

func (s sizes) Loss(dst, _ []float64, _ targets.Rows) { clear(dst) }

func (s sizes) LossGrad(dst, theta []float64, rows targets.Rows) {
	clear(dst)
	for i := range rows.Len() {
		size := math.Abs(rows.Y[i] - floats.Dot(rows.Row(i), theta[:s.features]))
		dst[i*s.Dim()+s.features+s.bin(size)] = 1
	}
}

// bin is that of a size, the largest first. Sizes that are no numbers are in the first.
func (s sizes) bin(size float64) int {
	b := math.Floor(2 * math.Log2(2*s.most/size))
	if !(b > 0) {
		return 0
	}
	return int(min(b, sizeBins-1))
}

// edge is the largest size in a bin.
func (s sizes) edge(bin int) float64 { return 2 * s.most * math.Exp2(-float64(bin)/2) }

// tails is the share of residuals in the wider part of their law, tailWidth times as wide.
const tailWidth = 3

// law is that of residuals as far as their counts show it: normal, but for a share that is tailWidth times as wide.
type law struct {
	spread float64 // of most
	tail   float64 // the share of the wider part
	tailSD float64 // by which noise makes it be off
}

// share of normal residuals with standard deviation sd that a bin has.
func (s sizes) share(bin int, sd float64) float64 {
	v := 1.0
	if bin > 0 {
		v = math.Erf(s.edge(bin) / sd / math.Sqrt2)
	}
	if bin < sizeBins-1 {
		v -= math.Erf(s.edge(bin+1) / sd / math.Sqrt2)
	}
	return v
}

// fit is the law whose shares are nearest to the released counts, with so much noise in each.
func (s sizes) fit(counts []float64, n, noise float64) (best law) {
	least := math.Inf(1)
	at, wider := make([]float64, sizeBins), make([]float64, sizeBins)
	for k := range 50 * sizeBins {
		sd := s.edge(0) * math.Exp2(-float64(k)/100)
		along, square := 0.0, 0.0
		for b, count := range counts {
			at[b], wider[b] = s.share(b, sd), s.share(b, tailWidth*sd)
			along += (wider[b] - at[b]) * (count/n - at[b])
			square += (wider[b] - at[b]) * (wider[b] - at[b])
		}
		tail, off := 0.0, 0.0
		if square > 0 {
			tail = min(mostTail, max(0, along/square))
		}
		for b, count := range counts {
			off += math.Pow(count/n-at[b]-tail*(wider[b]-at[b]), 2)
		}
		if off < least {
			least, best = off, law{sd, tail, noise / n * s.apart(at, wider, sd)}
		}
	}
	return best
}

// apart is by how much errors of counts move the share of the wider part, where the spread is not known either.
func (s sizes) apart(at, wider []float64, sd float64) float64 {
	const step = 1e-3
	gg, gh, hh := 0.0, 0.0, 0.0
	for b := range at {
		g, h := wider[b]-at[b], s.share(b, sd*(1+step))-at[b]
		gg, gh, hh = gg+g*g, gh+g*h, hh+h*h
	}
	return 1 / math.Sqrt(gg-gh*gh/(hh+math.SmallestNonzeroFloat64))
}

// mostTail bounds the share of the wider part.
const mostTail = 0.3

// scale is the standard deviation of residuals, over the spread of most.
func (l law) scale() float64 { return math.Sqrt(1 + l.tail*(tailWidth*tailWidth-1)) }

// cut is the part of the residuals' square that cutting them at so many spreads takes away, with so much of the
// wider part.
func (l law) cut(deviations, tail float64) float64 {
	return ((1-tail)*squareBeyond(deviations) + tail*tailWidth*tailWidth*squareBeyond(deviations/tailWidth)) /
		(1 + tail*(tailWidth*tailWidth-1))
}

// squareBeyond is the mean of what z² has over a², of standard normal z.
func squareBeyond(a float64) float64 {
	return (1-a*a)*math.Erfc(a/math.Sqrt2) + a*math.Sqrt(2/math.Pi)*math.Exp(-a*a/2)
}

// beyond is the size that no more residuals than a small share are beyond, as far as noise shows them: surely, or
// more likely than not where the law surely has a wider part.
func (s sizes) beyond(counts []float64, n, noise float64, l law) float64 {
	surely := 2.0
	if l.tail > 3*l.tailSD {
		surely = 1
	}
	sum := 0.0
	for b, count := range counts {
		if sum += count; sum > sumsTail*n+surely*noise*math.Sqrt(float64(b+1)) {
			return s.edge(b)
		}
	}
	return 0
}
