package curator

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/convex"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
)

// weightedSums are the integer sums of a table's matrices by any mechanism.
func weightedSums(t rapid.TB, m SecondMoment, r Records, theta []float64) []int64 {
	n := len(r.Y)
	f := Facts{Records: int64(n), Features: r.Features, Response: true, Radius: r.Radius, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
	o, err := newMoments(m, f, record.New(r.X, r.Features, r.Y, n, r.Radius))
	if err != nil {
		t.Fatal(err)
	}
	o.sum(theta)
	return slices.Clone(o.sums)
}

// TestWeightedMomentSensitivity is exact, in integers: whatever the rows, the
// responses and the point are, replacing a record moves the sums by no more than
// one noise multiplier stands for, and removing it by no more than its largest
// matrix. Weights above the bound are cut.
func TestWeightedMomentSensitivity(t *testing.T) {
	poisson, err := convex.Poisson(20, 5)
	if err != nil {
		t.Fatal(err)
	}
	probit, err := convex.Probit(3)
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]SecondMoment{
		"logistic": {Loss: convex.Logistic()}, "cut": {Loss: convex.Logistic(), Weight: 0.1},
		"halved": {Loss: convex.Halved()}, "Poisson": {Loss: poisson}, "probit": {Loss: probit}, "response": {Response: 2},
	} {
		m.NoiseMultiplier = 1
		rapid.Check(t, func(rt *rapid.T) {
			const dim = 2
			n := rapid.IntRange(1, 6).Draw(rt, "n")
			r := Records{
				X: rapid.SliceOfN(wild(), n*dim, n*dim).Draw(rt, "x"), Y: rapid.SliceOfN(wild(), n, n).Draw(rt, "y"),
				Features: dim, Radius: rapid.SampledFrom([]float64{0.3, 1, 7}).Draw(rt, "radius"),
			}
			other := Records{X: slices.Clone(r.X), Y: slices.Clone(r.Y), Features: dim, Radius: r.Radius}
			copy(other.X, rapid.SliceOfN(wild(), dim, dim).Draw(rt, "substitute"))
			other.Y[0] = wild().Draw(rt, "its response")
			theta := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), dim, dim).Draw(rt, "theta")
			if m.Response > 0 || rapid.Bool().Draw(rt, "without a point") {
				theta = nil
			}
			f := Facts{Features: dim, Radius: r.Radius}
			lattice := room.ExactGrid(m.largest(f))
			a := weightedSums(rt, m, r, theta)
			if moved := distance(a, weightedSums(rt, m, other, theta)); moved > m.steps(f, lattice) {
				rt.Fatalf("%s: substituting a record moved the sums by %v steps, charged are %v", name, moved, m.steps(f, lattice))
			}
			if n > 1 {
				r.X, r.Y = r.X[dim:], r.Y[1:]
				if moved := distance(a, weightedSums(rt, m, r, theta)); moved > lattice.Top {
					rt.Fatalf("%s: removing a record moved the sums by %v steps, more than %v", name, moved, lattice.Top)
				}
			}
		})
	}
}

// TestWeightedMomentSensitivityIsAttained: records of the largest weight and length in
// orthogonal directions are √2 of the top apart, so noise for less would not do.
func TestWeightedMomentSensitivityIsAttained(t *testing.T) {
	m := SecondMoment{Loss: convex.Logistic(), NoiseMultiplier: 1}
	one := weightedSums(t, m, Records{X: []float64{2, 0}, Y: []float64{1}, Features: 2, Radius: 2}, []float64{0, 0})
	two := weightedSums(t, m, Records{X: []float64{0, 2}, Y: []float64{1}, Features: 2, Radius: 2}, []float64{0, 0})
	if far := distance(one, two) / room.ExactGrid(1).Top; far < math.Sqrt2*(1-1e-6) {
		t.Errorf("orthogonal records are %v of the top apart, want √2", far)
	}
}

// TestMomentsOfTheExtendedRow and of weights: with noise of next to nothing the
// releases are the sums, computed here apart.
func TestMomentsOfTheExtendedRow(t *testing.T) {
	r := labelled(60, 3)
	r.Y[5], r.Y[6], r.Y[7] = math.NaN(), 40, -40
	c := seal(t, r)
	theta := []float64{0.7, -0.4}
	for name, m := range map[string]SecondMoment{
		"response": {Response: 2, NoiseMultiplier: 1e-4}, "weights": {Loss: convex.Logistic(), NoiseMultiplier: 1e-4},
	} {
		o, err := Charge(c, m, 1)
		if err != nil {
			t.Fatal(err)
		}
		d := m.Size(c.Facts())
		got, want := make([]float64, d*d), make([]float64, d*d)
		at := theta
		if !m.Loss.Valid() {
			at = nil
		}
		if err := o.Release(got, at); err != nil {
			t.Fatal(err)
		}
		for i, y := range r.Y {
			if math.IsNaN(y) {
				continue
			}
			z, w := slices.Clone(r.X[2*i:2*i+2]), 1.0
			if m.Response > 0 {
				z = append(z, max(-2, min(2, y))/m.ResponseUnit(c.Facts()))
			} else {
				p := 1 / (1 + math.Exp(-theta[0]*z[0]-theta[1]*z[1]))
				w = p * (1 - p)
			}
			for j := range z {
				for k := range z {
					want[j*d+k] += w * z[j] * z[k]
				}
			}
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-2 {
				t.Errorf("%s: entry %d is %v, want %v", name, i, got[i], want[i])
			}
		}
	}
}

