package proptest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/targets"
)

// Certificate is what a search found out about one bound that a target claims.
type Certificate struct {
	// Name is "range" (LossRange), "Lipschitz" (PredictorLipschitz), "move"
	// (|ratio| against L·|x·δ|, the clip that the curator uses for linear
	// targets), "ratio" (RatioBound) or "gradient" (GradBound).
	Name string
	// Bound is the claim; 1 for "move" and "ratio", which are searched for the
	// largest share of the bound of a move.
	Bound float64
	// Found is the largest value found, less what rounding can account for.
	Found float64
	// Witness is the data that gave Found, shrunk if it violates the bound.
	Witness string
	// Test is a Go test that shows the violation; empty if there is none.
	Test string
}

// Tightness is the share of the bound that was attained.
func (c Certificate) Tightness() float64 { return c.Found / c.Bound }

// String describes the result in one line.
func (c Certificate) String() string {
	return fmt.Sprintf("%s: found %.6g of the bound %.6g (tightness %.3f) at %s", c.Name, c.Found, c.Bound,
		c.Tightness(), c.Witness)
}

// claim is a certificate as a function to be maximised over search vectors.
type claim struct {
	name  string
	bound float64
	size  int
	// value is what must not exceed bound, less its rounding; NaN where the
	// claim says nothing.
	value   func(u []float64) float64
	witness func(u []float64) string
	// test are lines of Go that show what value found.
	test func(u []float64) []string
}

// SearchCertificates tries to exceed every finite certificate of the target, by
// hill climbing over parameters and records from random and from extreme
// starting points: freely, and confined to moves of one coordinate, of given
// lengths, along the record or along the parameters, to single responses and to other
// radii, since a bound may be wrong only there. The search depends on o.Seed alone.
func SearchCertificates(target targets.Target, o TargetOptions) []Certificate {
	o = o.withDefaults()
	var found []Certificate
	starts := map[string][][]float64{}
	for i, c := range o.claims(target) {
		rng := rand64(o.Seed, uint64(2+i))
		best, u := c.climbed(rng, 8, o.Effort.times(30_000, 3000))
		starts[c.name] = append(starts[c.name], u)
		for _, part := range o.confined(target, c) {
			if b, _ := part.climbed(rng, 3, o.Effort.times(1200, 200)); b.Found > best.Found && best.Found <= c.bound {
				best = b
			}
		}
		found = append(found, best)
	}
	// At other radii: from anywhere at a few, and near what was found at many.
	for _, radius := range []float64{0, 0.01, 0.05, 0.5, 3, 20, 1000} {
		o.atRadius(radius, target, found, func(c claim, rng *rand.Rand) (Certificate, []float64) {
			b, u := c.climbed(rng, 2, o.Effort.times(1500, 200))
			starts[c.name] = append(starts[c.name], u)
			return b, u
		})
	}
	for _, radius := range manyRadii(o.Effort.either(1.07, 1.3)) {
		o.atRadius(radius, target, found, func(c claim, rng *rand.Rand) (Certificate, []float64) {
			u, most := make([]float64, c.size), math.Inf(-1)
			for _, start := range starts[c.name] {
				if v := valueOr(c.value(start)); v > most {
					most = v
					copy(u, start)
				}
			}
			return c.result(u, ascend(rng, u, most, 50, c.value)), u
		})
	}
	return found
}

// manyRadii are those of features of any scale, by a factor, and by a hundred where they are as large as incomes.
func manyRadii(by float64) (all []float64) {
	for radius := 1e-3; radius < 1e4; radius *= by {
		all = append(all, radius)
	}
	return append(all, 1e5, 1e7, 1e9)
}

// atRadius searches the certificates that depend on the radius, in units of the one asked for, and
// notes what violates one.
func (o TargetOptions) atRadius(radius float64, target targets.Target, found []Certificate,
	search func(c claim, rng *rand.Rand) (Certificate, []float64)) {
	o.Radius *= radius
	for i, c := range o.claims(target) {
		if c.name != "ratio" && c.name != "gradient" || i >= len(found) || found[i].Found > found[i].Bound {
			continue
		}
		if b, _ := search(c, rand64(o.Seed, uint64(50+i))); b.Found > b.Bound {
			b.Witness += fmt.Sprintf(", radius %v", o.Radius)
			found[i] = b
		}
	}
}

// climbed is the result of one search, and where it ended.
func (c claim) climbed(rng *rand.Rand, restarts, moves int) (Certificate, []float64) {
	u, v := climb(rng, c.size, restarts, moves, c.value)
	return c.result(slices.Clone(u), v), u
}

// result is what was found at u, made plain if it violates the claim.
func (c claim) result(u []float64, v float64) Certificate {
	found := Certificate{Name: c.name, Bound: c.bound, Found: v}
	if v > c.bound {
		shrink(u, func(u []float64) bool { return c.value(u) > c.bound })
		found.Found, found.Test = c.value(u), goTest(append([]string{"target := yourTarget"}, c.test(u)...)...)
	}
	found.Witness = c.witness(u)
	return found
}

