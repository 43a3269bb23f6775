package proptest

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/targets"
)

// form is one of the batched evaluations that a target offers: width numbers
// for each record.
type form struct {
	name  string
	width int
	eval  func(dst, theta, next []float64, rows targets.Rows)
}

func forms(target targets.Target) []form {
	all := []form{{"Loss", 1, func(dst, theta, _ []float64, rows targets.Rows) { target.Loss(dst, theta, rows) }}}
	if r, ok := target.(targets.RatioTarget); ok {
		all = append(all, form{"LossRatio", 1, r.LossRatio})
	}
	if g, ok := target.(targets.GradTarget); ok {
		all = append(all, form{"LossGrad", target.Dim(), func(dst, theta, _ []float64,
			rows targets.Rows) {
			g.LossGrad(dst, theta, rows)
		}})
	}
	if l, ok := target.(targets.LinearTarget); ok {
		at := func(name string, eval func(dst, eta, y []float64)) {
			all = append(all, form{name, 1, func(dst, theta, _ []float64, rows targets.Rows) {
				eta := make([]float64, len(dst))
				for i := range eta {
					for j, x := range rows.Row(i) {
						eta[i] += float64(x * theta[j])
					}
				}
				eval(dst, eta, rows.Y)
			}})
		}
		at("LossAt", l.LossAt)
		at("SlopeAt", l.SlopeAt)
	}
	return all
}

// otherForms are evaluations of no records, and of the sum of some.
func otherForms(target targets.Target) []form {
	all := []form{{"LogPrior", 0, func(_, theta, _ []float64, _ targets.Rows) { target.LogPrior(theta) }}}
	if g, ok := target.(targets.GradTarget); ok {
		all = append(all, form{"GradLogPrior", target.Dim(), func(dst, theta, _ []float64, _ targets.Rows) {
			g.GradLogPrior(dst, theta)
		}})
	}
	if s, ok := target.(targets.PriorSampler); ok {
		all = append(all, form{"SamplePrior", target.Dim(), func(dst, _, _ []float64, _ targets.Rows) {
			s.SamplePrior(dst, rand64(1, 47))
		}})
	}
	if m, ok := target.(targets.SumTarget); ok {
		all = append(all, form{"SumLossGrad", target.Dim(), func(dst, theta, _ []float64, rows targets.Rows) {
			m.SumLossGrad(dst, theta, rows)
		}})
	}
	if c, ok := target.(targets.RatioCertificate); ok {
		all = append(all, form{"RatioBound", 0, func(_, theta, next []float64, _ targets.Rows) {
			c.RatioBound(theta, next, 1)
		}})
	}
	return all
}

// run evaluates into a fresh slice that holds with beforehand.
func (f form) run(with float64, theta, next []float64, rows targets.Rows) []float64 {
	dst := make([]float64, rows.Len()*f.width)
	fill(dst, with)
	f.eval(dst, theta, next, rows)
	return dst
}

// roomy is a copy of v with room behind it that belongs to others, as parts of longer slices have.
func roomy(v []float64) []float64 {
	if v == nil {
		return nil
	}
	const room = 8
	longer := make([]float64, len(v)+room)
	fill(longer[copy(longer, v):], -3)
	return longer[:len(v)]
}

// strays evaluates into part of a longer slice, as the curator does, from parts of others, and says whether
// the form changes what follows one of them, or one of its arguments.
func (f form) strays(theta, next []float64, rows targets.Rows) string {
	dst := roomy(make([]float64, rows.Len()*f.width))
	theta, next, rows.X, rows.Y = roomy(theta), roomy(next), roomy(rows.X), roomy(rows.Y)
	parts := map[string][]float64{"parameters": theta, "proposal": next, "features": rows.X, "responses": rows.Y}
	before := map[string][]float64{}
	for name, v := range parts {
		before[name] = slices.Clone(v)
	}
	f.eval(dst, theta, next, rows)
	parts["dst"] = dst
	for name, v := range parts {
		if name != "dst" && !slices.EqualFunc(v, before[name], same) {
			return fmt.Sprintf("%s writes to its %s", f.name, name)
		}
		if beyond := v[len(v):cap(v)]; slices.ContainsFunc(beyond, func(w float64) bool { return w != -3 }) {
			return fmt.Sprintf("%s writes to memory beyond its %s, which append does where there is room: copy first", f.name,
				name)
		}
	}
	return ""
}

func lossOf(target targets.Target, theta []float64, rows targets.Rows) []float64 {
	dst := make([]float64, rows.Len())
	target.Loss(dst, theta, rows)
	return dst
}

func cloneRows(r targets.Rows) targets.Rows {
	return targets.Rows{X: slices.Clone(r.X), P: r.P, Y: slices.Clone(r.Y)}
}

