// Package convex is the library's own table of losses that are convex in one
// linear predictor, with bounds on slope and curvature that hold for every
// predictor and response. Private optima and weighted second moments are priced
// from these bounds, so the table is trusted; docs/proofs/optimum.md has the
// proofs of its constants.
package convex

// Proof: docs/proofs/optimum.md.

import (
	"math"
)

// Loss is one loss ℓ(η, y) of the table: convex and continuously differentiable in
// η. Beyond its cap, where |∂ℓ/∂η| would exceed MaxSlope, it goes on as a straight
// line. The zero value is no loss.
type Loss struct {
	kind  kind
	slope float64 // L
	bend  float64 // C
	drop  float64
	ulps  float64
	pull  float64
	most  float64    // the largest count; larger ones are counted as it
	size  float64    // r of the negative binomial law
	edge  [2]float64 // of probit and cloglog: where the slope is L, for y = 0 and −η of y = 1
	turn  bool       // the loss is that of the other label at −η
}

type kind uint8

const (
	none kind = iota
	logistic
	probit
	cloglog
	poisson
	negBinomial
	halved
	rootCount
	halvedProbit
	halvedCLogLog
)

// straight is the loss that l mirrors, and the other label.
func (l Loss) straight(y float64) (Loss, float64) {
	l.turn = false
	switch {
	case y >= 0.5:
		return l, 0
	case y < 0.5:
		return l, 1
	}
	return l, y
}

// rootMean is the v at which v/√(1 + v) is h > 0.
func rootMean(h float64) float64 { return h * (h + math.Hypot(h, 2)) / 2 }

// rootOf is v/√(1 + v) at v = e^η, as rises of RootCount are, and v/(1 + v).
func rootOf(eta float64) (h, share float64) {
	share = 1 / (1 + math.Exp(-eta))
	return math.Exp(eta/2) * math.Sqrt(share), share
}

// Valid reports whether l is a loss of the table.
func (l Loss) Valid() bool { return l.kind != none }

// MaxSlope bounds |∂ℓ/∂η|.
func (l Loss) MaxSlope() float64 { return l.slope }

// Count is the largest count that is told from larger ones, 0 where responses are no counts.
func (l Loss) Count() float64 { return l.most }

// MaxCurvature bounds ∂²ℓ/∂η², which is at least 0.
func (l Loss) MaxCurvature() float64 { return l.bend }

// Drop bounds ℓ(0, y) − inf over η of ℓ(η, y).
func (l Loss) Drop() float64 { return l.drop }

// Ulps bounds the error of a computed Slope in units of 2⁻⁵³·MaxSlope.
func (l Loss) Ulps() float64 { return l.ulps }

// Pull bounds |η|·∂²ℓ/∂η²: what a relative error of η can do to a slope.
func (l Loss) Pull() float64 { return l.pull }

// IsLogistic reports whether l is Logistic.
func (l Loss) IsLogistic() bool { return l.kind == logistic }

// Tied reports whether the slope says how much curvature there can be, at most s(1−s) where
// |∂ℓ/∂η| = s·MaxSlope: accountant.Perturbation.
func (l Loss) Tied() bool { return l.kind == logistic || l.kind == halved }

// Absent reports a response that has no loss, so that its record counts for
// nothing: one that is not finite, or not a count where counts are due.
func (l Loss) Absent(y float64) bool {
	switch l.kind {
	case poisson, negBinomial, rootCount:
		return !(y >= 0 && y == math.Trunc(y) && y-y == 0)
	}
	return y-y != 0
}

// Slope is ∂ℓ/∂η, within ±MaxSlope; 0 of an absent record.
func (l Loss) Slope(eta, y float64) float64 {
	if l.Absent(y) {
		return 0
	}
	if l.turn {
		l, y := l.straight(y)
		return -l.Slope(-eta, y)
	}
	switch l.kind {
	case logistic:
		if y >= 0.5 {
			return -1 / (1 + math.Exp(eta))
		}
		return 1 / (1 + math.Exp(-eta))
	case halved:
		if y >= 0.5 {
			return -0.5 / math.Sqrt(1+math.Exp(2*eta))
		}
		return 0.5 / math.Sqrt(1+math.Exp(-2*eta))
	case halvedProbit, halvedCLogLog:
		p, q, _ := l.chances(eta)
		if y >= 0.5 {
			return -0.5 * (q / math.Hypot(p, q))
		}
		return 0.5 * (p / math.Hypot(p, q))
	case probit:
		if y >= 0.5 {
			return -l.tailSlope(-eta)
		}
		return l.tailSlope(eta)
	case cloglog:
		if y >= 0.5 {
			return -inclusion(math.Exp(eta))
		}
		return math.Exp(min(eta, l.edge[0]))
	case poisson:
		return max(-l.slope, min(l.slope, math.Exp(eta)-min(y, l.most)))
	case negBinomial:
		return max(-l.slope, min(l.slope, l.negBinomialSlope(eta, y)))
	case rootCount:
		h, _ := rootOf(eta)
		return max(-l.slope, min(l.slope, h-math.Sqrt(min(y, l.most))))
	}
	return 0
}

