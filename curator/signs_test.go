package curator

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/targets"
)

func grantSigns(t testing.TB, c *Curator, m GradientSigns, count int64) *Signs {
	t.Helper()
	s, err := Charge(c, m, count)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSignFrequency holds the frequency of forward moves to the probability
// given the move's size. False-alarm rate: 6 standard errors, 2·10⁻⁹.
func TestSignFrequency(t *testing.T) {
	const n = 40_000
	// One coordinate; records whose loss gradients are 0.5 and −0.2 at clip 1.
	c := seal(t, Records{X: []float64{0.5, -0.2}, Features: 1})
	s := grantSigns(t, c, GradientSigns{Target: newToy(1), Clip: 1, Scale: 2}, n)
	var z, variance, mutant float64
	next := []float64{0}
	for range n {
		if ok, err := s.Move(next, []float64{0}); err != nil || !ok {
			t.Fatal(ok, err)
		}
		size := math.Abs(next[0])
		forward := 0.0
		if next[0] > 0 {
			forward = 1
		}
		p := 1 / (1 + math.Exp(size*0.3)) // the log posterior falls by 0.3 a unit
		z += forward - p
		mutant += forward - 1/(1+math.Exp(-size*0.3))
		variance += p * (1 - p)
	}
	if math.Abs(z) > 6*math.Sqrt(variance) {
		t.Errorf("forward moves are off by %v standard errors", z/math.Sqrt(variance))
	}
	if math.Abs(mutant) < 6*math.Sqrt(variance) {
		t.Error("the test does not tell the gradient's sign")
	}
}

// TestAdjustmentMovesByAtMostSixTimesTheClip is the sensitivity of the acceptance
// in its log-odds: substituting a record moves them by at most 6·Clip·‖w‖ plus
// what is charged for rounding, whatever the records.
func TestAdjustmentMovesByAtMostSixTimesTheClip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const dim = 3
		n := rapid.IntRange(1, 20).Draw(rt, "n")
		x := rapid.SliceOfN(wild(), n*dim, n*dim).Draw(rt, "x")
		y := append([]float64(nil), x...)
		copy(y, rapid.SliceOfN(wild(), dim, dim).Draw(rt, "substitute"))
		clip := rapid.Float64Range(1e-3, 10).Draw(rt, "clip")
		theta, step := make([]float64, dim), make([]float64, dim)
		for j := range theta {
			theta[j] = rapid.Float64Range(-5, 5).Draw(rt, "theta")
			step[j] = rapid.Float64Range(-2, 2).Draw(rt, "step")
		}
		public := rapid.Float64Range(-50, 50).Draw(rt, "public")
		moved := math.Abs(adjusted(rt, x, clip, theta, step, public) - adjusted(rt, y, clip, theta, step, public))
		if most := 2 * (room.Padded(further*clip*record.Norm(step)) + dim*room.AdditiveSlack); moved > most {
			rt.Fatalf("substituting a record moved the log-odds by %v, more than %v", moved, most)
		}
	})
	// A long record that turns round across the move: its gradient is clipped far more
	// than its ratio, which so moves by 2 with next to nothing from the signs.
	step := []float64{0.01, 0.5, -0.5}
	there := adjusted(t, []float64{1e3, 0, 0, 1, 1, 1}, 1, make([]float64, 3), step, 0)
	back := adjusted(t, []float64{-1e3, 0, 0, 1, 1, 1}, 1, make([]float64, 3), step, 0)
	if moved := math.Abs(there-back) / record.Norm(step); moved < 1.9 {
		t.Errorf("a record that turns round moved the log-odds by %v clips, about 2 expected", moved)
	}
}

