// Package convex is the library's own table of losses that are convex in one
// linear predictor, with bounds on slope and curvature that hold for every
// predictor and response. Private optima and weighted second moments are priced
// from these bounds, so the table is trusted; docs/proofs/optimum.md has the
// proofs of its constants.
package convex

// Proof: docs/proofs/optimum.md.

import (
	"fmt"
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

// Logistic is log(1 + e^∓η): slopes of at most 1, curvatures of at most ¼.
func Logistic() Loss {
	return Loss{kind: logistic, slope: 1, bend: 0.25, drop: math.Ln2, ulps: 10, pull: logisticPull}
}

// Halved is ½·asinh(e^∓η), of which logistic regression has the same minimum as of its log
// loss: slopes are those of the log loss times a weight from ½ to 0.71 that does not depend on
// the response. They are at most ½, and curvatures below 0.1925.
func Halved() Loss {
	return Loss{kind: halved, slope: 0.5, bend: 0.1925, drop: 0.441, ulps: 10, pull: 0.16}
}

// HalvedProbit has the slopes of Halved at the log-odds of Φ(η), ∓½q/√(p² + q²) of a response of
// the chance p = Φ(±η), q = 1 − p. So they have the mean 0 under the probit law.
func HalvedProbit() Loss {
	return Loss{kind: halvedProbit, slope: 0.5, bend: 0.315, drop: 0.2822, ulps: 64, pull: 0.315}
}

// HalvedCLogLog has those at the log-odds of 1 − exp(−e^η).
func HalvedCLogLog() Loss {
	return Loss{kind: halvedCLogLog, slope: 0.5, bend: 0.305, drop: 0.5641, ulps: 64, pull: 0.521}
}

// Probit is −log Φ(±η), with slopes cut at cap, from 1 to 8. Curvatures are below 1.
func Probit(limit float64) (Loss, error) {
	l := Loss{kind: probit, slope: limit, bend: 1, drop: math.Ln2, ulps: 256, pull: max(1, limit)}
	if err := inside("probit", limit, 1, 8); err != nil {
		return Loss{}, err
	}
	l.edge[0] = crossing(limit, func(eta float64) float64 { _, h := NormalTail(eta); return h })
	l.edge[1] = l.edge[0]
	return l, nil
}

// CLogLog is −log(1 − exp(−e^η)) for y = 1 and e^η for y = 0, with slopes cut at
// cap, from 1 to 64. Curvatures are at most cap.
func CLogLog(limit float64) (Loss, error) {
	l := Loss{kind: cloglog, slope: limit, bend: limit, drop: 1, ulps: 32, pull: max(1, limit*math.Log(limit))}
	if err := inside("cloglog", limit, 1, 64); err != nil {
		return Loss{}, err
	}
	l.edge = [2]float64{math.Log(limit), math.Inf(1)}
	return l, nil
}

// Mirrored is the loss of the other label at −η, which has the same bounds: they are of both labels
// and of every η. A count has no other label, and its loss none that is mirrored.
func (l Loss) Mirrored() Loss {
	switch l.kind {
	case poisson, negBinomial, rootCount:
		return Loss{}
	}
	l.turn = !l.turn
	return l
}

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

// Poisson is e^η − yη with slopes cut at cap ≥ 1. A count above most ≥ 1 is counted
// as most. Curvatures are at most most + cap.
func Poisson(most, limit float64) (Loss, error) {
	if err := inside("Poisson", limit, 1, 1e6); err != nil {
		return Loss{}, err
	}
	if err := countable(most); err != nil {
		return Loss{}, err
	}
	return Loss{
		kind: poisson, slope: limit, bend: most + limit, most: most,
		drop: max(1, 1-most+most*math.Log(most)) * (1 + 1e-12), ulps: 16 * (2 + most/limit),
		pull: (most + limit) * math.Log(most+limit),
	}, nil
}

// RootCount is 2√(1 + e^η) − η√y, with slopes e^η/√(1 + e^η) − √y cut at cap, from 0.1 to 1. A
// count above most ≥ 1 is counted as most. A root has about the same variance at every mean, and
// curvatures are at most (√most + cap)·(½ + ½/(1 + v)), v the e^η at which a slope of most is cap.
func RootCount(most, limit float64) (Loss, error) {
	if !(limit >= 0.1 && limit <= 1) {
		return Loss{}, fmt.Errorf("a loss of roots of counts with cap %v; give one from 0.1 to 1", limit)
	}
	if err := countable(most); err != nil {
		return Loss{}, err
	}
	root := math.Sqrt(most)
	far := rootMean(root + limit)
	bend := (root + limit) * (1 + far/2) / (1 + far) * (1 + 1e-12)
	at := rootMean(root)
	rise := 2*math.Sqrt2 - 2*math.Sqrt(1+at) + root*math.Log(at)
	return Loss{
		kind: rootCount, slope: limit, bend: bend, most: most, drop: max(1, rise) * (1 + 1e-12),
		ulps: 16 * (1 + root/limit), pull: max(1, bend*math.Log(far)) * (1 + 1e-12),
	}, nil
}

// rootMean is the v at which v/√(1 + v) is h > 0.
func rootMean(h float64) float64 { return h * (h + math.Hypot(h, 2)) / 2 }

// rootOf is v/√(1 + v) at v = e^η, as rises of RootCount are, and v/(1 + v).
func rootOf(eta float64) (h, share float64) {
	share = 1 / (1 + math.Exp(-eta))
	return math.Exp(eta/2) * math.Sqrt(share), share
}

// NegativeBinomial is the loss of a count with mean e^η and variance e^η + e^2η/size, with
// slopes cut at cap ≥ 1; a count above most ≥ 1 is counted as most. Without a cut slopes are
// at most max(most, size), so that a larger cap is that. Curvatures are at most
// (most + size)/4 and size + cap.
func NegativeBinomial(size, most, limit float64) (Loss, error) {
	if err := inside("negative binomial (size)", size, 1e-3, 1e6); err != nil {
		return Loss{}, err
	}
	if err := countable(most); err != nil {
		return Loss{}, err
	}
	if err := inside("negative binomial", limit, 1, 1e6); err != nil {
		return Loss{}, err
	}
	rise := (most+size)*math.Log1p(1/size) - (most+size)*math.Log1p(most/size) + most*math.Log(most)
	limit = min(limit, max(most, size))
	return Loss{
		kind: negBinomial, slope: limit, bend: min((most+size)/4, size+limit), most: most, size: size,
		drop: max(1, rise) * (1 + 1e-12), ulps: 64 * max(most, size) / limit,
		pull: (most + size) * (logisticPull + math.Abs(math.Log(size))/4),
	}, nil
}

func inside(name string, v, lo, hi float64) error {
	if v >= lo && v <= hi {
		return nil
	}
	return fmt.Errorf("a %s loss with cap %v; give one from %v to %v", name, v, lo, hi)
}

// MostCount is the largest count that a loss tells from larger ones.
const MostCount = 1e6

func countable(most float64) error {
	if most >= 1 && most <= MostCount && most == math.Trunc(most) {
		return nil
	}
	return fmt.Errorf("a largest count of %v; give a whole number from 1 to 1e6", most)
}

// crossing is where a rising function reaches a level.
func crossing(level float64, f func(float64) float64) float64 {
	lo, hi := -64.0, 64.0
	for range 80 {
		if mid := (lo + hi) / 2; f(mid) < level {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
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

// logisticPull bounds |η|·p(1−p), which is largest at |η| = 1.5434.
const logisticPull = 0.224

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
