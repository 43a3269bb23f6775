package curator

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/convex"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// offScore says by how much −Ridge·(θ − centre) is off the score at θ plus b, where that is more
// than the noise on θ explains, at seven standard deviations.
func offScore(r Records, m Optimum, f Facts, theta, centre, b []float64) error {
	sd, err := m.OutputSD(f)
	if err != nil {
		return err
	}
	allowed := (float64(f.Records)*f.Radius*f.Radius/4 + m.Ridge) * 7 * sd * math.Sqrt(float64(f.Features))
	for j, g := range gradientAt(r, m.temperature(), 0, theta) {
		if off := g + b[j] + m.Ridge*(theta[j]-centre[j]); !(math.Abs(off) <= allowed) {
			return fmt.Errorf("the score and b at %v are off by %v, allowed is %v", theta, off, allowed)
		}
	}
	return nil
}

// TestReleaseAboutIsTheScore: the release about a point makes −Ridge·(θ₀ − centre) the score plus
// b, with the b of a release about 0. That one is Release, bit for bit, and is found out.
func TestReleaseAboutIsTheScore(t *testing.T) {
	for _, spherical := range []bool{false, true} {
		r, m := labelled(60, 3), Optimum{Ridge: 2, NoiseMultiplier: 0.05, Reach: 30, Spherical: spherical,
			Temperature: 0.5}
		grant := func() (*Optima, Facts) {
			c := seal(t, r)
			return optima(t, c, m, 2), c.Facts()
		}
		o, f := grant()
		plain := make([]float64, 2)
		if err := o.Release(plain); err != nil {
			t.Fatal(err)
		}
		b := slices.Clone(o.objective.B)
		for _, centre := range [][]float64{{0, 0}, {1, -2}, {-18, 23}} {
			o, _ := grant()
			theta := make([]float64, 2)
			if err := o.ReleaseAbout(t.Context(), theta, centre); err != nil {
				t.Fatal(err)
			}
			if err := offScore(r, m, f, theta, centre, b); err != nil {
				t.Errorf("about %v: %v", centre, err)
			}
			if zero := centre[0] == 0; slices.Equal(theta, plain) != zero {
				t.Errorf("about %v: %v, about 0: %v", centre, theta, plain)
			} else if !zero && offScore(r, m, f, plain, centre, b) == nil {
				t.Errorf("the release about 0 passes for that about %v", centre)
			}
			// The next release begins with its own b, about 0 again.
			if err := o.Release(theta); err != nil {
				t.Fatal(err)
			}
			if err := offScore(r, m, f, theta, []float64{0, 0}, o.objective.B); err != nil {
				t.Errorf("after one about %v: %v", centre, err)
			}
		}
	}
}