func (l Loss) negBinomialSlope(eta, y float64) float64 {
	y = min(y, l.most)
	return (y+l.size)*l.share(eta) - y
}

// Curvature is ∂²ℓ/∂η², from 0 to MaxCurvature, and 0 beyond the cap.
func (l Loss) Curvature(eta, y float64) float64 {
	if l.Absent(y) || l.Capped(eta, y) {
		return 0
	}
	if l.turn {
		l, y := l.straight(y)
		return l.Curvature(-eta, y)
	}
	switch l.kind {
	case logistic:
		return LogisticCurvature(eta)
	case halved:
		s := 2 * l.Slope(eta, y)
		return math.Abs(s) * (1 - s*s) / 2
	case halvedProbit, halvedCLogLog: // that of Halved, times the derivative of the log-odds
		p, q, bent := l.chances(eta)
		p, q = p/math.Hypot(p, q), q/math.Hypot(p, q)
		if y >= 0.5 {
			return p * p * q * bent / 2
		}
		return p * q * q * bent / 2
	case probit:
		if y >= 0.5 {
			eta = -eta
		}
		_, h := NormalTail(eta)
		return max(0, min(1, h*(h-eta)))
	case cloglog:
		v := math.Exp(eta)
		if y < 0.5 {
			return v
		}
		if v < 1e-4 { // g(g + v − 1) with g = 1 − v/2 + v²/12
			return v / 2 * (1 - v/3)
		}
		g := inclusion(v)
		if g == 0 { // where v may be infinite
			return 0
		}
		return max(0, g*(g+v-1))
	case poisson:
		return math.Exp(eta)
	case negBinomial:
		s := l.share(eta)
		return (min(y, l.most) + l.size) * s * (1 - s)
	case rootCount:
		h, share := rootOf(eta)
		return min(l.bend, h*(1-share/2))
	}
	return 0
}

// Capped reports whether the loss is a straight line at eta.
func (l Loss) Capped(eta, y float64) bool {
	if l.turn {
		l, y := l.straight(y)
		return l.Capped(-eta, y)
	}
	switch l.kind {
	case probit:
		if y >= 0.5 {
			eta = -eta
		}
		return eta > l.edge[0]
	case cloglog:
		return y < 0.5 && eta > l.edge[0]
	case poisson:
		s := math.Exp(eta) - min(y, l.most)
		return s >= l.slope || s <= -l.slope
	case negBinomial:
		s := l.negBinomialSlope(eta, y)
		return s >= l.slope || s <= -l.slope
	case rootCount:
		h, _ := rootOf(eta)
		s := h - math.Sqrt(min(y, l.most))
		return s >= l.slope || s <= -l.slope
	}
	return false
}

// Value is ℓ(η, y) up to a constant that may depend on y.
func (l Loss) Value(eta, y float64) float64 {
	if l.turn {
		l, y := l.straight(y)
		return l.Value(-eta, y)
	}
	switch l.kind {
	case logistic:
		if y >= 0.5 {
			eta = -eta
		}
		return softplus(eta)
	case halved:
		if y >= 0.5 {
			eta = -eta
		}
		if eta > 300 { // e^η has no square
			return (eta + math.Ln2) / 2
		}
		return math.Asinh(math.Exp(eta)) / 2
	case halvedProbit, halvedCLogLog:
		return l.integrated(eta, y)
	case probit:
		if y >= 0.5 {
			eta = -eta
		}
		tail, _ := NormalTail(min(eta, l.edge[0]))
		return -tail + l.slope*max(0, eta-l.edge[0])
	case cloglog:
		if y >= 0.5 {
			return -logInclusion(eta)
		}
		return math.Exp(min(eta, l.edge[0])) + l.slope*max(0, eta-l.edge[0])
	case poisson:
		y = min(y, l.most)
		high, low := math.Log(y+l.slope), math.Inf(-1)
		if y > l.slope {
			low = math.Log(y - l.slope)
		}
		at := max(low, min(high, eta))
		return math.Exp(at) - y*at + l.slope*math.Abs(eta-at)
	case negBinomial:
		y = min(y, l.most)
		low, high := math.Inf(-1), math.Inf(1) // where the share is (y ± cap)/(y + r)
		if y > l.slope {
			low = math.Log((y - l.slope) / (l.size + l.slope))
		}
		if l.size > l.slope {
			high = math.Log((y + l.slope) / (l.size - l.slope))
		}
		d := eta - math.Log(l.size) // (y+r)·log(1 + e^d) − yd
		at := max(low, min(high, d))
		return y*softplus(-at) + l.size*softplus(at) + l.slope*math.Abs(d-at)
	case rootCount:
		root := math.Sqrt(min(y, l.most))
		high, low := math.Log(rootMean(root+l.slope)), math.Inf(-1)
		if root > l.slope {
			low = math.Log(rootMean(root - l.slope))
		}
		at := max(low, min(high, eta))
		return 2*math.Sqrt(1+math.Exp(at)) - root*at + l.slope*math.Abs(eta-at)
	}
	return 0
}

