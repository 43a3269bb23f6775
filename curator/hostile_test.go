package curator

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// hostile is a user's target with one fault. answer sets width numbers a record; it
// stands for losses, gradients and slopes alike.
type hostile struct {
	answer func(dst, theta []float64, rows targets.Rows, width int)
}

func (h hostile) Dim() int                                         { return 2 }
func (h hostile) Shape() (int, bool)                               { return 2, true }
func (h hostile) LogPrior([]float64) float64                       { return 0 }
func (h hostile) GradLogPrior(dst, _ []float64)                    { clear(dst) }
func (h hostile) Loss(dst, theta []float64, rows targets.Rows)     { h.answer(dst, theta, rows, 1) }
func (h hostile) LossGrad(dst, theta []float64, rows targets.Rows) { h.answer(dst, theta, rows, 2) }

// hostileRatio answers a move in one pass, hostileLinear by slopes.
type (
	hostileRatio  struct{ hostile }
	hostileLinear struct{ hostile }
)

func (h hostileRatio) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	h.answer(dst, theta, rows, 1)
	for i := range dst {
		dst[i] *= 2
	}
	next[0]++
}
func (h hostileLinear) LossAt(dst, eta, y []float64) { h.SlopeAt(dst, eta, y) }
func (h hostileLinear) SlopeAt(dst, eta, y []float64) {
	h.answer(dst, make([]float64, 2), targets.Rows{X: eta, P: 1, Y: y}, 1)
}
func (h hostileLinear) PredictorLipschitz() float64 { return 1 }

// honest sets record i's numbers to what it says, which is not linear in θ.
func honest(dst, theta []float64, rows targets.Rows, i, width int) {
	for j := range width {
		dst[i*width+j] = theta[0] * (1 + theta[0]) * (rows.Y[i] + rows.Row(i)[0])
	}
}

func each(do func(dst, theta []float64, rows targets.Rows, i, width int)) func(dst, theta []float64, rows targets.Rows,
	width int) {
	return func(dst, theta []float64, rows targets.Rows, width int) {
		for i := range rows.Len() {
			do(dst, theta, rows, i, width)
		}
	}
}

