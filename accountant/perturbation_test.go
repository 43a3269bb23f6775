package accountant

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant/pld"
	"github.com/dpmcmc/dpmcmc/internal/convex"
)

// perturbed tabulates the log density, with respect to u, of the exact minimum
// θ = sinh u of a one-dimensional objective: rows x with the sign of their label, a
// ridge and a normal linear term. The grid is fine where rows curve the objective
// and reaches 12 standard deviations of the minimum.
func perturbed(loss convex.Loss, rows []float64, ridge, sigma float64) (table []float64, step float64) {
	const points = 3000
	step = math.Asinh(40+12*sigma/ridge) / points
	for i := -points; i <= points; i++ {
		u := float64(i) * step
		theta := math.Sinh(u)
		slope, curvature := ridge*theta, ridge
		for _, x := range rows {
			slope += loss.Slope(x*theta, 1) * x
			curvature += loss.Curvature(x*theta, 1) * x * x
		}
		table = append(table, -slope*slope/(2*sigma*sigma)+math.Log(curvature)-math.Log(sigma*math.Sqrt(2*math.Pi))+
			math.Log(math.Cosh(u)))
	}
	return table, step
}

// divergence is the Rényi divergence of two tabulated densities.
func divergence(p, q []float64, step, order float64) float64 {
	top := math.Inf(-1)
	for i := range p {
		top = max(top, order*p[i]+(1-order)*q[i])
	}
	sum := 0.0
	for i := range p {
		sum += math.Exp(order*p[i]+(1-order)*q[i]-top) * step
	}
	return (math.Log(sum) + top) / (order - 1)
}

// people are the rows, between −1 and 1, that one person may have.
func people(rows int) (all [][]float64) {
	values := []float64{-1, -0.4, 0, 0.7, 1}
	for i, a := range values {
		if rows == 1 {
			all = append(all, []float64{a})
			continue
		}
		for _, b := range values[i:] {
			all = append(all, []float64{a, b})
		}
	}
	return all
}

// TestObjectivePerturbationCoversEveryPair: over all adjacent pairs of
// one-dimensional data sets, under both losses that it is for, with one and with two rows a person and another
// person's row beside them, the Rényi divergences of the exact minimum are within
// the curve, in both directions. They are not within a curve without the
// determinant's term, or with half the sensitivity.
func TestObjectivePerturbationCoversEveryPair(t *testing.T) {
	broken := map[string]int{}
	for _, c := range []struct {
		loss         convex.Loss
		ridge, sigma float64
	}{{convex.Logistic(), 0.05, 50}, {convex.Logistic(), 0.05, 1.5}, {convex.Logistic(), 0.3, 1},
		{convex.Logistic(), 0.3, 3}, {convex.Logistic(), 2, 1}, {convex.Logistic(), 5, 100},
		{convex.Halved(), 0.05, 0.75}, {convex.Halved(), 0.3, 0.5}, {convex.Halved(), 2, 0.5}} {
		for _, rows := range []int{1, 2} {
			var tables [][]float64
			for _, mine := range people(rows) {
				table, _ := perturbed(c.loss, append([]float64{0.6}, mine...), c.ridge, c.sigma)
				tables = append(tables, table)
			}
			without, step := perturbed(c.loss, []float64{0.6}, c.ridge, c.sigma)
			checkDeltas(t, tables, without, step, c.sigma/(float64(rows)*c.loss.MaxSlope()), float64(rows)/c.ridge,
				logisticOptimum, broken)
			for _, order := range []float64{1.2, 2, 5, 20} {
				replaced, added := 0.0, 0.0
				for _, p := range tables {
					for _, q := range tables {
						replaced = max(replaced, divergence(p, q, step, order))
					}
					added = max(added, divergence(p, without, step, order), divergence(without, p, step, order))
				}
				curvature := float64(rows) / c.ridge
				for adj, worst := range map[Adjacency]float64{Substitute: replaced, AddRemove: added} {
					sensitivity := float64(rows) * c.loss.MaxSlope()
					if adj == Substitute {
						sensitivity *= 2
					}
					m := c.sigma / sensitivity
					if bound := must(logisticOptimum(adj, m, curvature)).RDP(order); worst > bound {
						t.Errorf("%v, Λ = %v, σ = %v, %d rows: D_%v = %v, bound %v", adj, c.ridge, c.sigma, rows, order, worst, bound)
					}
					for name, e := range map[string]Event{
						"no determinant":       must(logisticOptimum(adj, m, 0)),
						"half the sensitivity": must(logisticOptimum(adj, 2*m, curvature)),
					} {
						if worst > e.RDP(order)*1.01 {
							broken[name]++
						}
					}
				}
			}
		}
	}
	t.Logf("wrong curves broken: %v", broken)
	if len(broken) != 9 {
		t.Errorf("of the wrong curves and profiles only %v were exceeded", broken)
	}
}

