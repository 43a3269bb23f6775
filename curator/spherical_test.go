package curator

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/convex"
)

// TestSphericalPriceCoversEveryPair: in one dimension the exact minimum θ has density
// e^(−|G(θ)|/s)·G′(θ)/2s, G the gradient without b. Over all pairs of data sets, with one
// and two rows a person and another person's row beside them, log densities differ by no
// more than the price, which is attained up to a tenth; that for half the sensitivity is
// exceeded, and at a small ridge that without the determinant.
func TestSphericalPriceCoversEveryPair(t *testing.T) {
	density := func(loss convex.Loss, rows []float64, ridge, s, theta float64) float64 {
		slope, curvature := ridge*theta, ridge
		for _, x := range rows {
			slope += loss.Slope(x*theta, 1) * x
			curvature += loss.Curvature(x*theta, 1) * x * x
		}
		return math.Log(curvature) - math.Abs(slope)/s
	}
	for _, c := range []struct {
		ridge, multiplier float64
		loss              convex.Loss
	}{{4, 2, convex.Logistic()}, {0.4, 0.2, convex.Logistic()}, {0.1, 2, convex.Logistic()}, {0.5, 4, convex.Logistic()},
		{4, 2, convex.Halved()}, {0.1, 2, convex.Halved()}} {
		for _, rows := range []int{1, 2} {
			m := Optimum{Loss: c.loss, Ridge: c.ridge, NoiseMultiplier: c.multiplier, Spherical: true}
			s := 2 * c.multiplier * c.loss.MaxSlope()
			for _, adj := range []accountant.Adjacency{accountant.Substitute, accountant.AddRemove} {
				f := Facts{Records: 3, Features: 1, Response: true, Radius: 1, RowsPerPerson: rows, Adjacency: adj}
				event, err := m.Event(f)
				if err != nil {
					t.Fatal(err)
				}
				price := event.Mechanisms()[0].Params["epsilon"]
				worst := 0.0
				for _, mine := range signed(rows) {
					others := signed(rows)
					if adj == accountant.AddRemove {
						others = [][]float64{nil}
					}
					for _, other := range others {
						for u := -6.0; u <= 6; u += 0.02 {
							theta := math.Sinh(u)
							worst = max(worst, math.Abs(density(c.loss, append([]float64{0.3}, mine...), c.ridge, s, theta)-
								density(c.loss, append([]float64{0.3}, other...), c.ridge, s, theta)))
						}
					}
				}
				linear := float64(rows) / c.multiplier
				if adj == accountant.AddRemove {
					linear /= 2
				}
				switch {
				case worst > price:
					t.Errorf("%+v, %v, %d rows: log ratio %v, price %v", c, adj, rows, worst, price)
				case c.ridge >= 2*c.multiplier && price > linear*(1+1e-6):
					t.Errorf("%+v, %v, %d rows: price %v, linear part %v", c, adj, rows, price, linear)
				case c.ridge >= 2*c.multiplier && adj == accountant.AddRemove && worst < 0.9*price:
					t.Errorf("%+v, %v, %d rows: log ratio %v, price %v, linear part %v", c, adj, rows, worst, price, linear)
				case c.ridge < 0.2 && worst < linear:
					t.Errorf("%+v, %v, %d rows: the determinant is not seen: %v", c, adj, rows, worst)
				}
			}
		}
	}
}

// signed are rows with the signs of their labels that one person may have.
func signed(rows int) (all [][]float64) {
	values := []float64{-1, -0.4, 0, 0.7, 1}
	for _, a := range values {
		if rows == 1 {
			all = append(all, []float64{a})
			continue
		}
		for _, b := range values {
			all = append(all, []float64{a, b})
		}
	}
	return all
}

// TestSphericalLaw: the norm of the linear term over its scale is Gamma(d, 1), within the
// bound of Dvoretzky, Kiefer and Wolfowitz at 10⁻⁷, and a coordinate has the variance that
// ScoreSD says within 6 standard errors. Of a normal term neither is so.
func TestSphericalLaw(t *testing.T) {
	const d, draws = 3, 4000
	norms := func(spherical bool) (distance, variance, stated float64) {
		m := Optimum{Ridge: 4, NoiseMultiplier: 2, Spherical: spherical}
		records := labelled(5, 1)
		records.X, records.Features = make([]float64, 5*d), d
		c := seal(t, records)
		o, err := Charge(c, m, 1)
		if err != nil {
			t.Fatal(err)
		}
		sd, err := m.ScoreSD(c.Facts())
		if err != nil {
			t.Fatal(err)
		}
		var lengths []float64
		for range draws {
			o.draw()
			square := 0.0
			for _, b := range o.objective.B {
				square += b * b
			}
			lengths = append(lengths, math.Sqrt(square)/o.sd)
			variance += o.objective.B[0] * o.objective.B[0] / draws
		}
		slices.Sort(lengths)
		for i, v := range lengths {
			p := mathext.GammaIncReg(d, v)
			distance = max(distance, math.Abs(p-float64(i)/draws), math.Abs(p-float64(i+1)/draws))
		}
		return distance, variance, sd * sd
	}
	limit := math.Sqrt(math.Log(2/1e-7) / (2 * draws))
	distance, variance, stated := norms(true)
	if distance > limit {
		t.Errorf("the norm is %v from Gamma(%d), at most %v is chance", distance, d, limit)
	}
	// The square of a coordinate has 3.5 times the mean's square as its variance: kurtosis
	// 3(d+3)/(d+1) = 4.5.
	if off := math.Abs(variance/stated-1) / math.Sqrt(3.5/draws); off > 6 {
		t.Errorf("variance %v, stated %v: %v standard errors", variance, stated, off)
	}
	if distance, _, _ := norms(false); distance < limit {
		t.Error("the test takes a normal term for a spherical one")
	}
}

// TestSphericalRelease: the released point makes the gradient −b up to OutputSD, and the
// event is the pure price with the output's.
func TestSphericalRelease(t *testing.T) {
	m := Optimum{Ridge: 4, NoiseMultiplier: 2, Spherical: true}
	c := seal(t, labelled(50, 1))
	event, err := m.Event(c.Facts())
	if err != nil {
		t.Fatal(err)
	}
	g, err := event.Epsilon(1e-9)
	if err != nil || !(g.Epsilon > 0.5 && g.Epsilon < 0.55) {
		t.Errorf("a multiplier of 2 costs %v (%v), ½ for the linear term and little for the output", g.Epsilon, err)
	}
	o, err := Charge(c, m, 1)
	if err != nil {
		t.Fatal(err)
	}
	theta := make([]float64, c.Facts().Features)
	if err := o.Release(theta); err != nil {
		t.Fatal(err)
	}
	sd, err := m.OutputSD(c.Facts())
	if err != nil {
		t.Fatal(err)
	}
	exact, err := o.objective.Minimise(t.Context()) // of the same b
	if err != nil {
		t.Fatal(err)
	}
	for j, v := range theta {
		if off := math.Abs(v - exact[j]); off > 9*sd || off == 0 {
			t.Errorf("coordinate %d is %v from the minimum, the noise on it is %v", j, off, sd)
		}
	}
}