func TestWeightedMomentRefusals(t *testing.T) {
	bare := Records{X: []float64{1, 0}, Features: 2, Radius: 1}
	for name, m := range map[string]SecondMoment{
		"loss without responses": {Loss: convex.Logistic(), NoiseMultiplier: 1},
		"response without any":   {Response: 1, NoiseMultiplier: 1},
		"negative weight":        {Weight: -1, NoiseMultiplier: 1},
		"NaN response":           {Response: math.NaN(), NoiseMultiplier: 1},
	} {
		if _, err := Charge(seal(t, bare), m, 1); err == nil {
			t.Errorf("%s: granted", name)
		}
	}
	if _, err := Charge(seal(t, labelled(5, 1)), SecondMoment{Loss: convex.Logistic(), Response: 1,
		NoiseMultiplier: 1}, 1); err == nil {
		t.Error("a loss and a response: granted")
	}
	o, err := Charge(seal(t, labelled(5, 1)), SecondMoment{Loss: convex.Logistic(), NoiseMultiplier: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, theta := range [][]float64{{}, {1}, {1, math.NaN()}} {
		if err := o.Release(make([]float64, 4), theta); err == nil || o.Left() != 1 {
			t.Errorf("weights at %v: error %v, %d left", theta, err, o.Left())
		}
	}
}

// TestOptimumOfOtherLosses: with every loss of the table the released point makes the
// gradient −b, so that −Λθ₀ is the noisy score that ScoreSD says; the sum of squares
// of 600 normals is within 6 standard errors of 600 (false alarm 10⁻⁸), which one
// whose slopes were taken as bounded by 1 instead would not be.
func TestOptimumOfOtherLosses(t *testing.T) {
	table := map[string]func() (convex.Loss, error){
		"halved":         func() (convex.Loss, error) { return convex.Halved(), nil },
		"halved probit":  func() (convex.Loss, error) { return convex.HalvedProbit(), nil },
		"halved cloglog": func() (convex.Loss, error) { return convex.HalvedCLogLog(), nil },
		"halved loglog":  func() (convex.Loss, error) { return convex.HalvedCLogLog().Mirrored(), nil },
		"probit":         func() (convex.Loss, error) { return convex.Probit(3) },
		"cloglog":        func() (convex.Loss, error) { return convex.CLogLog(2) },
		"Poisson":        func() (convex.Loss, error) { return convex.Poisson(8, 5) },
		"nb":             func() (convex.Loss, error) { return convex.NegativeBinomial(2, 8, 8) },
	}
	r := labelled(60, 9)
	for i := range r.Y {
		r.Y[i] *= float64(1 + i%11)
	}
	r.Y[4] = math.Inf(1)
	for name, build := range table {
		loss, err := build()
		if err != nil {
			t.Fatal(err)
		}
		m := Optimum{Loss: loss, Ridge: 6, NoiseMultiplier: 3}
		c := seal(t, r)
		sd, err := m.ScoreSD(c.Facts())
		if err != nil || sd != 6*loss.MaxSlope() {
			t.Fatalf("%s: ScoreSD is %v (%v)", name, sd, err)
		}
		o, squares, theta := optima(t, c, m, 300), 0.0, make([]float64, 2)
		for range 300 {
			if err := o.Release(theta); err != nil {
				t.Fatal(err)
			}
			for j, v := range theta {
				g := m.Ridge * v
				for i, y := range r.Y {
					g += loss.Slope(theta[0]*r.X[2*i]+theta[1]*r.X[2*i+1], y) * r.X[2*i+j]
				}
				if math.Abs(g+o.objective.B[j]) > 0.02*sd {
					t.Fatalf("%s: the gradient at the release is %v, −b is %v", name, g, -o.objective.B[j])
				}
				squares += g * g / (sd * sd)
			}
		}
		if math.Abs(squares-600) > 6*math.Sqrt(2*600) {
			t.Errorf("%s: 600 squared scores add up to %v standard deviations squared", name, squares)
		}
	}
}

// TestMomentsWithoutAPoint: a mechanism with a Loss releases plain second moments where no
// point is given, times the bound on weights, which the noise is for.
func TestMomentsWithoutAPoint(t *testing.T) {
	r := Records{X: []float64{1, 0.5, -0.25, 1}, Y: []float64{1, 0}, Features: 2, Radius: 2}
	m := SecondMoment{Loss: convex.Logistic(), NoiseMultiplier: 1}
	got := weightedSums(t, m, r, nil)
	for i, want := range []float64{1.0625, 0.25 * math.Sqrt2, 1.25} { // Σ of the triangle of xxᵀ
		if v := float64(got[i]) * room.ExactGrid(1).Step; math.Abs(v-want/4) > 1e-6 {
			t.Errorf("entry %d is %v, a quarter of the plain one is %v", i, v, want/4)
		}
	}
}
