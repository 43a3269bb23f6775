package proptest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/targets"
)

// blockSizes are batches around the sizes that targets and the curator work in.
var blockSizes = []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 256, 257,
	511, 512, 513, 1023, 1024, 1025, 2049}

// checkBlocks evaluates batches of every size, with records that repeat, in
// another order, and one at a time: dst[i] depends on record i alone.
func checkBlocks(t rapid.TB, target targets.Target, o TargetOptions) {
	t.Helper()
	g := o.stage(target, 22)
	g.long(t)
	most := o.Effort.times(2049, 300)
	for _, n := range blockSizes {
		if n > most {
			break
		}
		for kind := range 4 {
			theta, _ := g.place()
			next := g.move(scene{theta: theta, z: g.record()})
			rows := o.plausible(g.rng, target, n)
			g.mix(rows, kind)
			for _, f := range forms(target) {
				if said := g.block(f, theta, next, rows); said != "" {
					fatalf(t, "%s (Seed %d)", said, o.Seed)
				}
			}
		}
	}
}

// mix makes a batch one of distinct records, of repeated ones, of records that share their
// first feature with one extreme among them, or of records that share all numbers but one
// with the record before.
func (g stage) mix(rows targets.Rows, kind int) {
	n := rows.Len()
	set := func(to, from int) {
		copy(rows.Row(to), rows.Row(from))
		if rows.Y != nil {
			rows.Y[to] = rows.Y[from]
		}
	}
	switch kind {
	case 1: // repeats, next to each other and apart
		for i := range n {
			if g.rng.IntN(2) == 0 {
				set(i, g.rng.IntN(i+1))
			}
		}
		if n > 1 {
			set(n-1, 0)
		}
	case 2:
		for i := 1; i < n; i++ {
			if g.rng.IntN(3) == 0 && rows.P > 0 {
				rows.Row(i)[0] = rows.Row(0)[0]
			}
			if g.rng.IntN(10) == 0 && rows.P > 0 {
				rows.Row(i)[g.rng.IntN(rows.P)] = extremes[g.rng.IntN(len(extremes))]
			}
			if g.rng.IntN(10) == 0 && rows.Y != nil {
				rows.Y[i] = g.o.Response(replies[g.rng.IntN(len(replies))])
			}
		}
	case 3:
		for i := 1; i < n; i++ {
			own := g.rng.IntN(rows.P + 1)
			if own == rows.P { // the response
				copy(rows.Row(i), rows.Row(i-1))
				continue
			}
			v := rows.Row(i)[own]
			set(i, i-1)
			rows.Row(i)[own] = v
		}
	}
}

// block compares a batch with its records one by one, and with the batch in
// another order.
func (g stage) block(f form, theta, next []float64, rows targets.Rows) string {
	n, w := rows.Len(), f.width
	whole := f.run(math.NaN(), theta, next, rows)
	order := g.rng.Perm(n)
	if n > 1 && g.rng.IntN(2) == 0 { // the same first record
		at := slices.Index(order, 0)
		order[0], order[at] = order[at], order[0]
	}
	shuffled := permuted(rows, order)
	again := f.run(1, theta, next, shuffled)
	for i := range n {
		alone := f.run(0, slices.Clone(theta), slices.Clone(next), cloneRows(rows.Slice(i, i+1)))
		if got := whole[i*w : (i+1)*w]; !slices.EqualFunc(got, alone, same) {
			return fmt.Sprintf("%s of record %d in a batch of %d is %v, and %v alone; dst[i] must depend on record i alone: θ "+
				"= %s, %s",
				f.name, i, n, got, alone, text(theta), describe(rows.Slice(i, i+1)))
		}
	}
	for i, from := range order {
		if !slices.EqualFunc(again[i*w:(i+1)*w], whole[from*w:(from+1)*w], same) {
			return fmt.Sprintf("%s of a batch of %d in another order gives %v for the record that had %v; dst[i] must depend "+
				"on record i alone: θ = %s, %s",
				f.name, n, again[i*w:(i+1)*w], whole[from*w:(from+1)*w], text(theta), describe(rows.Slice(from, from+1)))
		}
	}
	return ""
}