// checkDeltas compares δ(ε) of every pair with the profile that is composed numerically, and
// counts wrong profiles that are exceeded. multiplier is that under add/remove.
func checkDeltas(t *testing.T, tables [][]float64, without []float64, step, multiplier, curvature float64,
	optimum func(adj Adjacency, multiplier, curvature float64) (Event, error), broken map[string]int) {
	t.Helper()
	for _, eps := range []float64{0.01, 0.1, 0.4, 1, 2, 4} {
		worst, pairs := map[Adjacency]float64{}, map[Adjacency][2][]float64{}
		look := func(adj Adjacency, p, q []float64) {
			if delta := crossing(p, q, step, eps); delta >= worst[adj] {
				worst[adj], pairs[adj] = delta, [2][]float64{p, q}
			}
		}
		for _, p := range tables {
			for _, q := range tables {
				look(Substitute, p, q)
			}
			look(AddRemove, p, without)
			look(AddRemove, without, p)
		}
		for adj, delta := range worst {
			m := multiplier
			if adj == Substitute {
				m /= 2
			}
			for _, beside := range [][2]float64{{0, 0}, {0.3, 0.2}, {1, 0}} {
				delta := besideBit(pairs[adj][0], pairs[adj][1], step, eps, beside[0], beside[1])
				bound := func(m, curvature float64) float64 {
					return composedDelta(adj, must(optimum(adj, m, curvature)), eps, beside[0], beside[1])
				}
				if b := bound(m, curvature); delta > b*(1+1e-6)+1e-12 {
					t.Errorf("%v, m = %v, Γ = %v beside %v: δ(%v) = %v, bound %v", adj, m, curvature, beside, eps, delta, b)
				}
				if delta > bound(m, 0)*1.01+1e-12 {
					broken["no determinant, composed"]++
				}
				if delta > bound(2*m, curvature)*1.01+1e-12 {
					broken["half the sensitivity, composed"]++
				}
			}
			again := func(m, curvature float64, times int64) float64 {
				d, _ := must(must(optimum(adj, m, curvature)).Times(times)).dominated()
				return d.delta(eps)
			}
			both := twice(pairs[adj][0], pairs[adj][1], step, eps)
			if b := again(m, curvature, 2); both > b*(1+1e-6)+1e-12 {
				t.Errorf("%v, m = %v, Γ = %v, twice: δ(%v) = %v, bound %v", adj, m, curvature, eps, both, b)
			}
			for name, wrong := range map[string]float64{"no determinant, twice": again(m, 0, 2),
				"half the sensitivity, twice": again(2*m, curvature, 2), "two for one": again(m, curvature, 1)} {
				if both > wrong*1.01+1e-12 {
					broken[name]++
				}
			}
			profile := func(m, curvature float64) float64 {
				r, err := must(optimum(adj, m, curvature)).Numerical(pld.AtEpsilon(eps))
				if err != nil {
					t.Fatal(err)
				}
				return r.Delta(eps)
			}
			if bound := profile(m, curvature); delta > bound*(1+1e-6)+1e-12 {
				t.Errorf("%v, m = %v, Γ = %v: δ(%v) = %v, bound %v", adj, m, curvature, eps, delta, bound)
			}
			if delta > profile(m, 0)*1.01+1e-12 {
				broken["no determinant, δ"]++
			}
			if delta > profile(2*m, curvature)*1.01+1e-12 {
				broken["half the sensitivity, δ"]++
			}
		}
	}
}

