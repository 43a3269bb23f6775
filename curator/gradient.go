package curator

import (
	"errors"
	"math"
	"runtime"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/noise"
	"github.com/dpmcmc/dpmcmc/internal/record"
	"github.com/dpmcmc/dpmcmc/targets"
)

// NoisyGradient is the mechanism that releases the sum of per-record gradients
// of the loss, clipped in Euclidean norm, with Gaussian noise (theory 2.8).
type NoisyGradient struct {
	// Target supplies the per-record gradient. Required.
	Target targets.GradTarget
	// Temperature τ in (0, 1] multiplies the loss. Defaults to 1.
	Temperature float64
	// Clip bounds ‖τ·∇ℓ(z;θ)‖₂ for every record: longer gradients are shortened.
	// Zero takes the target's certificate, so that nothing is shortened.
	Clip float64
	// NoiseMultiplier is the noise's standard deviation in each coordinate over
	// twice the clip, the sensitivity under substitution of the full sum.
	// Required.
	NoiseMultiplier float64
	// Batch is how records are chosen; noise is added to the batch's sum before
	// it is scaled to the full data. Defaults to the full data.
	Batch Batch
}

func (m NoisyGradient) temperature() float64 {
	return AcceptanceBit{Temperature: m.Temperature}.temperature()
}

// gradientPlan is what is charged for and enforced.
type gradientPlan struct {
	subject *subject
	event   accountant.Event
	tau     float64
	clip    float64
	scale   float64 // 1/q
	noise   float64 // the multiplier
	batch   Batch
}

// plan asks what the target claims, and prices what that makes the curator enforce.
func (m NoisyGradient) plan(f Facts) (p gradientPlan, err error) {
	p = gradientPlan{tau: m.temperature(), scale: m.Batch.inverseRate(f), noise: m.NoiseMultiplier, batch: m.Batch}
	if m.Target == nil {
		return p, errors.New("curator: NoisyGradient.Target is not set")
	}
	if err := errors.Join(f.check(), checkTemperature(p.tau), m.Batch.check(f)); err != nil {
		return p, err
	}
	if p.subject, err = f.admit(m.Target); err != nil {
		return p, err
	}
	if p.clip, err = p.subject.gradientClip(m.Clip, p.tau, f); err != nil {
		return p, err
	}
	if err := checkNoise(p.clip, m.NoiseMultiplier); err != nil {
		return p, err
	}
	p.event, err = gaussianEvent(f, m.Batch, m.NoiseMultiplier, p.subject.dim)
	return p, err
}

// gradientClip is the bound enforced on a record's gradient: the caller's, or where
// that is 0 the target's.
func (s *subject) gradientClip(clip, tau float64, f Facts) (float64, error) {
	if clip != 0 {
		return clip, nil
	}
	bound, err := s.gradientBound(f.Radius)
	if err == nil && math.IsInf(bound, 1) {
		err = errors.New("curator: nothing bounds a record's gradient: give Clip, or a target with a finite gradient certificate and records sealed with a Radius")
	}
	return tau * bound, err
}

// Event is the price of one release on records with the given facts. It
// charges nothing.
func (m NoisyGradient) Event(f Facts) (accountant.Event, error) {
	p, err := m.plan(f)
	return p.event, err
}

// NoiseSD is the standard deviation of the noise in each coordinate of a
// release on records with the given facts, in the units of the release: public,
// and free. Errors are those of Event.
func (m NoisyGradient) NoiseSD(f Facts) (float64, error) {
	p, err := m.plan(f)
	if err != nil {
		return 0, err
	}
	return 2 * p.noise * p.clip * p.scale, nil
}

// Gradients is a prepaid grant of noisy gradients for one chain. It is not
// safe for concurrent use.
type Gradients struct {
	*grant
	plan    gradientPlan
	pass    *gradientPass
	sampler *sampler
	noise   *noise.DiscreteGaussian
	sums    []int64
}

// GrantGradients charges count noisy gradients, all at once. Errors are those
// of GrantBits.
func (c *Curator) GrantGradients(m NoisyGradient, count int64) (*Gradients, error) {
	var g *Gradients
	err := c.Grant(RequestGradients(&g, m, count))
	return g, err
}

// newGradients builds what releases gradients over set, before anything is
// charged.
func newGradients(p gradientPlan, set *record.Set) (*Gradients, error) {
	s, err := p.batch.newSampler(set.Len())
	if err != nil {
		return nil, err
	}
	lattice := exactGrid(p.clip)
	normal, err := noise.NewDiscreteGaussian(2 * p.noise * lattice.top)
	if err != nil {
		return nil, err
	}
	return &Gradients{
		plan: p, sampler: s, noise: normal,
		pass: newGradientPass(p.subject, set, p.tau, lattice), sums: make([]int64, p.subject.dim),
	}, nil
}