// long evaluates a few records again and again, in batches of any length up to one beyond any block.
func (g stage) long(t rapid.TB) {
	t.Helper()
	const few = 89
	theta, next, short := g.o.state(g.rng, g.target), g.o.state(g.rng, g.target), g.o.plausible(g.rng, g.target, few)
	order := make([]int, g.o.Effort.times(70_000, 5000))
	for i := range order {
		order[i] = i % few
	}
	rows, most := permuted(short, order), g.o.Effort.times(70_000, 600)
	for _, f := range forms(g.target) {
		w := f.width
		want, room := f.run(0, theta, next, short), make([]float64, len(order)*w)
		for _, n := range append(batchLengths(min(g.o.Effort.times(700, 70), 1500), most/(1+w/8)), len(order)) {
			got := room[:n*w]
			fill(got, 1)
			f.eval(got, theta, next, rows.Slice(0, n))
			for i, from := range order[:n] {
				if !slices.EqualFunc(got[i*w:(i+1)*w], want[from*w:(from+1)*w], same) {
					fatalf(t,
						"%s of record %d in a batch of %d is %v, and %v in a batch of %d; dst[i] must depend on record i alone: θ "+
							"= %s, %s (Seed %d)", f.name, i, n, got[i*w:(i+1)*w], want[from*w:(from+1)*w], few, text(theta),
						describe(rows.Slice(i, i+1)), g.o.Seed)
				}
			}
		}
	}
}

// batchLengths are all small ones, and those beside a round one and its double, up to most: what works
// in chunks of so many, or in as many parts, may lose what is left over.
func batchLengths(small, most int) (all []int) {
	for n := range small {
		all = append(all, n+1)
	}
	for _, chunk := range []int{100, 128, 200, 250, 256, 500, 512, 1000, 1024, 2000, 2048, 4096, 5000, 8192, 10_000,
		16_384, 20_000, 32_768, 50_000, 65_536} {
		for _, n := range []int{chunk - 1, chunk, chunk + 1, 2 * chunk, 2*chunk + 1} {
			if n > small && n <= most {
				all = append(all, n)
			}
		}
	}
	return all
}

func permuted(rows targets.Rows, order []int) targets.Rows {
	out := targets.Rows{P: rows.P}
	for _, i := range order {
		out.X = append(out.X, rows.Row(i)...)
		if rows.Y != nil {
			out.Y = append(out.Y, rows.Y[i])
		}
	}
	return out
}

// memory holds what a target said, to ask again.
type memory struct {
	scenes []scene
	said   [][][]float64 // by scene and form
}

func remember(g stage, n int) *memory {
	m := &memory{}
	for i := range n {
		s := g.plain()
		if i%2 == 1 {
			s = g.random()
		}
		switch how := kin[i/3%len(kin)]; i % 3 {
		case 0:
			for j, t := range s.theta {
				s.theta[j] = math.Round(t*0x1p20) / 0x1p20 // sums are exact
			}
			if i/3%len(kin) == 0 { // kin of numbers that are all alike
				how(g.rng, s.theta)
				how(g.rng, s.z.X)
			}
		case 1: // kin of the parameters before, and their record
			copy(s.theta, m.scenes[i-1].theta)
			s.z = cloneRows(m.scenes[i-1].z)
			how(g.rng, s.theta)
		default: // kin of the record before, and its parameters
			s = m.scenes[i-1].clone()
			how(g.rng, s.z.X)
		}
		m.scenes = append(m.scenes, s)
		var said [][]float64
		for _, q := range g.questions() {
			said = append(said, q.ask(s))
		}
		m.said = append(m.said, said)
	}
	return m
}

// kin turns numbers into others that a hasty key takes for the same: it has their sum, size or
// order, some of them, or their first digits. The first leaves what is all alike so.
var kin = []func(rng *rand.Rand, v []float64){
	func(rng *rand.Rand, v []float64) { fill(v, rng.NormFloat64()) },
	func(rng *rand.Rand, v []float64) { normals(rng, v[min(1, len(v)):]) },
	func(rng *rand.Rand, v []float64) { normals(rng, v[:max(0, len(v)-1)]) },
	func(_ *rand.Rand, v []float64) { slices.Reverse(v) },
	func(_ *rand.Rand, v []float64) { times(v, -1) },
	func(rng *rand.Rand, v []float64) { times(someOne(rng, v), -1) },
	func(rng *rand.Rand, v []float64) { times(someOne(rng, v), 1.5) },
	func(_ *rand.Rand, v []float64) { // the sum
		for j := range v {
			v[j] += float64(1-2*(j%2)) / 2
		}
		if len(v)%2 == 1 {
			v[0] -= 0.5
		}
	},
	func(_ *rand.Rand, v []float64) { // the product
		for j := range v[:len(v)/2*2] {
			v[j] *= []float64{2, 0.5}[j%2]
		}
	},
	func(_ *rand.Rand, v []float64) { times(v, 2) },
	func(_ *rand.Rand, v []float64) { times(v, 1+1e-9) },
	func(_ *rand.Rand, v []float64) { times(v, 1+1e-6) },
	func(_ *rand.Rand, v []float64) { times(v, 1+1e-3) },
}