// within confines a claim to the vectors that confine makes of others.
func (c claim) within(confine func(u []float64)) claim {
	part := c
	scratch := make([]float64, c.size)
	to := func(u []float64) []float64 {
		copy(scratch, u)
		confine(scratch)
		return scratch
	}
	part.value = func(u []float64) float64 { return c.value(to(u)) }
	part.witness = func(u []float64) string { return c.witness(to(u)) }
	part.test = func(u []float64) []string { return c.test(to(u)) }
	return part
}

// confined lists the parts of a claim that are searched on their own.
func (o TargetOptions) confined(target targets.Target, c claim) (parts []claim) {
	d := target.Dim()
	p, response := target.Shape()
	add := func(confine func(u []float64)) { parts = append(parts, c.within(confine)) }
	z := c.size - p - 1 // where the (last) record begins
	if response && c.name != "Lipschitz" {
		for _, y := range replies[:4] {
			add(func(u []float64) { u[c.size-1] = y })
			if c.name == "range" {
				add(func(u []float64) { u[z-1], u[c.size-1] = y, 1-y })
			}
		}
	}
	if response && c.name == "Lipschitz" {
		for _, y := range replies {
			add(func(u []float64) { u[1] = y })
		}
	}
	for j := range min(p, 8) {
		if c.name == "gradient" {
			add(func(u []float64) {
				v := u[z+j]
				clear(u[z : z+p])
				u[z+j] = v
			})
		}
	}
	if c.name != "ratio" && c.name != "move" {
		return parts
	}
	direct := func(u []float64, length float64) {
		if n := norm(u[d : 2*d]); n > 0 && length > 0 {
			times(u[d:2*d], 1/n)
			u[2*d] = 3 + math.Log(length)
		}
	}
	for _, by := range []float64{-2, -1, -0.5, 1} { // to the mirrored state, to nothing, half and twice as far
		add(func(u []float64) {
			for j, t := range u[:d] {
				u[d+j] = by * t
			}
			u[2*d] = 3 // a length of 1
		})
	}
	for _, length := range []float64{0, 1e-6, 1e-3, 0.3, 3} {
		add(func(u []float64) { direct(u, length) })
		for j := range min(d, 8) {
			add(func(u []float64) {
				v := u[d+j]
				clear(u[d : 2*d])
				u[d+j] = v
				direct(u, length)
			})
		}
		if p > 0 {
			add(func(u []float64) {
				for j := range min(d, p) {
					u[d+j] = max(-1e6, min(u[z+j], 1e6))
				}
				direct(u, length)
			})
		}
	}
	return parts
}

// checkCertificates runs the search, then properties over wild values.
func checkCertificates(t rapid.TB, target targets.Target, o TargetOptions) []Certificate {
	t.Helper()
	found := SearchCertificates(target, o)
	for _, c := range found {
		if c.Found > c.Bound {
			failf(t, "the certificate is violated (Seed %d): %v%s", o.Seed, c, c.Test)
		}
	}
	for _, c := range o.claims(target) {
		property(t, func(rt *rapid.T) {
			rt.Helper()
			u := rapid.SliceOfN(Wild(), c.size, c.size).Draw(rt, c.name)
			if v := c.value(u); v > c.bound {
				failf(rt, "the %s certificate %v is violated: %v at %s%s", c.name, c.bound, v, c.witness(u),
					goTest(append([]string{"target := yourTarget"}, c.test(u)...)...))
			}
		})
	}
	return found
}

// checkTightness reports how nearly certificates were attained, and loose bounds.
func checkTightness(t rapid.TB, found []Certificate, o TargetOptions) {
	t.Helper()
	for _, c := range found {
		share, named := o.Loose[c.Name]
		if !named {
			share = o.Tightness
		}
		t.Logf("proptest: %v", c)
		if c.Found < share*c.Bound {
			failf(t, "the bound is loose (Seed %d): %v; %.2f was asked for. Improve the bound, or explain it and give Loose",
				o.Seed, c, share)
		}
	}
}

// blur is what a difference of two computed losses can owe to rounding.
func blur(a, b float64) float64 { return 1e-14 * (math.Abs(a) + math.Abs(b)) }

// share is a part of a bound that may be zero.
func share(v, bound float64) float64 {
	if bound == 0 && v == 0 || math.IsInf(bound, 1) {
		return 0
	}
	return v / bound
}

func unit(d int) []float64 {
	v := make([]float64, d)
	for i := range v {
		v[i] = 1
	}
	return v
}

// describe writes one record.
func describe(r targets.Rows) string {
	s := "x = " + text(r.X)
	if r.Y != nil {
		s += fmt.Sprintf(", y = %v", r.Y[0])
	}
	return s
}

// text writes numbers, and of many that are nearly all 0 the others.
func text(v []float64) string {
	var parts, others []string
	for i, x := range v {
		if parts = append(parts, fmt.Sprint(x)); x != 0 {
			others = append(others, fmt.Sprintf("%v in place %d", x, i))
		}
	}
	switch zeros := len(v) - len(others); {
	case zeros > 8 && len(others) == 0:
		return fmt.Sprintf("(%d times 0)", zeros)
	case zeros > 8 && len(others) < 6:
		return fmt.Sprintf("(%d times 0, and %s)", zeros, strings.Join(others, ", "))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

func index(j int) string { return fmt.Sprintf("[%d]", j) }

// rand64 is the stream of a seed and a purpose.
func rand64(seed, purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, purpose)) }