// Release sets dst to τ·Σ∇ℓ(z;θ), clipped record by record, plus Gaussian
// noise of standard deviation NoiseSD in each coordinate. dst is what is
// released. Errors: a state of the wrong length or that is not finite;
// ErrSpent; ErrBusy. After an error nothing has been released or used up.
func (g *Gradients) Release(dst, theta []float64) error {
	if err := checkStates(g.plan.subject.dim, theta, dst); err != nil {
		return err
	}
	if err := g.enter(); err != nil {
		return err
	}
	defer g.leave()
	if err := g.take(); err != nil {
		return err
	}
	var index []int32
	if g.sampler != nil {
		index = g.sampler.draw(g.secret)
	}
	g.pass.sum(g.sums, theta, index, g.sampler == nil)
	for j, s := range g.sums {
		dst[j] = float64(s+g.noise.Sample(g.secret)) * g.pass.grid.step * g.plan.scale
	}
	g.track.Values(dst)
	return nil
}

// NoiseSD is the standard deviation of the noise in each coordinate of a
// release, in the units of the release.
func (g *Gradients) NoiseSD() float64 {
	return 2 * g.plan.noise * g.plan.clip * g.plan.scale
}

// gradientPass sums clipped per-record gradients on a grid.
type gradientPass struct {
	asks    question // slopes where a gradient is a slope times the row
	set     *record.Set
	tau     float64
	grid    grid
	shorten float64 // clip in grid steps, less what rounding can add to a norm
	pool    *pool
	workers []gradientWorker
	do      func(worker, block int)
	theta   []float64
	index   []int32
	full    bool
}

type gradientWorker struct {
	door     *door
	x, y     []float64
	gradient []float64 // blockRows×dim, or one slope for each row of a linear target
	sums     []int64
}

func newGradientPass(t *subject, set *record.Set, tau float64, g grid) *gradientPass {
	p := &gradientPass{asks: gradientOf, set: set, tau: tau, grid: g}
	p.shorten = g.top - math.Sqrt(float64(t.dim))
	width := t.dim
	if t.linear != nil {
		p.asks, width = slopeOf, 1
	}
	p.pool = newPool(t.ours, set.Len())
	p.workers = make([]gradientWorker, p.pool.workers)
	for i := range p.workers {
		w := &p.workers[i]
		w.door = newDoor(t, p.pool, set.Features(), width)
		w.x, w.y = make([]float64, blockRows*set.Features()), make([]float64, blockRows)
		w.gradient, w.sums = make([]float64, blockRows*width), make([]int64, t.dim)
	}
	p.do = p.block
	runtime.AddCleanup(p, (*pool).stop, p.pool)
	return p
}

// sum sets dst to the sum of the records' clipped, rounded gradients, in grid
// steps: those of index, or all when full.
func (p *gradientPass) sum(dst []int64, theta []float64, index []int32, full bool) {
	p.theta, p.index, p.full = theta, index, full
	n := len(index)
	if full {
		n = p.set.Len()
	}
	for i := range p.workers {
		clear(p.workers[i].sums)
	}
	p.pool.run((n+blockRows-1)/blockRows, p.do)
	clear(dst)
	for i := range p.workers {
		for j, s := range p.workers[i].sums {
			dst[j] += s
		}
	}
	p.theta, p.index = nil, nil
}

func (p *gradientPass) block(id, b int) {
	w := &p.workers[id]
	lo := b * blockRows
	var rows targets.Rows
	rows.P = p.set.Features()
	if p.full {
		rows.X, rows.Y = p.set.Block(lo, min(lo+blockRows, p.set.Len()))
	} else {
		rows.X, rows.Y = p.set.Gather(w.x, w.y, p.index[lo:min(lo+blockRows, len(p.index))])
	}
	n, width := rows.Len(), w.door.width
	g := w.gradient[:n*width]
	w.door.ask(p.asks, g, p.theta, nil, rows)
	for i := range n {
		if p.asks == slopeOf {
			p.add(w.sums, g[i], rows.Row(i))
		} else {
			p.add(w.sums, 1, g[i*width:(i+1)*width])
		}
	}
}

// add clips one record's gradient, slope times row, and adds it. A gradient
// with a NaN, or one whose norm is infinite, which has no direction, contributes
// nothing.
func (p *gradientPass) add(sums []int64, slope float64, row []float64) {
	factor := slope * p.tau * p.grid.inverse
	// In grid steps from the start, so that nothing that counts underflows.
	square := 0.0
	for _, v := range row {
		step := v * factor
		square += float64(step * step)
	}
	length := math.Sqrt(square)
	if math.IsNaN(length) || math.IsInf(length, 1) {
		return
	}
	if length > p.shorten {
		factor *= p.shorten / length
	}
	for j, v := range row {
		sums[j] += roundSmall(float64(v * factor))
	}
}

// roundSmall rounds |v| < 2⁵¹ to the nearest integer, ties to even: adding
// 1.5·2⁵² leaves it in the low bits.
func roundSmall(v float64) int64 {
	const shift = 3 << 51
	return int64(math.Float64bits(v+shift)) - int64(math.Float64bits(shift))
}
