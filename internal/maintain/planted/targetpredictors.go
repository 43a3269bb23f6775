package planted

import (
	"math"
	"sync"
)

func predictorDefects() []Case {
	add := func(name, effect string, m model, plant func(p *planted)) Case {
		return target(name, effect, m, plant)
	}
	factor := func(cond func(eta, y float64) bool, by float64) func(eta, y, v float64) float64 {
		return func(eta, y, v float64) float64 {
			return either(cond(eta, y), v*by, v)
		}
	}
	return []Case{
		add("LossAt for y = 1", "1%", huber, func(p *planted) {
			p.lossAt = factor(func(_, y float64) bool { return y == 1 }, 1.01)
		}),
		add("LossAt beyond 30", "1%", logistic, func(p *planted) {
			p.lossAt = factor(func(eta, _ float64) bool { return eta < -30 }, 1.01)
		}),
		add("SlopeAt beyond 12", "sign", logistic, func(p *planted) {
			p.slopeAt = factor(func(eta, _ float64) bool { return eta > 12 }, -1)
		}),
		add("SlopeAt in a narrow band", "5%, width 0.1", huber, func(p *planted) {
			p.slopeAt = factor(func(eta, _ float64) bool { return math.Abs(eta-2.2) < 0.05 }, 1.05)
		}),
		add("SlopeAt for large responses", "5%", huber, func(p *planted) {
			p.slopeAt = factor(func(_, y float64) bool { return y > 20 }, 1.05)
		}),
		add("SlopeAt kept by the predictor", "stale response", huber, func(p *planted) {
			var mu sync.Mutex
			at, kept := math.NaN(), 0.0
			p.slopeAt = func(eta, _, v float64) float64 {
				mu.Lock()
				defer mu.Unlock()
				if eta != at {
					at, kept = eta, v
				}
				return kept
			}
		}),
		add("SlopeAt panics for infinite responses", "panic", huber, func(p *planted) {
			p.slopeAt = func(_, y, v float64) float64 {
				if math.IsInf(y, 1) {
					panic("response")
				}
				return v
			}
		}),
		add("SlopeAt for negative zero", "sign", welsch, func(p *planted) {
			p.slopeAt = factor(func(_, y float64) bool { return y == 0 }, -1)
		}),
	}
}

// twice computes a loss in two passes over dst.
type twice struct{ *planted }

func (p twice) LossAt(dst, eta, y []float64) {
	for i, e := range eta {
		dst[i] = e - y[i]
	}
	for i, e := range eta {
		dst[i] = math.Hypot(1, e-y[i]) - 1
	}
}

// fours evaluates slopes four at a time, and what is left over at the predictor before.
type fours struct{ *planted }

func (p fours) SlopeAt(dst, eta, y []float64) {
	n := len(eta)
	if n > 4 && n%4 == 3 {
		eta = append([]float64(nil), eta...)
		eta[n-1] = eta[n-2]
	}
	p.planted.SlopeAt(dst, eta, y)
}

// clipping writes to the predictors that it is asked for.
type clipping struct{ *planted }

func (p clipping) LossAt(dst, eta, y []float64) {
	for i, e := range eta {
		eta[i] = min(e, 30)
	}
	p.planted.LossAt(dst, eta, y)
}