// adjusted is the log-odds of accepting a step over records of a linear loss.
func adjusted(t interface{ Fatal(...any) }, x []float64, clip float64, theta, step []float64, public float64) float64 {
	dim := len(theta)
	n := len(x) / dim
	facts := Facts{Records: int64(n), Features: dim, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	s, err := signsOver(GradientSigns{Target: newToy(dim), Clip: clip, Scale: 1, Adjusted: true}, facts,
		record.New(x, dim, nil, n, 0))
	if err != nil {
		t.Fatal(err)
	}
	next := make([]float64, dim)
	for j, w := range step {
		s.step[j], s.size[j], next[j] = w, math.Abs(w), theta[j]+w
	}
	s.visit(theta)
	return s.adjustment(next, theta, public)
}

// TestAdjustmentIsAntisymmetric is what detailed balance needs: with q the law of
// the signs, u(θ→θ′) = −u(θ′→θ).
func TestAdjustmentIsAntisymmetric(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := []float64{0.3, -2, 1.5, 4}
	facts := Facts{Records: 4, Features: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	m := GradientSigns{Target: squareGrad{}, Clip: 1, Scale: 1, Adjusted: true}
	for range 1000 {
		a, w := rng.NormFloat64(), rng.NormFloat64()
		at := func(from, by float64) float64 {
			s, err := signsOver(m, facts, record.New(x, 1, nil, 4, 0))
			if err != nil {
				t.Fatal(err)
			}
			s.step[0], s.size[0] = by, math.Abs(by)
			s.visit([]float64{from})
			return s.adjustment([]float64{from + by}, []float64{from}, 0.3*by)
		}
		if forth, back := at(a, w), at(a+w, -w); math.Abs(forth+back) > 1e-6 {
			t.Fatalf("from %v by %v: log-odds %v there and %v back", a, w, forth, back)
		}
	}
}

// squareGrad is square with its gradient.
type squareGrad struct{ square }

func (squareGrad) LossGrad(dst, theta []float64, rows targets.Rows) {
	for i := range dst {
		dst[i] = theta[0] - rows.Row(i)[0]
	}
}

// TestSignDivergenceAgainstPrice averages the exact divergence of the signs over
// drawn moves, for the worst substitutions, and holds it against the price: the
// mean of e^{(α−1)D} over 20 000 moves is below the price plus 6 standard errors
// (false-alarm rate 10⁻⁹), and reaches 90% of it.
func TestSignDivergenceAgainstPrice(t *testing.T) {
	const moves, alpha, clip, scale = 20_000, 3.0, 0.5, 0.3
	m := GradientSigns{Target: newToy(2), Clip: clip, Scale: scale}
	facts := Facts{Records: 2, Features: 2, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	event, err := m.Event(facts)
	if err != nil {
		t.Fatal(err)
	}
	price, best := event.RDP(alpha), 0.0
	rng := rand.New(rand.NewPCG(5, 6))
	for _, direction := range [][]float64{{1, 0}, {0.6, 0.8}, {-3, 4}} {
		sealed := func(sign float64) *Signs {
			x := []float64{sign * direction[0], sign * direction[1], 0, 0}
			s, err := signsOver(m, facts, record.New(x, 2, nil, 2, 0))
			if err != nil {
				t.Fatal(err)
			}
			s.visit([]float64{0, 0})
			return s
		}
		a, b := sealed(1), sealed(-1)
		var sum, squares float64
		for range moves {
			d := 0.0
			for j := range 2 {
				size := scale * math.Abs(rng.NormFloat64())
				d += rdpOfBits(alpha, 1/(1+math.Exp(-a.logOdds(a.here.gradient[j], size))),
					1/(1+math.Exp(-b.logOdds(b.here.gradient[j], size))))
			}
			v := math.Exp((alpha - 1) * d)
			sum += v
			squares += v * v
		}
		mean := sum / moves
		se := math.Sqrt((squares/moves - mean*mean) / moves)
		cost := math.Log(mean) / (alpha - 1)
		best = max(best, min(1, cost/price))
		if mean > math.Exp((alpha-1)*price)+6*se {
			t.Errorf("direction %v: signs cost %v, the price is %v", direction, cost, price)
		}
	}
	if best < 0.9 {
		t.Errorf("the worst substitution reaches %v of the price", best)
	}
}

func TestSignRefusals(t *testing.T) {
	c := seal(t, Records{X: []float64{1, 2}, Features: 2})
	for name, m := range map[string]GradientSigns{
		"no target":   {Clip: 1, Scale: 1},
		"no clip":     {Target: newToy(2), Scale: 1},
		"no scale":    {Target: newToy(2), Clip: 1},
		"NaN scale":   {Target: newToy(2), Clip: 1, Scale: math.NaN()},
		"temperature": {Target: newToy(2), Clip: 1, Scale: 1, Temperature: 2},
		"wrong shape": {Target: newToy(3), Clip: 1, Scale: 1},
	} {
		if _, err := Charge(c, m, 1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	s := grantSigns(t, c, GradientSigns{Target: newToy(2), Clip: 1, Scale: 1, Adjusted: true}, 1)
	for name, theta := range map[string][]float64{"short": {0}, "not finite": {0, math.Inf(1)}} {
		if _, err := s.Move(make([]float64, 2), theta); err == nil || s.Left() != 1 {
			t.Errorf("a %s state: error %v, %d left", name, err, s.Left())
		}
	}
	if _, err := s.Move(make([]float64, 2), []float64{0, 0}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Move(make([]float64, 2), []float64{0, 0}); err != ErrSpent {
		t.Errorf("the second of one move: %v", err)
	}
}
