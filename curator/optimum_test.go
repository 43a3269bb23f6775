package curator

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/erm"
	"github.com/dpmcmc/dpmcmc/internal/tape"
)

// labelled is a table of n records of two features with labels.
func labelled(n int, seed uint64) Records {
	rng := rand.New(rand.NewPCG(seed, 5))
	r := Records{Features: 2, Radius: 1}
	for range n {
		x := 2*rng.Float64() - 1
		r.X = append(r.X, 0.7*x, 0.7)
		y := 0.0
		if rng.Float64() < 1/(1+math.Exp(-3*x+0.5)) {
			y = 1
		}
		r.Y = append(r.Y, y)
	}
	return r
}

func optima(t testing.TB, c *Curator, m Optimum, count int64) *Optima {
	t.Helper()
	o, err := Charge(c, m, count)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// gradientAt is the gradient of τΣℓ + (Λ/2)‖θ‖² over a table, apart from package
// erm's.
func gradientAt(r Records, tau, ridge float64, theta []float64) []float64 {
	g := make([]float64, len(theta))
	for j, v := range theta {
		g[j] = ridge * v
	}
	for i, y := range r.Y {
		if math.IsNaN(y) {
			continue
		}
		eta := 0.0
		for j, v := range theta {
			eta += r.X[2*i+j] * v
		}
		for j := range g {
			g[j] += tau * (1/(1+math.Exp(-eta)) - y) * r.X[2*i+j]
		}
	}
	return g
}

// TestOptimumIsThePerturbedMinimum: the released point makes the gradient −b,
// up to the output noise, and −∇F is normal with standard deviation σ: its mean
// and mean square over 4000 coordinates are within 6 standard errors (false alarm
// 10⁻⁸), which a σ of 0.9 or 1.1 times would not be. A record whose response is
// NaN is left out.
func TestOptimumIsThePerturbedMinimum(t *testing.T) {
	r := labelled(50, 1)
	r.Y[3] = math.NaN()
	m := Optimum{Temperature: 0.5, Ridge: 2, NoiseMultiplier: 3}
	const sigma, n = 2 * 3 * 0.5 * 1, 2000
	o := optima(t, seal(t, r), m, n)
	var sum, squares float64
	theta := make([]float64, 2)
	for range n {
		if err := o.Release(theta); err != nil {
			t.Fatal(err)
		}
		for j, g := range gradientAt(r, 0.5, 2, theta) {
			if math.Abs(g+o.objective.B[j]) > 0.02*sigma {
				t.Fatalf("the gradient at the release is %v, −b is %v", g, -o.objective.B[j])
			}
			sum += g / sigma
			squares += g * g / (sigma * sigma)
		}
	}
	if math.Abs(sum) > 6*math.Sqrt(2*n) || math.Abs(squares-2*n) > 6*math.Sqrt(2*2*n) {
		t.Errorf("the gradients' sum and sum of squares are %v and %v, want 0 and %v", sum, squares, 2*n)
	}
}

// TestOptimumHidesTheDistance: the release is the minimum that was computed plus
// noise of OutputSD, which is outputMultiplier times twice the bound on how far
// that is from the exact one, on a grid. The sum of squares of 4000 draws is
// within 6 standard errors; noise of 0.9 times would not be.
func TestOptimumHidesTheDistance(t *testing.T) {
	m := Optimum{Ridge: 0.5, NoiseMultiplier: 2}
	c := seal(t, labelled(80, 2))
	o := optima(t, c, m, 2000)
	sd, err := m.OutputSD(c.Facts())
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * m.shape(c.Facts()).Distance() * 2 / math.Sqrt(outputShare); sd < want || sd > 1.02*want {
		t.Errorf("OutputSD is %v, want a little over %v", sd, want)
	}
	theta, squares := make([]float64, 2), 0.0
	for range 2000 {
		if err := o.Release(theta); err != nil {
			t.Fatal(err)
		}
		computed, err := o.objective.Minimise(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range theta {
			if steps := v / o.grid; steps != math.Trunc(steps) {
				t.Fatalf("%v is not a multiple of %v", v, o.grid)
			}
			squares += (v - computed[j]) * (v - computed[j]) / (sd * sd)
		}
	}
	if math.Abs(squares-4000) > 6*math.Sqrt(2*4000) {
		t.Errorf("4000 squared noises add up to %v standard deviations squared", squares)
	}
}

// TestMinimaAreWithinTheDistance: starting Newton's method on different data moves
// the computed minimum about the exact one by less than what the noise is made for.
func TestMinimaAreWithinTheDistance(t *testing.T) {
	for _, r := range []Records{labelled(3, 4), labelled(400, 5)} {
		c := seal(t, r)
		m := Optimum{Ridge: 0.1, NoiseMultiplier: 1}
		o := optima(t, c, m, 20)
		theta := make([]float64, 2)
		for range 20 {
			if err := o.Release(theta); err != nil {
				t.Fatal(err)
			}
			computed, err := o.objective.Minimise(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			// Two further exact Newton steps square the error twice.
			exact := newtonSteps(o.objective, r, 1, 0.1, computed, 2)
			far := math.Hypot(computed[0]-exact[0], computed[1]-exact[1])
			if bound := m.distance(c.Facts()); far > bound {
				t.Errorf("%d records: the minimum is off by %v, the noise is made for %v", len(r.Y), far, bound)
			}
		}
	}
}

func newtonSteps(f erm.Objective, r Records, tau, ridge float64, theta []float64, n int) []float64 {
	theta = slices.Clone(theta)
	for range n {
		g, h := gradientAt(r, tau, ridge, theta), f.Hessian(theta)
		for j := range g {
			g[j] += f.B[j]
		}
		det := h.At(0, 0)*h.At(1, 1) - h.At(0, 1)*h.At(0, 1)
		theta[0] -= (h.At(1, 1)*g[0] - h.At(0, 1)*g[1]) / det
		theta[1] -= (h.At(0, 0)*g[1] - h.At(0, 1)*g[0]) / det
	}
	return theta
}

// TestOptimumPrice compares the charge with the proof's by hand.
func TestOptimumPrice(t *testing.T) {
	for _, adj := range []accountant.Adjacency{accountant.Substitute, accountant.AddRemove} {
		for _, rows := range []int{1, 3} {
			f := Facts{Records: 100, Features: 2, Response: true, Radius: 2, RowsPerPerson: rows, Adjacency: adj}
			m := Optimum{Temperature: 0.5, Ridge: 4, NoiseMultiplier: 6}
			got, err := m.Event(f)
			if err != nil {
				t.Fatal(err)
			}
			// σ = 2·6·τR = 12; a row's gradient is at most τR = 1, its curvature τR² = 2.
			sensitivity := 2 * float64(rows)
			if adj == accountant.AddRemove {
				sensitivity = float64(rows)
			}
			exact, err := accountant.Perturbation{NoiseMultiplier: 12 / sensitivity, Curvature: float64(rows) * 2 / 4,
				Logistic: true, Coordinates: 1}.Event(adj)
			if err != nil {
				t.Fatal(err)
			}
			for _, order := range []float64{1.5, 8, 40} {
				want := exact.RDP(order) + order*outputShare/(2*36)
				if g := got.RDP(order); g < want || g > want*(1+1e-7) {
					t.Errorf("%v, %d rows, order %v: %v, want %v", adj, rows, order, g, want)
				}
			}
		}
	}
}

// TestOptimaReplay: a release depends on the records through the tape alone.
func TestOptimaReplay(t *testing.T) {
	m := Optimum{Ridge: 1, NoiseMultiplier: 2}
	recorded := tape.New()
	o := optima(t, seal(t, labelled(40, 1), tape.Option(recorded).(Option)), m, 3)
	var want, got [3][2]float64
	for i := range want {
		if err := o.Release(want[i][:]); err != nil {
			t.Fatal(err)
		}
	}
	replayed := recorded.Rewind()
	o = optima(t, seal(t, labelled(40, 99), tape.Option(replayed).(Option)), m, 3)
	for i := range got {
		if err := o.Release(got[i][:]); err != nil {
			t.Fatal(err)
		}
	}
	if got != want || !replayed.Played() {
		t.Errorf("replayed over other records: %v, recorded %v", got, want)
	}
	if err := o.Release(got[0][:]); !errors.Is(err, ErrSpent) {
		t.Errorf("a fourth release of three: %v", err)
	}
}

// TestOptimumRefusals, none of which costs anything or looks at a record.
func TestOptimumRefusals(t *testing.T) {
	good, r := Optimum{Ridge: 1, NoiseMultiplier: 2}, labelled(20, 1)
	for name, spoil := range map[string]func(*Optimum, *Records){
		"no ridge":               func(m *Optimum, _ *Records) { m.Ridge = 0 },
		"NaN ridge":              func(m *Optimum, _ *Records) { m.Ridge = math.NaN() },
		"steep beside the ridge": func(m *Optimum, _ *Records) { m.Ridge = 0.999e-3 },
		"tiny ridge":             func(m *Optimum, _ *Records) { m.Ridge = 1e-300 },
		"no noise":               func(m *Optimum, _ *Records) { m.NoiseMultiplier = 0 },
		"too much":               func(m *Optimum, _ *Records) { m.NoiseMultiplier = 513 },
		"temperature 2":          func(m *Optimum, _ *Records) { m.Temperature = 2 },
		"no radius":              func(_ *Optimum, r *Records) { r.Radius = 0 },
		"no response":            func(_ *Optimum, r *Records) { r.Y = nil },
	} {
		m, r := good, r
		spoil(&m, &r)
		c := seal(t, r)
		if _, err := Charge(c, m, 1); err == nil {
			t.Errorf("%s: granted", name)
		}
		if spent, err := c.Budget().Spent(); err != nil || spent.Epsilon != 0 {
			t.Errorf("%s: ε = %v was charged (%v)", name, spent.Epsilon, err)
		}
	}
	o := optima(t, seal(t, r), good, 1)
	if err := o.Release(make([]float64, 3)); err == nil || o.Left() != 1 {
		t.Errorf("three coefficients for two features: error %v, %d left", err, o.Left())
	}
}

// TestOptimumOfWildRecords: whatever a table holds, a release is made.
func TestOptimumOfWildRecords(t *testing.T) {
	wild := []float64{math.NaN(), math.Inf(1), 1e300, -1e-300, 0, 1}
	r := Records{Features: 2, Radius: 1}
	for _, a := range wild {
		for _, b := range wild {
			for _, y := range wild {
				r.X, r.Y = append(r.X, a, b), append(r.Y, y)
			}
		}
	}
	for _, noise := range []float64{1e-3, 1, 512} {
		theta := make([]float64, 2)
		if err := optima(t, seal(t, r), Optimum{Ridge: 1e-3, NoiseMultiplier: noise}, 1).Release(theta); err != nil {
			t.Error(err)
		}
		if math.IsNaN(theta[0]+theta[1]) || math.IsInf(theta[0]+theta[1], 0) {
			t.Errorf("noise %v: released %v", noise, theta)
		}
	}
}

func BenchmarkOptimum(b *testing.B) {
	r := labelled(30_000, 3)
	o := optima(b, seal(b, r), Optimum{Ridge: 4, NoiseMultiplier: 9}, 1<<40)
	theta := make([]float64, 2)
	b.ReportAllocs()
	for b.Loop() {
		if err := o.Release(theta); err != nil {
			b.Fatal(err)
		}
	}
}

// TestOptimumGivesUpWhenCancelled: with ctx's error, and nothing written; the release is
// used up.
func TestOptimumGivesUpWhenCancelled(t *testing.T) {
	o := optima(t, seal(t, labelled(50, 1)), Optimum{Ridge: 2, NoiseMultiplier: 3}, 2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	theta := []float64{7, 7}
	if err := o.ReleaseContext(ctx, theta); !errors.Is(err, context.Canceled) || theta[0] != 7 || o.Left() != 1 {
		t.Errorf("cancelled: %v, released %v, %d left", err, theta, o.Left())
	}
	if err := o.Release(theta); err != nil || theta[0] == 7 {
		t.Errorf("after a cancelled release: %v, released %v", err, theta)
	}
}