// hostiles are the kinds. leaks marks those that let a record speak for others, or
// reach the sampler's state or the sealed rows, if they are let in as the library's
// own targets are.
var hostiles = []struct {
	name  string
	leaks bool
	kind  func() hostile
}{
	{"leaves a missing record's answer unset", true, stateless(each(func(dst, theta []float64, rows targets.Rows, i,
		width int) {
		if !math.IsNaN(rows.Y[i]) {
			honest(dst, theta, rows, i, width)
		}
	}))},
	{"adds to what the destination holds", true, stateless(each(func(dst, theta []float64, rows targets.Rows, i,
		width int) {
		for j := range width {
			if y := rows.Y[i]; !math.IsNaN(y) {
				dst[i*width+j] += theta[0] * y
			}
		}
	}))},
	{"rewrites features", true, stateless(each(func(dst, theta []float64, rows targets.Rows, i, width int) {
		rows.Row(i)[0] *= 3
		honest(dst, theta, rows, i, width)
	}))},
	{"rewrites responses", true, stateless(each(func(dst, theta []float64, rows targets.Rows, i, width int) {
		rows.Y[i] = 7 * rows.Y[0]
		honest(dst, theta, rows, i, width)
	}))},
	{"keeps a record in θ", true, stateless(each(func(dst, theta []float64, rows targets.Rows, i, width int) {
		if y := rows.Y[0]; math.Abs(y) == 1 { // the record that differs
			theta[0] = y
		}
		honest(dst, theta, rows, i, width)
	}))},
	{"adds the batch's mean", true, stateless(func(dst, theta []float64, rows targets.Rows, width int) {
		sum := 0.0
		for _, y := range rows.Y {
			if !math.IsNaN(y) {
				sum += y
			}
		}
		for i := range dst {
			dst[i] = theta[0] * (rows.Y[i/width] + sum/float64(rows.Len()))
		}
	})},
	{"reads its neighbour", true, stateless(func(dst, theta []float64, rows targets.Rows, width int) {
		for i := range dst {
			dst[i] = theta[0] * rows.Y[0]
		}
	})},
	{"reads and writes beyond its rows", true, stateless(func(dst, theta []float64, rows targets.Rows, width int) {
		for i := range rows.Len() {
			honest(dst, theta, rows, i, width)
		}
		x, y, d := rows.X[:cap(rows.X)], rows.Y[:cap(rows.Y)], dst[:cap(dst)]
		for i := range x {
			x[i] = y[0]
		}
		for i := range y {
			y[i] = y[0]
		}
		for i := range d {
			d[i] = y[0]
		}
	})},
	{"leaves a record beyond its rows and reads it there", true, stateless(func(dst, theta []float64, rows targets.Rows,
		width int) {
		x := rows.X[:cap(rows.X)]
		kept := &x[len(x)-1]
		if y := rows.Y[0]; math.Abs(y) == 1 { // the record that differs
			*kept = y
		}
		for i := range dst {
			dst[i] = 1e6 * *kept
		}
	})},
	{"sorts its records", true, stateless(func(dst, theta []float64, rows targets.Rows, width int) {
		slices.Sort(rows.Y)
		for i := range rows.Len() {
			honest(dst, theta, rows, i, width)
		}
	})},
	{"counts its records", false, stateless(func(dst, theta []float64, rows targets.Rows, width int) {
		for i := range dst {
			dst[i] = theta[0] * float64(rows.Len())
		}
	})},
	{"reads rows kept from an earlier call", true, func() hostile {
		var mu sync.Mutex
		var kept []float64
		return hostile{func(dst, theta []float64, rows targets.Rows, width int) {
			mu.Lock()
			defer mu.Unlock()
			if kept == nil {
				kept = rows.Y
			}
			for i := range dst {
				dst[i] = theta[0] * kept[0]
			}
		}}
	}},
	{"writes a destination kept from an earlier call", true, func() hostile {
		var mu sync.Mutex
		var kept [][]float64
		return hostile{func(dst, theta []float64, rows targets.Rows, width int) {
			mu.Lock()
			defer mu.Unlock()
			kept = append(kept, dst, theta)
			for i := range rows.Len() {
				honest(dst, theta, rows, i, width)
			}
			for _, k := range kept[:len(kept)-2] {
				for i := range k {
					k[i] = rows.Y[0]
				}
			}
		}}
	}},
	{"is NaN on a record", false, stateless(each(func(dst, theta []float64, rows targets.Rows, i, width int) {
		if honest(dst, theta, rows, i, width); rows.Y[i] == 1 {
			dst[i*width] = math.NaN()
		}
	}))},
	{"is infinite on a record", false, stateless(each(func(dst, theta []float64, rows targets.Rows, i, width int) {
		if honest(dst, theta, rows, i, width); rows.Y[i] == 1 {
			dst[i*width] = math.Inf(1)
		}
	}))},
	{"is enormous on a record", false, stateless(each(func(dst, theta []float64, rows targets.Rows, i, width int) {
		if honest(dst, theta, rows, i, width); rows.Y[i] == 1 {
			dst[i*width] = -math.MaxFloat64
		}
	}))},
	{"panics with a record in its message", false, stateless(each(func(dst, theta []float64, rows targets.Rows, i,
		width int) {
		if honest(dst, theta, rows, i, width); rows.Y[i] == 1 {
			panic(fmt.Sprint(rows.Y))
		}
	}))},
	{"panics after it wrote everywhere", false, stateless(func(dst, theta []float64, rows targets.Rows, width int) {
		for i := range dst {
			dst[i] = rows.Y[0]
		}
		panic(rows)
	})},
	{"indexes out of range on a record", false, stateless(each(func(dst, theta []float64, rows targets.Rows, i,
		width int) {
		if honest(dst, theta, rows, i, width); rows.Y[i] == 1 {
			_ = theta[len(theta)+i]
		}
	}))},
	{"ends its goroutine on a record", false, stateless(each(func(dst, theta []float64, rows targets.Rows, i, width int) {
		if honest(dst, theta, rows, i, width); rows.Y[i] == 1 {
			runtime.Goexit()
		}
	}))},
	{"sleeps on a record", false, stateless(each(func(dst, theta []float64, rows targets.Rows, i, width int) {
		if honest(dst, theta, rows, i, width); rows.Y[i] == 1 {
			time.Sleep(time.Millisecond)
		}
	}))},
}

