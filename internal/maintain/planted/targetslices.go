package planted

import (
	"math"
	"slices"
	"sync"

	"github.com/dpmcmc/dpmcmc/targets"
)

// Targets here use slices for what they are not: room behind parameters, a batch before it is finished, a running
// total. One more stops a search too early.

// appending puts both states into one slice: behind the first where there is room, or into its own.
type appending struct {
	*own
	copies bool
}

func (m appending) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	if m.copies {
		theta = slices.Clip(theta)
	}
	both := append(theta, next...)
	m.own.LossRatio(dst, both[:m.dim], both[m.dim:], rows)
}

// waiting has a goroutine for each 512 gradients, and may return before they end.
type waiting struct {
	*own
	waits bool
}

func (m waiting) LossGrad(dst, theta []float64, rows targets.Rows) {
	const chunk = 512
	var all sync.WaitGroup
	theta = append([]float64{}, theta...)
	for lo := 0; lo < rows.Len(); lo += chunk {
		hi := min(rows.Len(), lo+chunk)
		part := func() { m.own.LossGrad(dst[lo*m.dim:hi*m.dim], theta, rows.Slice(lo, hi)) }
		if rows.Len() <= chunk {
			part()
			continue
		}
		all.Go(part)
	}
	if m.waits {
		all.Wait()
	}
}

// inTotal takes losses for the differences of a running total.
func inTotal() targets.Target {
	m := robust(2, 1.5)
	m.batch = func(dst []float64, _ targets.Rows) {
		total := 0.0
		for i, l := range dst {
			if sum := total + l; !math.IsNaN(sum) && !math.IsInf(sum, 0) {
				total, dst[i] = sum, sum-total
			}
		}
	}
	return m
}

// profiled has an effect of each record, which so many of Newton's steps fit. Its slope is that where the fit is
// exact.
func profiled(steps int) func() targets.Target {
	fit := func(r float64) (b float64) {
		for range steps {
			h := math.Hypot(1, r+b)
			b -= (2*(r+b)/h + b) / (2/(h*h*h) + 1)
		}
		return b
	}
	return madeOf(func() *own {
		return along(func(eta, y float64) float64 {
			b := fit(eta - y)
			return 2*(math.Hypot(1, eta-y+b)-1) + b*b/2
		}, func(eta, y float64) float64 {
			r := eta - y + fit(eta-y)
			return 2 * r / math.Hypot(1, r)
		})
	})
}
