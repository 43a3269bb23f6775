package dpsgd

import (
	"math"

	"github.com/dpmcmc/dpmcmc/internal/batch"
	"github.com/dpmcmc/dpmcmc/internal/vec"
	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/targets"
)

// chunk is how many records' gradients are held at once.
const chunk = 256

// batcher draws Poisson batches and sums their gradients.
type batcher struct {
	rows   targets.Rows
	size   *batch.Binomial
	subset *batch.Subset

	index []int32
	part  targets.Rows // a chunk of the batch, gathered
	grads []float64
	total []int64
}

func newBatcher(rows targets.Rows, rate float64) (*batcher, error) {
	size, err := batch.NewBinomial(int64(rows.Len()), rate)
	if err != nil {
		return nil, err
	}
	subset, err := batch.NewSubset(rows.Len())
	if err != nil {
		return nil, err
	}
	return &batcher{rows: rows, size: size, subset: subset, index: make([]int32, rows.Len())}, nil
}

// next draws a batch: a binomial number of records, then a uniform subset of that
// size, which is every record independently with the rate.
func (b *batcher) next(src *ops.Source) *batcher {
	b.index = b.index[:b.size.Sample(src)]
	b.subset.Sample(src, b.index)
	return b
}

// gradients returns the batch's sum of gradients in whole steps. Each record's
// gradient is clipped to the given norm and rounded towards zero, coordinate by
// coordinate, so its norm stays within the clip; one that is not finite is zero.
func (b *batcher) gradients(t targets.GradTarget, theta []float64, clip, step float64) []int64 {
	dim := len(theta)
	if b.total == nil {
		b.total, b.grads = make([]int64, dim), make([]float64, chunk*dim)
	}
	clear(b.total)
	for lo := 0; lo < len(b.index); lo += chunk {
		part := b.gather(b.index[lo:min(lo+chunk, len(b.index))])
		n := part.Len()
		grads := b.grads[:n*dim]
		t.LossGrad(grads, theta, part)
		for i := range n {
			addClipped(b.total, grads[i*dim:(i+1)*dim], clip, step)
		}
	}
	return b.total
}

// gather copies the records of the given numbers.
func (b *batcher) gather(index []int32) targets.Rows {
	b.part.P = b.rows.P
	b.part.X, b.part.Y = b.part.X[:0], b.part.Y[:0]
	for _, i := range index {
		b.part.X = append(b.part.X, b.rows.Row(int(i))...)
		if b.rows.Y != nil {
			b.part.Y = append(b.part.Y, b.rows.Y[i])
		}
	}
	return b.part
}

// addClipped adds one record's clipped gradient to total, in steps.
func addClipped(total []int64, g []float64, clip, step float64) {
	square := 0.0
	for _, v := range g {
		square += v * v
	}
	if math.IsNaN(square) || math.IsInf(square, 1) {
		return
	}
	// The margin covers the rounding of the norm and of the products.
	scale := min(1, clip/math.Sqrt(square)) * (1 - 0x1p-40)
	for i, v := range g {
		if v != 0 {
			total[i] += vec.Quantize(v*scale, clip, 1/step)
		}
	}
}
