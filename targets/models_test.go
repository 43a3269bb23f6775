package targets

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

func lossOf(target Target, theta []float64, rows Rows) []float64 {
	dst := make([]float64, rows.Len())
	target.Loss(dst, theta, rows)
	return dst
}

// TestLossMatchesDefinition compares every loss with −(f^(β−1) − 1)/(β−1) +
// (∫f^β − 1)/β, from textbook densities and numerical integrals.
func TestLossMatchesDefinition(t *testing.T) {
	forEachCase(t, func(t *testing.T, c *modelCase, rng *rand.Rand) {
		for range 20 {
			theta, rows := c.draw(rng), c.sample(rng, 1)
			var y float64
			if rows.Y != nil {
				y = rows.Y[0]
			}
			logf := c.logDensity(theta, rows.X, y)
			want := -logf
			if beta := c.loss.Beta; beta > 1 {
				want = -(math.Exp((beta-1)*logf)-1)/(beta-1) + (c.power(theta, rows.X, beta)-1)/beta
			}
			got := lossOf(c.target, theta, rows)[0]
			if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
				t.Fatalf("θ = %v, x = %v, y = %v: loss %v, definition %v", theta, rows.X, y, got, want)
			}
		}
	})
}

// TestBetaNearOneIsLogLoss: the difference is of the order of (β−1)·(log f)².
func TestBetaNearOneIsLogLoss(t *testing.T) {
	for _, b := range []float64{1e-4, 1e-8, 1e-15} {
		logs, betas := modelCases(t, Loss{}), modelCases(t, betaLoss(t, 1+b))
		b := (1 + b) - 1
		for k := range logs {
			rng := rand.New(rand.NewPCG(3, 4))
			for range 20 {
				theta, rows := logs[k].draw(rng), logs[k].sample(rng, 5)
				want, got := lossOf(logs[k].target, theta, rows), lossOf(betas[k].target, theta, rows)
				for i := range want {
					if tol := 1e-11 + b*(4+want[i]*want[i]); !(math.Abs(got[i]-want[i]) <= tol) {
						t.Fatalf("%s: loss %v, log loss %v", betas[k].name, got[i], want[i])
					}
				}
			}
		}
	}
}

// gradDifference is the gradient of record 0 by central differences, improved by
// one Richardson step; its error is of the order of 1e-9 here.
func gradDifference(target Target, theta []float64, rows Rows) []float64 {
	central := func(j int, h float64) float64 {
		at := func(v float64) float64 {
			moved := slices.Clone(theta)
			moved[j] += v
			return lossOf(target, moved, rows)[0]
		}
		return (at(h) - at(-h)) / (2 * h)
	}
	grad := make([]float64, len(theta))
	for j := range grad {
		grad[j] = (4*central(j, 1e-3) - central(j, 2e-3)) / 3
	}
	return grad
}

func TestGradientsMatchDifferences(t *testing.T) {
	forEachCase(t, func(t *testing.T, c *modelCase, rng *rand.Rand) {
		target, ok := c.target.(GradTarget)
		if !ok {
			t.Fatal("no gradient")
		}
		d := target.Dim()
		for range 20 {
			theta, rows := c.draw(rng), c.sample(rng, 3)
			got := make([]float64, 3*d)
			target.LossGrad(got, theta, rows)
			for i := range 3 {
				want := gradDifference(target, theta, rows.Slice(i, i+1))
				for j := range d {
					if math.Abs(got[i*d+j]-want[j]) > 1e-7*(1+math.Abs(want[j])) {
						t.Fatalf("record %d, parameter %d: gradient %v, differences %v", i, j, got[i*d+j], want[j])
					}
				}
			}
		}
	})
}

func TestPriorGradientsMatchDifferences(t *testing.T) {
	for _, c := range modelCases(t, Loss{}) {
		rng := rand.New(rand.NewPCG(5, 6))
		target := c.target.(GradTarget)
		for range 10 {
			theta := c.draw(rng)
			got := make([]float64, target.Dim())
			target.GradLogPrior(got, theta)
			for j := range got {
				const h = 1e-5
				up, down := slices.Clone(theta), slices.Clone(theta)
				up[j] += h
				down[j] -= h
				want := (target.LogPrior(up) - target.LogPrior(down)) / (2 * h)
				if math.Abs(got[j]-want) > 1e-7*(1+math.Abs(want)) {
					t.Fatalf("%s, parameter %d: %v, differences %v", c.name, j, got[j], want)
				}
			}
		}
	}
}