// someOne is one of some numbers.
func someOne(rng *rand.Rand, v []float64) []float64 {
	if len(v) == 0 {
		return v
	}
	j := rng.IntN(len(v))
	return v[j : j+1]
}

// question is a form, or the prior, with an answer to a scene.
type question struct {
	name string
	ask  func(s scene) []float64
}

func (g stage) questions() (all []question) {
	for _, f := range forms(g.target) {
		all = append(all, question{f.name, func(s scene) []float64 { return f.run(0, s.theta, s.next, s.z) }})
	}
	one := func(name string, ask func(s scene) float64) {
		all = append(all, question{name, func(s scene) []float64 { return []float64{ask(s)} }})
	}
	one("LogPrior", func(s scene) float64 { return g.target.LogPrior(s.theta) })
	if c, ok := g.target.(targets.GradTarget); ok {
		all = append(all, question{"GradLogPrior", func(s scene) []float64 {
			dst := make([]float64, g.d)
			c.GradLogPrior(dst, s.theta)
			return dst
		}})
	}
	if c, ok := g.target.(targets.RatioCertificate); ok {
		one("RatioBound", func(s scene) float64 { return c.RatioBound(s.theta, s.next, g.o.Radius) })
		one("RatioBound at twice the radius", func(s scene) float64 { return c.RatioBound(s.theta, s.next, 2*g.o.Radius) })
	}
	if c, ok := g.target.(targets.GradCertificate); ok {
		one("GradBound", func(scene) float64 { return c.GradBound(g.o.Radius) })
	}
	if c, ok := g.target.(targets.RangeCertificate); ok {
		one("LossRange", func(scene) float64 { return c.LossRange() })
	}
	if c, ok := g.target.(targets.LinearTarget); ok {
		one("PredictorLipschitz", func(scene) float64 { return c.PredictorLipschitz() })
	}
	return all
}

// changed says which answer is another one now. Each question is put to all scenes
// before the next one, where remember put all of them to each scene: an answer that
// uses what another question left behind differs.
func (m *memory) changed(g stage) string {
	for k, q := range g.questions() {
		for i, s := range m.scenes {
			if now, before := q.ask(s), m.said[i][k]; !slices.EqualFunc(now, before, same) {
				return fmt.Sprintf("%s is %v and was %v for the same arguments: it keeps something from one call to the next: %v",
					q.name, now, before, s)
			}
		}
	}
	return ""
}

// checkSteady asks the same questions many times, and again after many others.
func checkSteady(t rapid.TB, target targets.Target, o TargetOptions) (again func()) {
	t.Helper()
	g := o.stage(target, 23)
	m := remember(g, 6*len(kin))
	check := func() {
		t.Helper()
		if said := m.changed(g); said != "" {
			fatalf(t, "%s (Seed %d)", said, o.Seed)
		}
	}
	for range o.Effort.times(200, 20) {
		check()
	}
	g.nudged(t)
	return check
}

// nudged moves plausible parameters and features by a few units of their last
// place, which a cache takes for others. A loss has no business to change much.
func (g stage) nudged(t rapid.TB) {
	t.Helper()
	e := newEvaluator(g)
	for range g.o.Effort.times(5000, 500) {
		s := g.plain()
		near := s.clone()
		if j := g.rng.IntN(g.d); g.d > 1 { // all but one parameter stay what a call before had
			e.loss(s.theta, s.z)
			s.theta[j] = g.o.state(g.rng, g.target)[j]
			copy(near.theta, s.theta)
		}
		if g.p > 1 && g.rng.IntN(2) == 0 {
			e.loss(s.theta, s.z)
			s.z.X[g.rng.IntN(g.p)] *= 1.5
			copy(near.z.X, s.z.X)
		}
		for j := range near.theta {
			near.theta[j] *= 1 + 1e-14
		}
		for j := range near.z.X {
			near.z.X[j] *= 1 - 1e-14
		}
		a, b := e.loss(s.theta, s.z), e.loss(near.theta, near.z)
		if c, d := e.loss(s.theta, s.z), e.loss(near.theta, near.z); !same(a, c) || !same(b, d) {
			fatalf(t, "Loss is %v, then %v for the same arguments: %v (Seed %d)", a, c, s, g.o.Seed)
		}
		if finite(a) && finite(b) && math.Abs(a-b) > 1e-9*(1+math.Abs(a)+math.Abs(b)) && !e.jumps(s) {
			fatalf(t, "Loss is %v at %v, and %v when the parameters and features change in their 14th digit: a jump, or "+
				"something kept from a call before (Seed %d)", a, s, b, g.o.Seed)
		}
	}
}

