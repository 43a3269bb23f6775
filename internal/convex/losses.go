package convex

// Proof: docs/proofs/optimum.md.

import (
	"fmt"
	"math"
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

// logisticPull bounds |η|·p(1−p), which is largest at |η| = 1.5434.
const logisticPull = 0.224

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