// sumsAgree compares SumLossGrad with the sums of Loss and LossGrad over batches of nearly every small
// length and some long ones, of finite features, at parameters that are now and then the last ones. One
// response in some is infinite. Records of some are improbable, so that a product of their chances is 0.
func sumsAgree(t rapid.TB, target targets.Target, o TargetOptions) {
	t.Helper()
	m, ok := target.(targets.SumTarget)
	if !ok || t.Failed() {
		return
	}
	g := o.stage(target, 46)
	rng, d := g.rng, g.d
	sum, again, each, theta, last := make([]float64, d), make([]float64, d), []float64{}, o.state(rng, target), 0
	lengths := sumLengths()
	for i := range o.Effort.times(300, 40) {
		n := last
		if i%4 != 2 { // what is kept by parameters, or by the number of records, is another batch's
			n = 70 + rng.IntN(1000)
			if len(lengths) > 0 {
				n, lengths = lengths[0], lengths[1:]
			}
		}
		if i%4 != 1 && i%4 != 2 {
			theta = o.state(rng, target)
		}
		last = n
		rows := o.plausible(rng, target, n)
		if i%5 == 4 {
			times(rows.X, 50)
		}
		if i%7 == 3 { // what is left out, or counted at once, since it comes again
			g.mix(rows, 1+2*(i%2))
		}
		if rng.IntN(3) == 0 && n > 0 && rows.Y != nil { // a loss that is infinite ends no sum of gradients that are not
			rows.Y[rng.IntN(n)] = o.Response(math.Inf(1 - 2*(i%2)))
		}
		before, given := slices.Clone(theta), cloneRows(rows)
		fill(sum, 7)
		got := m.SumLossGrad(sum, theta, rows)
		if !slices.Equal(theta, before) || !slices.EqualFunc(rows.X, given.X, same) ||
			!slices.EqualFunc(rows.Y, given.Y, same) {
			failf(t, "SumLossGrad writes to its arguments")
			return
		}
		for range 4 {
			if said := m.SumLossGrad(again, theta, rows); !same(said, got) || !slices.EqualFunc(again, sum, same) {
				failf(t, "SumLossGrad is %v and %v, and called again %v and %v, over %d records at θ = %s: it must add them up in "+
					"one order, or no run can be repeated (Seed %d)", got, sum, said, again, n, text(theta), o.Seed)
				return
			}
		}
		each = append(each[:0], make([]float64, n*d)...)
		m.LossGrad(each, theta, rows)
		for j := -1; j < d; j++ { // the loss, then its gradient
			want, size, name := 0.0, 0.0, "SumLossGrad's loss"
			add := func(v float64) { want, size = want+v, size+math.Abs(v) }
			if j < 0 {
				for _, v := range lossOf(target, theta, rows) {
					add(v)
				}
			} else {
				for i := range n {
					add(each[i*d+j])
				}
				got, name = sum[j], "SumLossGrad in parameter "+strconv.Itoa(j)
			}
			endless := j < 0 && math.IsInf(want, 1) && !(got > large)
			if endless || finite(want) && !(math.Abs(got-want) <= 1e-9*size+1e-12) {
				failf(t, "%s is %v over %d records, whose own add up to %v, at θ = %s (Seed %d)", name, got, n, want, text(theta),
					o.Seed)
				return
			}
		}
	}
}

// sumLengths are nearly all small lengths and some long ones, which come again, since some batches
// have an endless loss.
func sumLengths() []int {
	all := append([]int{0}, batchLengths(70, 5001)...)
	for _, n := range slices.Concat(all, all) {
		if n > 1500 {
			all = append(all, n)
		}
	}
	return all
}

// maxBatch crosses the block sizes that targets and the curator work in.
const maxBatch = 600

// batchesConcatenate cuts a batch at two places and expects the part's own
// evaluation to be a slice of the whole one, the arguments untouched, and the
// earlier content of dst without effect.
func batchesConcatenate(rt *rapid.T, target targets.Target, o TargetOptions) {
	rt.Helper()
	n := rapid.IntRange(1, maxBatch).Draw(rt, "n")
	rng := stream(rt, "parameters")
	theta, next, rows := o.state(rng, target), o.state(rng, target), o.rows(rt, target, n)
	lo := rapid.IntRange(0, n-1).Draw(rt, "from")
	hi := rapid.IntRange(lo+1, n).Draw(rt, "to")
	for _, f := range forms(target) {
		if said := f.strays(theta, next, rows); said != "" {
			failf(rt, "%s", said)
			return
		}
		whole := f.run(math.Inf(-1), theta, next, rows)
		part := f.run(7, theta, next, rows.Slice(lo, hi))
		for i, v := range part {
			if w := whole[lo*f.width+i]; !same(v, w) {
				failf(rt,
					"%s of record %d is %v in a batch of %d and %v in its records %d to %d; dst[i] must depend on record i alone",
					f.name, lo+i/f.width, w, n, v, lo, hi-1)
				return
			}
		}
	}
}