// crossing is δ(ε) of a pair of tables.
func crossing(p, q []float64, step, eps float64) float64 {
	sum := 0.0
	for i := range p {
		sum += max(0, math.Exp(p[i])-math.Exp(eps+q[i])) * step
	}
	return sum
}

// twice is δ(ε) of a pair of tables beside the same pair again, on every sixth point.
func twice(p, q []float64, step, eps float64) float64 {
	var left, right []float64
	for i := 0; i < len(p); i += 6 {
		left, right = append(left, math.Exp(p[i])*6*step), append(right, math.Exp(q[i])*6*step)
	}
	sum := 0.0
	for i, a := range left {
		if ratio := math.Exp(eps) * right[i]; a > 0 {
			for j, b := range left {
				sum += max(0, a*b-ratio*right[j])
			}
		}
	}
	return sum
}

// besideBit is δ(ε) of a pair of tables beside a Gaussian release of µ and a bit whose
// log-odds move from −move/2 to move/2.
func besideBit(p, q []float64, step, eps, mu, move float64) float64 {
	one, sum := logistic(move/2), 0.0
	for i := range p {
		left := eps - p[i] + q[i]
		sum += math.Exp(p[i]) * step *
			(one*gaussianDelta(mu, left-move/2) + (1-one)*gaussianDelta(mu, left+move/2))
	}
	return sum
}

// composedDelta is the bound on that.
func composedDelta(adj Adjacency, e Event, eps, mu, move float64) float64 {
	if mu > 0 {
		e = must(Compose(e, must(Gaussian(adj, 1/mu))))
	}
	if move > 0 {
		if adj == Substitute {
			move /= 2
		}
		e = must(Compose(e, must(Bit{Contribution: move}.Event(adj))))
	}
	d, ok := e.dominated()
	if !ok {
		return 0
	}
	return d.delta(eps)
}

// TestFoldedExpectation compares chords and closed forms with quadrature: never
// below it, and above by no more than the chords' gap t/4·32².
func TestFoldedExpectation(t *testing.T) {
	for _, k := range []float64{0.05, 1, 7, 60} {
		for _, s := range []float64{0.01, 0.3, 2} {
			for _, curved := range []float64{0, 1e-3, 0.1, 1, 5} {
				f := func(y float64) float64 {
					switch {
					case y < -curved:
						return 0
					case y > curved:
						return y
					}
					if curved == 0 {
						return 0
					}
					return (y + curved) * (y + curved) / (4 * curved)
				}
				top, step := k*k*s*s/2+k*curved, 2e-4
				sum := 0.0
				for z := -9.0; z < k*s+9; z += step {
					sum += math.Exp(k*f(s*z)-z*z/2-top) * step / math.Sqrt(2*math.Pi)
				}
				want := math.Log(sum) + top
				got := logFolded(k, s, curved)
				if got < want-1e-7 || got > want+k*curved/(4*foldedCells*foldedCells)+1e-7 {
					t.Errorf("k = %v, s = %v, t = %v: %v, quadrature %v", k, s, curved, got, want)
				}
			}
		}
	}
}