// TestMinimaAboutPointsAreWithinTheDistance: the noise on the release is made for how far a
// minimum about a centre can be computed from the exact one.
func TestMinimaAboutPointsAreWithinTheDistance(t *testing.T) {
	r := labelled(50, 4)
	c := seal(t, r)
	for _, reach := range []float64{1, 1e3} {
		m := Optimum{Ridge: 0.5, NoiseMultiplier: 1, Reach: reach}
		o, theta := optima(t, c, m, 10), make([]float64, 2)
		for i := range 10 {
			sin, cos := math.Sincos(float64(i))
			if err := o.ReleaseAbout(t.Context(), theta, []float64{0.999 * reach * sin, 0.999 * reach * cos}); err != nil {
				t.Fatal(err)
			}
			computed, err := o.objective.Minimise(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			exact := newtonSteps(o.objective, r, 1, m.Ridge, computed, 2)
			if far := math.Hypot(computed[0]-exact[0], computed[1]-exact[1]); far > m.distance(c.Facts()) {
				t.Errorf("the minimum is off by %v, the noise is made for %v", far, m.distance(c.Facts()))
			}
		}
	}
}

// TestReachCostsNothing: a Reach costs no privacy, and makes the noise that hides the distance
// from the minimum larger.
func TestReachCostsNothing(t *testing.T) {
	f := Facts{Records: 100, Features: 3, Response: true, Radius: 2, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	for _, spherical := range []bool{false, true} {
		near := Optimum{Ridge: 4, NoiseMultiplier: 6, Spherical: spherical}
		far := near
		far.Reach = 1e9
		a, err := near.Event(f)
		if err != nil {
			t.Fatal(err)
		}
		b, err := far.Event(f)
		if err != nil || a.RDP(8) != b.RDP(8) {
			t.Errorf("a reach changes the price from %v to %v (%v)", a.RDP(8), b.RDP(8), err)
		}
		if near.distance(f) >= far.distance(f) {
			t.Errorf("a reach of %v leaves the distance at %v", far.Reach, far.distance(f))
		}
	}
}

// roundingOfAbout says whether the distance that is hidden has room for rounding b − Λ·centre: what
// rounding takes off a point that is certified and off a linear term of that length.
func roundingOfAbout(m Optimum, f Facts, reach float64) error {
	const u = 0x1p-53
	s := m.shape(f)
	linear := m.noisy(f) + m.Ridge*reach
	if used, has := u*(s.Reach()+(s.Tolerance()+linear*(1+1e-6))/m.Ridge), 2*u*s.Reach(); used > has {
		return fmt.Errorf("rounding takes %v, the distance has %v for it", used, has)
	}
	if linear > s.Linear {
		return fmt.Errorf("the linear term may be %v long, the objective is made for %v", linear, s.Linear)
	}
	return nil
}

// TestAboutHasRoomForRounding, whatever the settings are. For a longer centre it has not.
func TestAboutHasRoomForRounding(t *testing.T) {
	power := func(t *rapid.T, least, most float64, name string) float64 {
		return math.Pow(10, rapid.Float64Range(least, most).Draw(t, "log10 of "+name))
	}
	var losses []convex.Loss
	for _, of := range []func() (convex.Loss, error){
		func() (convex.Loss, error) { return convex.Halved(), nil },
		func() (convex.Loss, error) { return convex.Poisson(1e6, 1e6) },
		func() (convex.Loss, error) { return convex.Poisson(1, 1) },
		func() (convex.Loss, error) { return convex.Probit(8) },
		func() (convex.Loss, error) { return convex.CLogLog(64) },
		func() (convex.Loss, error) { return convex.NegativeBinomial(1e6, 1e6, 1) },
		func() (convex.Loss, error) { return convex.NegativeBinomial(1e-3, 1, 1) },
	} {
		l, err := of()
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, l)
	}
	rapid.Check(t, func(t *rapid.T) {
		f := Facts{Records: int64(power(t, 0, 9.33, "records")), Features: rapid.IntRange(1, 4096).Draw(t, "features"),
			Response: true, Radius: power(t, -3, 3, "radius"), RowsPerPerson: 1, Adjacency: accountant.Substitute}
		m := Optimum{NoiseMultiplier: power(t, -20, 2.7, "noise"), Reach: power(t, -9, 9, "reach"),
			Spherical: rapid.Bool().Draw(t, "spherical"), Temperature: power(t, -3, 0, "temperature"),
			Loss: rapid.SampledFrom(losses).Draw(t, "loss")}
		m.Ridge = m.leastRidge(f) * power(t, 0.001, 6, "ridge over the least")
		if err := m.check(f); err != nil {
			t.Fatal(err)
		}
		if err := roundingOfAbout(m, f, m.Reach); err != nil {
			t.Fatal(err)
		}
		if m.Ridge*m.Reach > 1e-6*m.noisy(f) && roundingOfAbout(m, f, 2*m.Reach) == nil {
			t.Fatalf("a centre of twice the reach of %v is allowed for", m.Reach)
		}
	})
}

// TestAboutIsWithinTheLinearTerm: however long a centre within Reach is beside b, the objective is
// minimised. One that is made for b alone refuses it.
func TestAboutIsWithinTheLinearTerm(t *testing.T) {
	r := labelled(5, 6)
	rapid.Check(t, func(rt *rapid.T) {
		m := Optimum{Ridge: math.Pow(10, rapid.Float64Range(-1, 4).Draw(rt, "log10 of the ridge")),
			Reach:           math.Pow(10, rapid.Float64Range(-9, 9).Draw(rt, "log10 of the reach")),
			NoiseMultiplier: rapid.Float64Range(0.3, 10).Draw(rt, "noise"), Spherical: rapid.Bool().Draw(rt, "spherical")}
		sin, cos := math.Sincos(rapid.Float64Range(0, 7).Draw(rt, "direction"))
		centre := []float64{m.Reach * sin, m.Reach * cos}
		for record.Norm(centre) > m.Reach {
			centre[0], centre[1] = centre[0]*(1-0x1p-52), centre[1]*(1-0x1p-52)
		}
		o, theta := optima(t, seal(t, r), m, 1), []float64{math.NaN(), math.NaN()}
		if err := o.ReleaseAbout(t.Context(), theta, centre); err != nil || math.IsNaN(theta[0]+theta[1]) {
			rt.Fatalf("about %v within %v: %v, released %v", centre, m.Reach, err, theta)
		}
	})
	m := Optimum{Ridge: 10, NoiseMultiplier: 1, Reach: 1e6}
	c := seal(t, r)
	o := optima(t, c, m, 1)
	o.objective.Linear = m.noisy(c.Facts())
	defer func() {
		if recover() == nil {
			t.Error("an objective made for b alone has room for a far centre")
		}
	}()
	_ = o.ReleaseAbout(t.Context(), make([]float64, 2), []float64{1e6, 0})
}

// TestAboutRefusals: with nothing used up or charged.
func TestAboutRefusals(t *testing.T) {
	r, m := labelled(20, 1), Optimum{Ridge: 1, NoiseMultiplier: 2}
	for _, reach := range []float64{-1, math.Inf(1), math.NaN(), 1e250} {
		c := seal(t, r)
		m.Reach = reach
		if _, err := Charge(c, m, 1); err == nil {
			t.Errorf("a reach of %v was granted", reach)
		}
		if spent, err := c.Budget().Spent(); err != nil || spent.Epsilon != 0 {
			t.Errorf("a reach of %v: ε = %v was charged (%v)", reach, spent.Epsilon, err)
		}
	}
	for _, reach := range []float64{0, 2} {
		m.Reach = reach
		o, theta := optima(t, seal(t, r), m, 1), []float64{7, 7}
		for _, centre := range [][]float64{nil, {}, {0}, {0, 0, 0}, {0, math.NaN()}, {math.Inf(1), 0}, {1.5, 1.5},
			{0, -2.0000001}, {1e300, 0}} {
			if err := o.ReleaseAbout(t.Context(), theta, centre); err == nil || o.Left() != 1 || theta[0] != 7 {
				t.Errorf("about %v within %v: error %v, %d left, released %v", centre, reach, err, o.Left(), theta)
			}
		}
		if err := o.ReleaseAbout(t.Context(), theta, []float64{0, -reach}); err != nil || o.Left() != 0 {
			t.Errorf("about a point at the reach of %v: %v, %d left", reach, err, o.Left())
		}
	}
}

// TestReleaseAboutThroughAView: both at once are the release about that centre over mapped records.
func TestReleaseAboutThroughAView(t *testing.T) {
	r, m, centre := dyadic(30), Optimum{Ridge: 2, NoiseMultiplier: 0.1, Reach: 5}, []float64{3, -4}
	var released [2][2]float64
	for i, r := range []Records{r, viewed(r, skew, 1.75)} {
		m.View = nil
		if i == 0 {
			m.View = &View{Radius: 1.75, Matrix: skew}
		}
		if err := optima(t, seal(t, r), m, 1).ReleaseAbout(t.Context(), released[i][:], centre); err != nil {
			t.Fatal(err)
		}
	}
	if released[0] != released[1] {
		t.Errorf("through a view %v, of mapped records %v", released[0], released[1])
	}
}