// chances are those of y = 1 and y = 0 at eta, and the derivative of their log-odds.
func (l Loss) chances(eta float64) (p, q, bent float64) {
	if l.kind == halvedCLogLog {
		v := math.Exp(eta)
		if p, q = -math.Expm1(-v), math.Exp(-v); v < 1e-300 {
			return p, q, 1
		}
		return p, q, min(v, math.MaxFloat64) / p
	}
	_, one := NormalTail(-eta)
	_, none := NormalTail(eta)
	return math.Erfc(-eta/math.Sqrt2) / 2, math.Erfc(eta/math.Sqrt2) / 2, one + none
}

// integrated is the integral of Slope from 0, by Gauss's rule of five points on pieces of length ¼.
func (l Loss) integrated(eta, y float64) float64 {
	const far = 12 // beyond it slopes are constant, but for those of rare events, ½e^η
	at := max(-far, min(far, eta))
	sum := (eta - at) * l.Slope(eta, y)
	if l.kind == halvedCLogLog && y < 0.5 && eta < at {
		sum = (math.Exp(eta) - math.Exp(at)) / 2
	}
	for from := 0.0; from != at; {
		half := max(-0.125, min(0.125, (at-from)/2))
		middle := from + half
		sum += half * 128 / 225 * l.Slope(middle, y)
		for _, g := range [][2]float64{{0.5384693101056831, 0.4786286704993665}, {0.906179845938664, 0.23692688505618908}} {
			sum += half * g[1] * (l.Slope(middle-g[0]*half, y) + l.Slope(middle+g[0]*half, y))
		}
		if from = middle + half; math.Abs(half) < 0.125 {
			break
		}
	}
	return sum
}

func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// tailSlope is the hazard of the normal law at eta, capped.
func (l Loss) tailSlope(eta float64) float64 {
	if eta > l.edge[0] {
		return l.slope
	}
	_, h := NormalTail(eta)
	return min(h, l.slope)
}

// share is e^η/(r + e^η).
func (l Loss) share(eta float64) float64 { return 1 / (1 + l.size*math.Exp(-eta)) }

// inclusion is v/(e^v − 1).
func inclusion(v float64) float64 {
	switch {
	case v < 1e-300:
		return 1
	case v > 700:
		return 0
	}
	return v / math.Expm1(v)
}

// logInclusion is log(1 − exp(−e^η)).
func logInclusion(eta float64) float64 {
	v := math.Exp(eta)
	if v < 1e-8 {
		return eta - v/2
	}
	return math.Log(-math.Expm1(-v))
}

// LogisticCurvature is p(1−p) at log-odds eta, at most ¼.
func LogisticCurvature(eta float64) float64 {
	e := math.Exp(-math.Abs(eta))
	return e / ((1 + e) * (1 + e))
}

// NormalTail returns log P(Z > t) for a standard normal Z and the hazard
// φ(t)/P(Z > t). Beyond t = 20 it uses the asymptotic series of the Mills ratio,
// whose sixth term is below 10⁻¹².
func NormalTail(t float64) (log, hazard float64) {
	const logSqrt2Pi = 0.91893853320467274178
	if t > 20 {
		w := 1 / (t * t)
		mills := (1 - w*(1-3*w*(1-5*w*(1-7*w*(1-9*w*(1-11*w)))))) / t
		return -t*t/2 - logSqrt2Pi + math.Log(mills), 1 / mills
	}
	tail := math.Erfc(t/math.Sqrt2) / 2
	if t < 0 {
		log = math.Log1p(-math.Erfc(-t/math.Sqrt2) / 2)
	} else {
		log = math.Log(tail)
	}
	return log, math.Exp(-t*t/2-logSqrt2Pi) / tail
}