// jumps reports whether the loss also changes between two other nearby points:
// it is rough there, and nothing was kept.
func (e *evaluator) jumps(s scene) bool {
	a, b := s.clone(), s.clone()
	for j := range a.theta {
		a.theta[j] *= 1 + 2e-14
		b.theta[j] *= 1 - 2e-14
	}
	return math.Abs(e.loss(a.theta, a.z)-e.loss(b.theta, b.z)) > 1e-9
}

// checkExtremes evaluates records with every extreme number in every column and
// in the response, in pairs and all at once: no panic, alone or beside an
// ordinary record, whose own value stays.
func checkExtremes(t rapid.TB, target targets.Target, o TargetOptions) {
	t.Helper()
	g := o.stage(target, 0)
	theta, next := o.state(g.rng, target), o.state(g.rng, target)
	plain := g.record()
	var want [][]float64
	for _, f := range forms(target) {
		if said := f.strays(theta, next, plain); said != "" {
			fatalf(t, "%s (Seed %d)", said, o.Seed)
		}
		want = append(want, f.run(0, theta, next, plain))
	}
	for _, f := range otherForms(target) {
		if said := f.strays(theta, next, plain); said != "" {
			fatalf(t, "%s (Seed %d)", said, o.Seed)
		}
	}
	said := ""
	g.strange(func(z targets.Rows) {
		for k, f := range forms(target) {
			if said == "" {
				said = g.around(f, theta, next, z, plain, want[k])
			}
		}
	})
	if said != "" {
		fatalf(t, "%s (Seed %d)", said, o.Seed)
	}
}

// around says what is wrong with a form at a strange record, alone and on both sides of an
// ordinary one.
func (g stage) around(f form, theta, next []float64, z, plain targets.Rows, want []float64) string {
	both := permuted(targets.Rows{X: slices.Concat(z.X, plain.X, z.X), P: z.P, Y: slices.Concat(z.Y, plain.Y, z.Y)},
		[]int{0, 1, 2})
	if said := cmp.Or(g.survives(f, theta, next, z), g.survives(f, theta, next, both)); said != "" {
		return said
	}
	alone, three, w := f.run(0, theta, next, z), f.run(7, theta, next, both), f.width
	if slices.EqualFunc(three[w:2*w], want, same) && slices.EqualFunc(three[:w], alone, same) &&
		slices.EqualFunc(three[2*w:], alone, same) {
		return ""
	}
	return fmt.Sprintf("%s of %s is %v alone, and %v around an ordinary record of %v, which has %v alone; dst[i] must "+
		"depend on record i alone", f.name, describe(z), alone, three, three[w:2*w], want)
}

// strange visits records with extreme numbers.
func (g stage) strange(visit func(z targets.Rows)) {
	for _, v := range extremes {
		for j := range g.p {
			one := g.record()
			one.X[j] = v
			visit(one)
			if g.response { // with each extreme response
				for _, y := range extremes {
					pair := cloneRows(one)
					pair.Y[0] = y
					visit(pair)
				}
			}
			for range min(4, g.p-1) { // with an extreme neighbour
				pair := cloneRows(one)
				pair.X[(j+1+g.rng.IntN(g.p-1))%g.p] = extremes[g.rng.IntN(len(extremes))]
				visit(pair)
			}
			lone := cloneRows(one)
			clear(lone.X)
			lone.X[j] = v
			visit(lone)
		}
		all := g.record()
		fill(all.X, v)
		visit(all)
		if g.response {
			one := g.record()
			one.Y[0] = v
			visit(one)
		}
	}
}

// survives says whether a form panics, or writes where it must not.
func (g stage) survives(f form, theta, next []float64, z targets.Rows) (said string) {
	defer func() {
		if p := recover(); p != nil {
			said = fmt.Sprintf("%s panics (%v) on the record %s; NaN and ±Inf are proper answers, a panic is none", f.name, p,
				describe(z))
		}
	}()
	if said = f.strays(theta, next, z); said != "" {
		said += " at the record " + describe(z)
	}
	return said
}