// nothingIsKept evaluates one batch, overwrites its memory, or only one of its arguments, with
// another, and expects the second evaluation to know nothing of the first.
func nothingIsKept(rt *rapid.T, target targets.Target, o TargetOptions) {
	rt.Helper()
	n := rapid.IntRange(1, 20).Draw(rt, "n")
	rng := stream(rt, "parameters")
	theta, next, rows := o.state(rng, target), o.state(rng, target), o.rows(rt, target, n)
	theta2, next2, rows2 := o.state(rng, target), o.state(rng, target), o.plausible(rng, target, n)
	from, to := [][]float64{theta, next, rows.X, rows.Y}, [][]float64{theta2, next2, rows2.X, rows2.Y}
	prior := target.LogPrior(theta2)
	for _, f := range forms(target) {
		for only := -1; only < len(from); only++ { // all at −1
			var memory [4][]float64
			for k, v := range from {
				memory[k] = slices.Clone(v)
			}
			at := targets.Rows{X: memory[2], P: rows.P, Y: memory[3]}
			f.run(0, memory[0], memory[1], at)
			for k, v := range to {
				if only < 0 || only == k {
					copy(memory[k], v)
				}
			}
			got := f.run(0, memory[0], memory[1], at)
			want := f.run(0, slices.Clone(memory[0]), slices.Clone(memory[1]), cloneRows(at))
			if !slices.EqualFunc(got, want, same) {
				failf(rt, "%s gives %v where a call before gave something else for the same memory, and %v on fresh memory: it "+
					"keeps an argument", f.name, got, want)
			}
		}
	}
	if after := target.LogPrior(theta2); !same(prior, after) {
		failf(rt, "LogPrior is %v before losses were evaluated and %v afterwards: it depends on data", prior, after)
	}
}

// checkConcurrent evaluates disjoint batches from several goroutines, again and again,
// so that even one that writes to its arguments for a moment is seen to. Long ones may be made in a buffer. It takes a
// tenth of a second for each form at most, in which a busy core has other things to do.
func checkConcurrent(t rapid.TB, target targets.Target, o TargetOptions) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))) // one by one they hardly meet
	concurrently(t, target, o, 8, 97, o.Effort.times(1000, 20))
	concurrently(t, target, o, 3, 2500, o.Effort.times(2000, 10))
}

func concurrently(t rapid.TB, target targets.Target, o TargetOptions, parts, each, rounds int) {
	t.Helper()
	const most = 100 * time.Millisecond
	rng := rand64(o.Seed, 1)
	theta, next, rows := o.state(rng, target), o.state(rng, target), o.plausible(rng, target, parts*each)
	for _, f := range forms(target) {
		began := time.Now()
		want := f.run(0, theta, next, rows)
		var wg sync.WaitGroup
		var differs atomic.Bool
		for k := range parts {
			wg.Go(func() {
				lo, hi := k*each, (k+1)*each
				got := make([]float64, each*f.width)
				for n := 0; n < rounds && time.Since(began) < most; n++ {
					f.eval(got, theta, next, rows.Slice(lo, hi))
					if !slices.EqualFunc(got, want[lo*f.width:hi*f.width], same) {
						differs.Store(true)
					}
				}
			})
		}
		wg.Wait()
		if differs.Load() {
			failf(t, "%s differs when disjoint batches of %d are evaluated at once, with the same parameters (Seed %d); "+
				"run with -race", f.name, each, o.Seed)
		}
	}
}

// checkReused evaluates other records, as many, at the same parameters into the same slice, which is how
// a curator asks: what they give is what they give elsewhere.
func checkReused(t rapid.TB, target targets.Target, o TargetOptions) {
	t.Helper()
	rng := rand64(o.Seed, 46)
	for _, f := range forms(target) {
		for _, n := range []int{1, 1, 2, 5, 64} {
			theta, next := o.state(rng, target), o.state(rng, target)
			rows := o.plausible(rng, target, n)
			dst := f.run(0, theta, next, o.plausible(rng, target, n))
			f.eval(dst, theta, next, rows)
			if elsewhere := f.run(0, theta, next, rows); !slices.EqualFunc(dst, elsewhere, same) {
				fatalf(t, "%s of %d records, into a slice that held those of others at the same parameters, is not what it is "+
					"elsewhere: something is kept from one call to the next, at θ = %s (Seed %d)", f.name, n, text(theta), o.Seed)
			}
		}
	}
}