// TestObjectivePerturbationLimits: without curvature a two-sided fold of the
// Gaussian mechanism, never below it; without noise nothing; and with noise that
// drowns everything the determinant alone.
func TestObjectivePerturbationLimits(t *testing.T) {
	for _, adj := range []Adjacency{Substitute, AddRemove} {
		flat := must(logisticOptimum(adj, 10, 0))
		for _, order := range []float64{1.001, 1.5, 10, 100} {
			x := max(order-1, lowestExcess) / 10
			want := 0.005 + math.Log(0.5+math.Exp(x*x/2)*math.Erfc(-x/math.Sqrt2)/2)/max(order-1, lowestExcess)
			if got := flat.RDP(order); got < want*(1-1e-12) || got > want*(1+1e-8) || got < order*0.005 {
				t.Errorf("%v, order %v: %v, want %v", adj, order, got, want)
			}
		}
		if e := must(logisticOptimum(adj, 0, 1)); !math.IsInf(e.RDP(2), 1) {
			t.Errorf("%v: no noise costs %v", adj, e.RDP(2))
		}
		if e := must(logisticOptimum(adj, math.Inf(1), 1)); math.Abs(e.RDP(math.Inf(1))-0.25) > 1e-9 {
			t.Errorf("%v: infinite noise costs %v, want a quarter of the curvature", adj, e.RDP(math.Inf(1)))
		}
		if e := must(logisticOptimum(adj, 1, 0)); !math.IsInf(e.RDP(math.Inf(1)), 1) {
			t.Errorf("%v: a pure cost of %v", adj, e.RDP(math.Inf(1)))
		}
	}
	for _, bad := range [][2]float64{{-1, 1}, {math.NaN(), 1}, {1, -1}, {1, math.NaN()}, {1, math.Inf(1)}} {
		if _, err := logisticOptimum(Substitute, bad[0], bad[1]); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

// TestOptimaChargeTheirGrid: however little the linear term reveals, the grid on which
// it is drawn is charged, as its proof has it, at every order.
func TestOptimaChargeTheirGrid(t *testing.T) {
	for _, adj := range []Adjacency{AddRemove, Substitute} {
		for _, e := range []Event{must(logisticOptimum(adj, 1e200, 0)), must(convexOptimum(adj, 1e200, 0)),
			must(logisticOptimum(adj, math.Inf(1), 0)), must(convexOptimum(adj, math.Inf(1), 0))} {
			for _, order := range []float64{1.05, 1.5, 2, 64} {
				if want := (2 + 1/(order-1)) * mostPerturbed * 0x1p-57; !(e.RDP(order) >= want*(1-1e-12)) {
					t.Errorf("%v at order %v costs %v, its grid alone %v", e, order, e.RDP(order), want)
				}
			}
		}
	}
}

// TestObjectivePerturbationByPerson: the chain of a person's rows, or of a removal
// and an addition, costs about what stating them in the two numbers does, and JSON
// keeps the event.
func TestObjectivePerturbationByPerson(t *testing.T) {
	one := must(logisticOptimum(AddRemove, 6, 0.2))
	three, want := must(one.Group(3)), must(logisticOptimum(AddRemove, 2, 0.6))
	swapped, wanted := must(one.Substitution()), must(logisticOptimum(Substitute, 3, 0.2))
	for _, order := range []float64{1.5, 8, 40} {
		if math.Abs(three.RDP(order)/want.RDP(order)-1) > 0.3 || math.Abs(swapped.RDP(order)/wanted.RDP(order)-1) > 0.3 {
			t.Errorf("order %v: a group costs %v, want %v; substitution %v, want %v", order, three.RDP(order), want.RDP(order),
				swapped.RDP(order), wanted.RDP(order))
		}
	}
	document, err := json.Marshal(three)
	if err != nil {
		t.Fatal(err)
	}
	var back Event
	if err := json.Unmarshal(document, &back); err != nil || !back.Equal(three) {
		t.Errorf("%s reads back as %v (%v)", document, back, err)
	}
}

// TestConvexPerturbationCoversEveryPair is the same for losses of bounded slope and
// curvature: Huber's loss of the residual y − xθ, whose slopes have both signs and
// whose curvature is whole up to the cap. Without the determinant's term, without the
// fold, or with half the sensitivity the curve is exceeded.
func TestConvexPerturbationCoversEveryPair(t *testing.T) {
	type row struct{ x, y float64 }
	mine := []row{{-1, 2}, {1, 2}, {1, -2}, {0.6, 0.3}, {1, 0}, {0, 0}, {-0.8, -1}}
	tabulate := func(rows []row, ridge, sigma float64) (table []float64, step float64) {
		const points = 6000
		step = math.Asinh(20+12*sigma/ridge) / points
		for i := -points; i <= points; i++ {
			u := float64(i) * step
			theta := math.Sinh(u)
			slope, curvature := ridge*theta, ridge
			for _, r := range rows {
				s := r.x*theta - r.y
				slope += r.x * max(-1, min(1, s))
				if math.Abs(s) < 1 {
					curvature += r.x * r.x
				}
			}
			table = append(table, -slope*slope/(2*sigma*sigma)+math.Log(curvature)-math.Log(sigma*math.Sqrt(2*math.Pi))+
				math.Log(math.Cosh(u)))
		}
		return table, step
	}
	broken := map[string]int{}
	for _, c := range []struct{ ridge, sigma float64 }{{0.3, 1}, {0.3, 30}, {2, 1}, {2, 4}, {20, 6}} {
		var tables [][]float64
		for _, r := range mine {
			table, _ := tabulate([]row{{0.6, 0.2}, r}, c.ridge, c.sigma)
			tables = append(tables, table)
		}
		without, step := tabulate([]row{{0.6, 0.2}}, c.ridge, c.sigma)
		checkDeltas(t, tables, without, step, c.sigma, 1/c.ridge, convexOptimum, broken)
		for _, order := range []float64{1.2, 2, 5, 20} {
			replaced, added := 0.0, 0.0
			for _, p := range tables {
				for _, q := range tables {
					replaced = max(replaced, divergence(p, q, step, order))
				}
				added = max(added, divergence(p, without, step, order), divergence(without, p, step, order))
			}
			for adj, worst := range map[Adjacency]float64{Substitute: replaced, AddRemove: added} {
				m := c.sigma
				if adj == Substitute {
					m /= 2
				}
				if bound := must(convexOptimum(adj, m, 1/c.ridge)).RDP(order); worst > bound {
					t.Errorf("%v, Λ = %v, σ = %v: D_%v = %v, bound %v", adj, c.ridge, c.sigma, order, worst, bound)
				}
				for name, e := range map[string]Event{
					"no determinant":       must(convexOptimum(adj, m, 0)),
					"half the sensitivity": must(convexOptimum(adj, 2*m, 1/c.ridge)),
				} {
					if worst > e.RDP(order)*1.01 {
						broken[name]++
					}
				}
			}
		}
	}
	if t.Logf("wrong curves broken: %v", broken); len(broken) != 9 {
		t.Errorf("of the wrong curves and profiles only %v were exceeded", broken)
	}
}

// TestConvexPerturbationLimits: no noise, no cost of noise, and the order's limit.
func TestConvexPerturbationLimits(t *testing.T) {
	if e := must(convexOptimum(AddRemove, math.Inf(1), 0.4)); math.Abs(e.RDP(3)-0.4) > 1e-12 {
		t.Errorf("without a linear part: %v", e.RDP(3))
	}
	if e := must(convexOptimum(AddRemove, 0, 0)); !math.IsInf(e.RDP(3), 1) {
		t.Errorf("without noise: %v", e.RDP(3))
	}
	// E exp(K·s|N|) by quadrature.
	const s, k = 0.3, 6.0
	sum := 0.0
	for z := -40.0; z < 40; z += 1e-3 {
		sum += 1e-3 * math.Exp(k*s*math.Abs(z)-z*z/2) / math.Sqrt(2*math.Pi)
	}
	want := s*s/2 + math.Log(sum)/k + 0.1
	if got := must(convexOptimum(Substitute, 1/s, 0.1)).RDP(k + 1); math.Abs(got-want) > 1e-6 {
		t.Errorf("the curve at order 7 is %v, quadrature gives %v", got, want)
	}
	for _, bad := range [][2]float64{{-1, 0}, {math.NaN(), 0}, {1, -1}, {1, math.Inf(1)}} {
		if _, err := convexOptimum(Substitute, bad[0], bad[1]); err == nil {
			t.Errorf("ConvexPerturbation(%v) was taken", bad)
		}
	}
}
