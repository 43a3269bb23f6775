package room

// Proof: docs/proofs/curator.md.

import (
	"math"

	"github.com/dpmcmc/dpmcmc/internal/core/dense"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// question is what a target is asked about records.
type question uint8

const (
	lossOf     question = iota // at theta
	ratioOf                    // the loss at theta less that at next, in one pass
	gradientOf                 // of the loss at theta
	slopeOf                    // of the loss in the linear predictor at theta
	lossAt                     // lossOf, of the library's own linear targets: door.eta holds x·theta
)

// door is where records meet a target. The library's own targets see the sealed
// rows, a block at a time. Any other is a guest: it sees copies of one row and of
// the parameters, and writes a destination of its own, which holds NaN before and is
// wiped after. So nothing that it writes, leaves unwritten or reads beyond its row
// can make one record's answer depend on another's, change the sealed rows, or reach
// the sampler's states (docs/proofs/curator.md, "The door"). What this cannot do is
// in Assumed.
//
// Should a target panic or end its goroutine, only the records that it cannot digest
// are lost: their answer is NaN, which contributes nothing.
type door struct {
	subject *Subject
	pool    *pool
	width   int // numbers in a record's answer

	eta         []float64 // linear predictors
	theta, next []float64 // a guest's copies
	x, y, dst   []float64
}

func newDoor(s *Subject, p *pool, features, width int) *door {
	return &door{subject: s, pool: p, width: width, eta: make([]float64, BlockRows),
		theta: make([]float64, s.Dim), next: make([]float64, s.Dim),
		x: make([]float64, features), y: make([]float64, 1), dst: make([]float64, width)}
}

// ask sets dst, of width numbers a record, to the answers for rows. next is read for
// ratios only.
func (d *door) ask(q question, dst, theta, next []float64, rows record.Rows) {
	if d.subject.ours && d.try(q, dst, theta, next, rows) {
		return
	}
	if q == lossAt {
		q = lossOf
	}
	for i := range rows.Len() {
		d.one(q, dst[i*d.width:(i+1)*d.width], theta, next, rows.Slice(i, i+1))
	}
	clear(d.x)
	clear(d.y)
	clear(d.dst)
}

// one asks about one record, on copies.
func (d *door) one(q question, dst, theta, next []float64, row record.Rows) {
	copy(d.theta, theta)
	copy(d.next, next)
	copied := record.Rows{X: d.x[:copy(d.x, row.X):len(row.X)], P: row.P}
	if row.Y != nil {
		copied.Y = d.y[:copy(d.y, row.Y)]
	}
	fillNaN(d.dst)
	if !d.try(q, d.dst, d.theta, d.next, copied) {
		fillNaN(d.dst)
	}
	copy(dst, d.dst)
}

func fillNaN(v []float64) {
	for i := range v {
		v[i] = math.NaN()
	}
}

// try reports whether the target returned.
func (d *door) try(q question, dst, theta, next []float64, rows record.Rows) (ok bool) {
	if d.pool.wary.Load() {
		return alone(func() { d.evaluate(q, dst, theta, next, rows) })
	}
	defer func() { ok = recover() == nil }()
	d.evaluate(q, dst, theta, next, rows)
	return
}

func (d *door) evaluate(q question, dst, theta, next []float64, rows record.Rows) {
	switch s := d.subject; q {
	case lossOf:
		s.target.Loss(dst, theta, rows)
	case ratioOf:
		s.ratio.LossRatio(dst, theta, next, rows)
	case gradientOf:
		s.gradient.LossGrad(dst, theta, rows)
	case slopeOf:
		eta := d.eta[:rows.Len():rows.Len()]
		dense.MulVec(eta, rows.X, theta)
		s.linear.SlopeAt(dst, eta, rows.Y)
	case lossAt:
		s.linear.LossAt(dst, d.eta[:rows.Len():rows.Len()], rows.Y)
	}
}