func stateless(answer func(dst, theta []float64, rows targets.Rows, width int)) func() hostile {
	return func() hostile { return hostile{answer} }
}

const hostileRows = room.BlockRows + 77

// hostileSet is a table whose first record says y; of the others some are missing.
func hostileSet(y float64) *record.Set {
	x, ys := make([]float64, 2*hostileRows), make([]float64, hostileRows)
	for i := range ys {
		x[2*i], ys[i] = 1e-3*float64(i%5), 0.25*float64(i%3)
		if i < 9 || i == room.BlockRows {
			ys[i] = math.NaN()
		}
	}
	ys[0] = y
	return record.New(x, 2, ys, hostileRows, 1)
}

// moved runs every way in which records meet a target over two tables that differ in
// the first record, and returns by how many bounds of one record's contribution the
// sums moved at most, and what was written that is not a target's to write.
func moved(t *testing.T, kind func() targets.Target, asOurs bool) (furthest float64, wrote string) {
	t.Helper()
	all := make([]int32, hostileRows)
	for i := range all {
		all[i] = int32(i)
	}
	const clip, top = 1.0, float64(1 << room.GridBits)
	sums := func(y float64) (found [][]float64) {
		set, target := hostileSet(y), kind()
		features, response := target.Shape()
		s, err := room.Facts{Features: features, Response: response}.Admit(target, asOurs || targets.Ours(target))
		if err != nil {
			t.Fatal(err)
		}
		theta, next, step := make([]float64, s.Dim), make([]float64, s.Dim), make([]float64, s.Dim)
		theta[0], next[0], step[0] = 0.5, -0.5, -1
		full := room.NewPass(s, set, 1, math.Inf(1), room.ExactGrid(clip), true)
		batch := room.NewPass(s, set, 1, math.Inf(1), room.ExactGrid(clip), false)
		thinned := room.NewPass(s, set, 1, math.Inf(1), room.ExactGrid(clip), false)
		for range 2 {
			found = append(found, []float64{float64(full.Sums(theta, next, nil, nil).Sum)})
			found = append(found, []float64{float64(batch.Sums(theta, next, nil, all).Sum)})
			parts := make([]float64, hostileRows)
			thinned.Terms(parts, theta, next, step, all, clip)
			for i := range parts {
				parts[i] *= top
			}
			found = append(found, parts)
		}
		gradients := room.NewVectorPass(s, set, 1, room.ExactGrid(clip))
		for _, whole := range []bool{true, false} {
			sum := make([]int64, s.Dim)
			gradients.Sum(sum, theta, all, whole)
			found = append(found, floats(sum))
		}
		x, y1 := set.Block(nil, nil, 0, hostileRows)
		x0, y0 := hostileSet(y).Block(nil, nil, 0, hostileRows)
		if !equalBits(x, x0) || !equalBits(y1, y0) {
			wrote = "the sealed rows"
		}
		if theta[0] != 0.5 || next[0] != -0.5 || theta[1] != 0 || next[1] != 0 {
			wrote = "the sampler's states"
		}
		return found
	}
	a, b := sums(1), sums(-1)
	for i := range a {
		distance := 0.0
		for j, v := range a[i] {
			distance += (v - b[i][j]) * (v - b[i][j])
		}
		if math.IsNaN(distance) {
			return math.Inf(1), wrote
		}
		furthest = max(furthest, math.Sqrt(distance)/top)
	}
	return furthest, wrote
}

func floats(v []int64) []float64 {
	out := make([]float64, len(v))
	for i, k := range v {
		out[i] = float64(k)
	}
	return out
}

func equalBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// TestHostileTargets: whatever is wrong with a user's target, replacing a record moves
// every sum by two of the bounds that are charged at most, and neither the sealed rows
// nor the sampler's states are written. The same targets, let in as the library's own
// are, break this, so that it could fail.
func TestHostileTargets(t *testing.T) {
	if len(hostiles) < 20 {
		t.Fatalf("%d kinds", len(hostiles))
	}
	for _, h := range hostiles {
		for form, target := range map[string]func() targets.Target{
			"plain":             func() targets.Target { return h.kind() },
			"ratio":             func() targets.Target { return hostileRatio{h.kind()} },
			"linear":            func() targets.Target { return hostileLinear{h.kind()} },
			"remainder":         func() targets.Target { return remainderOf(t, h.kind()) },
			"remainder, linear": func() targets.Target { return remainderOf(t, hostileLinear{h.kind()}) },
			"tangent":           func() targets.Target { return tangentOf(t, h.kind()) },
		} {
			if by, wrote := moved(t, target, false); !(by <= 2) || wrote != "" {
				t.Errorf("a target that %s (%s): a record moves a sum by %v of its bounds, and %q was written", h.name,
					form, by, wrote)
			}
		}
		if by, wrote := 0.0, ""; h.leaks {
			if by, wrote = moved(t, func() targets.Target { return h.kind() }, true); by <= 2 && wrote == "" {
				t.Errorf("a target that %s does no harm if it is let in: the test shows nothing", h.name)
			}
		}
	}
}