// TestBatchesAreSlices: a record's loss, ratio and gradient do not depend, in any
// bit, on the batch it comes in; the ratio is the difference of the losses; and
// nothing is written to the records or the parameters.
func TestBatchesAreSlices(t *testing.T) {
	forEachCase(t, func(t *testing.T, c *modelCase, rng *rand.Rand) {
		const n = 2*block + 7
		theta, next, rows := c.draw(rng), c.draw(rng), c.sample(rng, n)
		before := [][]float64{slices.Clone(theta), slices.Clone(next), slices.Clone(rows.X), slices.Clone(rows.Y)}
		d := c.target.Dim()
		loss, then := lossOf(c.target, theta, rows), lossOf(c.target, next, rows)
		ratio, grad := make([]float64, n), make([]float64, n*d)
		c.target.(RatioTarget).LossRatio(ratio, theta, next, rows)
		c.target.(GradTarget).LossGrad(grad, theta, rows)
		for i := range n {
			if d := ratio[i] - (loss[i] - then[i]); math.Abs(d) > 2e-15*(math.Abs(loss[i])+math.Abs(then[i])) {
				t.Fatalf("ratio %v, losses %v and %v", ratio[i], loss[i], then[i])
			}
			one := rows.Slice(i, i+1)
			if alone := lossOf(c.target, theta, one)[0]; alone != loss[i] {
				t.Fatalf("record %d: loss %v in a batch, %v alone", i, loss[i], alone)
			}
			row := make([]float64, d)
			c.target.(GradTarget).LossGrad(row, theta, one)
			if !slices.Equal(row, grad[i*d:(i+1)*d]) {
				t.Fatalf("record %d: gradient %v in a batch, %v alone", i, grad[i*d:(i+1)*d], row)
			}
		}
		for k, now := range [][]float64{theta, next, rows.X, rows.Y} {
			if !slices.Equal(now, before[k]) {
				t.Fatalf("argument %d was written to", k)
			}
		}
	})
}

// TestExtremeRecords: no record makes a model panic, and the β loss of every
// record that is a number stays within the range claimed for it.
func TestExtremeRecords(t *testing.T) {
	inf := math.Inf(1)
	values := []float64{0, math.Copysign(0, -1), 5e-324, 1e-300, 1, -1, 1 << 53, 1e8, -1e8, 1e300, -math.MaxFloat64, inf,
		-inf, math.NaN()}
	forEachCase(t, func(t *testing.T, c *modelCase, rng *rand.Rand) {
		p, _ := c.target.Shape()
		bound := c.target.(RangeCertificate).LossRange()
		theta := c.draw(rng)
		low, high := inf, -inf
		for _, v := range values {
			for _, y := range values {
				rows := c.sample(rng, 1)
				if p > 0 {
					rows.X[rng.IntN(p)] = v
				}
				if rows.Y != nil {
					rows.Y[0] = y
				}
				loss := lossOf(c.target, theta, rows)[0]
				c.target.(GradTarget).LossGrad(make([]float64, len(theta)), theta, rows)
				if !math.IsNaN(loss) {
					low, high = min(low, loss), max(high, loss)
				}
			}
		}
		if high-low > bound {
			t.Errorf("losses from %v to %v; the claimed range is %v", low, high, bound)
		}
	})
}

// TestConcurrentBatches: batches worked on at once give the bits of one batch.
func TestConcurrentBatches(t *testing.T) {
	for _, c := range modelCases(t, betaLoss(t, 1.5)) {
		const n, parts = 4 * block, 8
		rng := newRNG()
		theta, next, rows := c.draw(rng), c.draw(rng), c.sample(rng, n)
		target := c.target.(RatioTarget)
		want, got := make([]float64, n), make([]float64, n)
		target.LossRatio(want, theta, next, rows)
		var group sync.WaitGroup
		for k := range parts {
			lo, hi := k*n/parts, (k+1)*n/parts
			group.Go(func() { target.LossRatio(got[lo:hi], theta, next, rows.Slice(lo, hi)) })
		}
		group.Wait()
		if !slices.Equal(got, want) {
			t.Errorf("%s: parallel and serial ratios differ", c.name)
		}
	}
}