// remainderOf and tangentOf are what anchored chains make of a user's target.
func remainderOf(t *testing.T, base targets.Target) targets.Target {
	t.Helper()
	r, err := targets.New(targets.RemainderConfig{Target: base, Order: 1})
	if err == nil {
		err = r.Anchor([]float64{0.3, -0.1}, 1, func([]float64) float64 { return 0 })
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tangentOf(t *testing.T, base targets.GradTarget) targets.Target {
	t.Helper()
	v, err := targets.New(targets.TangentConfig{Target: base, Weight: 0.5, Radius: 0})
	if err == nil {
		err = v.At([]float64{0.3, -0.1}, targets.Lengths{Score: 0.1, Products: 0.1})
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// asked is a target that counts how often it is asked for each claim, and answers
// ever more.
type asked struct {
	hostile
	count map[string]int
	say   map[string]float64
}

func newAsked(say map[string]float64) asked {
	return asked{stateless(each(honest))(), map[string]int{}, say}
}

func (a asked) claim(what string) float64 {
	a.count[what]++
	if v, ok := a.say[what]; ok {
		return v
	}
	return 0.1 * float64(a.count[what])
}

func (a asked) LossRange() float64          { return a.claim("LossRange") }
func (a asked) GradBound(float64) float64   { return a.claim("GradBound") }
func (a asked) PredictorLipschitz() float64 { return a.claim("PredictorLipschitz") }
func (a asked) LossAt(dst, _, _ []float64)  { clear(dst) }
func (a asked) SlopeAt(dst, _, _ []float64) { clear(dst) }
func (a asked) Dim() int                    { a.count["Dim"]++; return 1 + min(1, a.count["Dim"]) }
func (a asked) Shape() (int, bool)          { a.count["Shape"]++; return 2, a.count["Shape"] == 1 }
func (a asked) RatioBound(_, _ []float64, _ float64) float64 {
	return a.claim("RatioBound")
}

// grants are requests of every mechanism that rests on a target.
func grants(a asked) map[string]Request {
	var b *Bits
	var r *Ratios
	var g *Gradients
	var s *Signs
	return map[string]Request{
		"bits":      RequestFor(&b, AcceptanceBit{Target: a, Proposal: Proposal{Scale: 0.1}}, 1),
		"within":    RequestFor(&b, AcceptanceBit{Target: a, Proposal: Proposal{Radius: 0.1}, Batch: Batch{Rate: 0.5}}, 1),
		"thinned":   RequestFor(&b, ThinnedBit{Target: a, Proposal: Proposal{Scale: 0.01}, Rate: 0.9}, 1),
		"ratios":    RequestFor(&r, NoisyRatio{Target: a, Clip: 1, NoiseMultiplier: 1}, 1),
		"gradients": RequestFor(&g, NoisyGradient{Target: a, NoiseMultiplier: 1}, 1),
		"signs":     RequestFor(&s, GradientSigns{Target: a, Scale: 0.1, Adjusted: true}, 1),
	}
}

// TestClaimsAreAskedOnce: a grant asks a target for each thing that it rests on once,
// so that what is enforced cannot differ from what was charged.
func TestClaimsAreAskedOnce(t *testing.T) {
	for name := range grants(newAsked(nil)) {
		a := newAsked(nil)
		c := seal(t, Records{X: make([]float64, 8), Features: 2, Y: make([]float64, 4), Radius: 1})
		if err := c.Grant(grants(a)[name]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for what, n := range a.count {
			if n != 1 {
				t.Errorf("%s: %s was asked %d times", name, what, n)
			}
		}
		if a.count["Dim"] == 0 || a.count["Shape"] == 0 {
			t.Errorf("%s: asked %v", name, a.count)
		}
	}
}

// TestClaimsThatAreNoBounds: a claim that is NaN or negative is refused, before
// anything is charged.
func TestClaimsThatAreNoBounds(t *testing.T) {
	uses := map[string][]string{
		"LossRange": {"bits", "within", "thinned"}, "PredictorLipschitz": {"bits", "within", "thinned"},
		"GradBound": {"gradients", "signs"},
	}
	for what, mechanisms := range uses {
		for _, v := range []float64{math.NaN(), -1, math.Inf(-1), -5e-324} {
			for _, name := range mechanisms {
				c := seal(t, Records{X: make([]float64, 8), Features: 2, Y: make([]float64, 4), Radius: 1})
				err := c.Grant(grants(newAsked(map[string]float64{what: v}))[name])
				if err == nil || !strings.Contains(err.Error(), what) {
					t.Errorf("%s of %v, %s: error %v, want one that names it", what, v, name, err)
				}
				if spent, _ := c.Budget().Spent(); spent.Epsilon != 0 {
					t.Errorf("%s of %v, %s: ε %v was charged", what, v, name, spent.Epsilon)
				}
			}
		}
	}
}

// TestMoveBoundsThatAreNone: a bound for a move that is negative or no number refuses
// the move whatever the data say, and never panics.
func TestMoveBoundsThatAreNone(t *testing.T) {
	for _, v := range []float64{math.NaN(), -1e6, math.Inf(-1), math.Inf(1), 0.3, -5e-324} {
		for _, y := range []float64{math.NaN(), 1, -1} {
			a := moveOnly{hostile: stateless(each(honest))(), says: v}
			c := seal(t, Records{X: make([]float64, 2), Features: 2, Y: []float64{y}, Radius: 1})
			b, err := Charge(c, ThinnedBit{Target: a, Limit: 0.2, Rate: 0.9}, 50)
			if err != nil {
				t.Fatal(err)
			}
			for range 50 {
				theta, next := []float64{1, 0}, []float64{0, 0}
				if ok, err := b.Accept(next, theta, 50); err != nil || ok {
					t.Fatalf("a bound of %v for a move, with a limit of 0.2: accepted %v, error %v", v, ok, err)
				}
				if theta[0] != 1 || next[0] != 0 {
					t.Fatalf("the states became %v and %v", theta, next)
				}
			}
		}
	}
}

// moveOnly certifies moves alone, and writes into what it is asked about.
type moveOnly struct {
	hostile
	says float64
}

func (m moveOnly) RatioBound(theta, next []float64, _ float64) float64 {
	theta[0], next[0] = math.NaN(), math.NaN()
	return m.says
}

// TestOursAreNotEmbedded: a target that embeds one of the library's may rewrite what
// it is given, and is a guest.
func TestOursAreNotEmbedded(t *testing.T) {
	l, err := targets.New(targets.RegressionConfig{Features: 2, Prior: priors.Gaussian{SD: 1}})
	if err != nil {
		t.Fatal(err)
	}
	type embeds struct{ *targets.Regression }
	if !targets.Ours(l) || targets.Ours(embeds{l}) || targets.Ours(&embeds{l}) {
		t.Error("who is trusted is not decided by the type itself")
	}
}

// TestThinnedBitsComeTogether: thinned bits and others are one grant, all or nothing.
func TestThinnedBitsComeTogether(t *testing.T) {
	tight, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 0.5, Delta: 1e-6,
		Adjacency: accountant.Substitute})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Seal(Records{X: []float64{1}, Features: 1, Radius: 1}, tight)
	if err != nil {
		t.Fatal(err)
	}
	var thinned *Bits
	var ratios *Ratios
	cheap := RequestFor(&thinned, ThinnedBit{Target: newToy(1), Proposal: Proposal{Scale: 0.01}, Rate: 0.5}, 1)
	dear := RequestFor(&ratios, NoisyRatio{Target: newToy(1), Clip: 1, NoiseMultiplier: 0.1}, 1)
	if err := c.Grant(cheap, dear); err == nil || thinned != nil || ratios != nil {
		t.Errorf("a grant beyond the budget: %v, %v, %v", err, thinned, ratios)
	}
	if spent, _ := tight.Spent(); spent.Epsilon != 0 {
		t.Errorf("a refused grant cost ε %v", spent.Epsilon)
	}
	if err := c.Grant(cheap); err != nil || thinned == nil {
		t.Errorf("thinned bits alone: %v", err)
	}
}

// TestHostileReleases: the same through what is released. Two worlds share their
// noise, so that releases differ by what the sums do.
func TestHostileReleases(t *testing.T) {
	for _, h := range hostiles {
		release := func(y float64) (ratio float64, gradient []float64) {
			set := hostileSet(y)
			x, ys := set.Block(nil, nil, 0, hostileRows)
			c := seal(t, Records{X: x, Features: 2, Y: ys, Radius: 1})
			var r *Ratios
			var g *Gradients
			var s *Signs
			var b, thin *Bits
			if err := c.Grant(
				RequestFor(&r, NoisyRatio{Target: h.kind(), Clip: 1, NoiseMultiplier: 1}, 1),
				RequestFor(&g, NoisyGradient{Target: h.kind(), Clip: 1, NoiseMultiplier: 1}, 1),
				RequestFor(&s, GradientSigns{Target: h.kind(), Clip: 1, Scale: 0.1, Adjusted: true}, 1),
				RequestFor(&b, AcceptanceBit{Target: h.kind(), Clip: 1}, 1),
				RequestFor(&thin, ThinnedBit{Target: h.kind(), Clip: 1, Rate: 0.9}, 1),
			); err != nil {
				t.Fatal(err)
			}
			theta, next, drawn := []float64{0.5, 0}, []float64{-0.5, 0}, make([]float64, 2)
			gradient = make([]float64, 2)
			var errs [5]error
			ratio, errs[0] = r.Release(next, theta)
			errs[1] = g.Release(gradient, theta)
			_, errs[2] = s.Move(drawn, theta)
			_, errs[3] = b.Accept(next, theta, 0)
			_, errs[4] = thin.Accept(next, theta, 0)
			if err := errors.Join(errs[:]...); err != nil {
				t.Fatal(err)
			}
			if theta[0] != 0.5 || theta[1] != 0 || next[0] != -0.5 || next[1] != 0 {
				t.Errorf("a target that %s changed the states to %v and %v", h.name, theta, next)
			}
			return ratio, gradient
		}
		r1, g1 := release(1)
		r2, g2 := release(-1)
		if by := math.Abs(r1 - r2); !(by <= 2+1e-6) {
			t.Errorf("a target that %s moves a ratio by %v clips", h.name, by)
		}
		if by := math.Hypot(g1[0]-g2[0], g1[1]-g2[1]); !(by <= 2+1e-6) {
			t.Errorf("a target that %s moves a gradient by %v clips", h.name, by)
		}
	}
}
