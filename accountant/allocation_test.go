package accountant

import (
	"errors"
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant/pld"
)

// allocated is the Rényi divergence of the larger direction for two steps, by sums over a
// grid in two dimensions.
func allocatedTwo(order, mu float64) float64 {
	const h, reach = 0.05, 12.0
	var with, without float64
	for x := -reach; x <= reach; x += h {
		for y := -reach; y <= reach; y += h {
			s := (math.Exp(mu*x-mu*mu/2) + math.Exp(mu*y-mu*mu/2)) / 2
			w := h * h * math.Exp(-(x*x+y*y)/2) / (2 * math.Pi)
			with += w * math.Pow(s, order)
			without += w * math.Pow(s, 1-order)
		}
	}
	return math.Log(max(with, without)) / (order - 1)
}

// TestAllocationAgainstQuadrature: two steps at orders whose moments exist, 2 and 3, and
// between them, where the chord is above the curve and close.
func TestAllocationAgainstQuadrature(t *testing.T) {
	for _, mu := range []float64{0.1, 0.5, 1, 1.5} {
		m := newAllocationMoments(mu, 2)
		for _, order := range []float64{2, 2.5, 3} {
			got, want := m.rdp(order), allocatedTwo(order, mu)
			loose := 1e-7
			if order == 2.5 {
				loose = 0.1
			}
			if !(got >= want*(1-1e-9)) || got > want*(1+loose) {
				t.Errorf("µ = %v, order %v: %v, by quadrature %v", mu, order, got, want)
			}
		}
		if got := m.rdp(4); !math.IsInf(got, 1) {
			t.Errorf("µ = %v: order 4 of two steps is %v; its recurrence would cancel", mu, got)
		}
	}
}

// TestAllocationOfOneStep: the negative moments of one step are those of a lognormal.
func TestAllocationOfOneStep(t *testing.T) {
	for _, mu := range []float64{0.01, 0.3, 1, 2} {
		m := newAllocationMoments(mu, 1)
		for _, p := range []float64{1, 2, 5} {
			want := p * (p + 1) / 2 * mu * mu
			if got := m.negative(p); !(got >= want) || got > want*(1+1e-9)+2*negativeMargin {
				t.Errorf("µ = %v, p = %v: %v, exactly %v", mu, p, got, want)
			}
		}
	}
}

// TestAllocationByDirectPowers: for many steps E Sⁿ is n!/tⁿ times a coefficient of a power
// of Σ m_a z^a/a!, which repeated products give too.
func TestAllocationByDirectPowers(t *testing.T) {
	const n, steps, mu = 12, 64, 0.7
	series := make([]float64, n+1)
	for a := range series {
		g, _ := math.Lgamma(float64(a) + 1)
		series[a] = math.Exp(float64(a*(a-1))/2*mu*mu - g)
	}
	power := append([]float64(nil), series...)
	for range 6 { // 2⁶ = steps
		next := make([]float64, n+1)
		for i, x := range power {
			for j, y := range power[:n+1-i] {
				next[i+j] += x * y
			}
		}
		power = next
	}
	m := newAllocationMoments(mu, steps)
	m.raise(n)
	factor := 1.0
	for k := 1; k <= n; k++ {
		factor *= float64(k) / steps
		if want := power[k]*factor - 1; math.Abs(m.above[k]-want) > 1e-9*want+1e-12 {
			t.Errorf("E S^%d − 1 is %v, by products %v", k, m.above[k], want)
		}
	}
}

// TestAllocationIsNearPoisson: an epoch costs about what its steps on Poisson batches of
// rate 1/t do, at orders that matter, and never more than a record whose step is known. The
// mutant, an epoch of steps that all read the record, is far above.
func TestAllocationIsNearPoisson(t *testing.T) {
	const steps = 1000
	for _, sigma := range []float64{0.8, 1, 2, 5} {
		batches, err := poisson(1.0 / steps)
		if err != nil {
			t.Fatal(err)
		}
		poisson := must(must(Gaussian(AddRemove, sigma)).on(batches))
		epoch := must(allocated(AddRemove, sigma, steps, 0))
		for _, order := range []float64{2, 4, 8, 16} {
			got, rate := epoch.RDP(order), steps*poisson.RDP(order)
			whole := order / (2 * sigma * sigma)
			if got > whole*(1+1e-9) || got > 1.3*rate {
				t.Errorf("σ = %v, order %v: %v, on Poisson batches %v, with a known step %v", sigma, order, got, rate, whole)
			}
			if sigma >= 2 && order == 2 && !(got < whole/100) {
				t.Errorf("σ = %v: %v, no amplification of %v", sigma, got, whole)
			}
		}
	}
}

// TestAllocationUnderSubstitution: at most a record whose step is known, at least the
// add/remove epoch of half the shift, and less with more steps.
func TestAllocationUnderSubstitution(t *testing.T) {
	last := math.Inf(1)
	for _, steps := range []int64{1, 10, 100, 1000} {
		e := must(allocated(Substitute, 1, steps, 0))
		half := must(allocated(AddRemove, 2, steps, 0))
		for _, order := range []float64{1.5, 2, 3, 10} {
			got := e.RDP(order)
			if got > order/2*(1+1e-9) || got < half.RDP(order) {
				t.Errorf("%d steps, order %v: %v; a known step costs %v, the half alone %v", steps, order, got, order/2,
					half.RDP(order))
			}
		}
		if got := e.RDP(3); steps > 1 && !(got < last) {
			t.Errorf("%d steps cost %v at order 3, fewer %v", steps, got, last)
		}
		last = e.RDP(3)
	}
	if _, err := allocated(Substitute, 1, 0, 0); err == nil {
		t.Error("no steps were taken")
	}
	if _, err := allocated(Substitute, math.NaN(), 3, 0); err == nil {
		t.Error("noise that is no number was taken")
	}
	if _, err := allocated(Substitute, 1, 3, -1); err == nil {
		t.Error("a negative departure was taken")
	}
	if _, err := allocated(0, 1, 3, 0); err == nil {
		t.Error("no adjacency was taken")
	}
}

// TestAllocationIsComposedNumerically: well below the Rényi bound, under both adjacencies; a
// departure of the noise only adds; and what no grid holds keeps the Rényi bound.
func TestAllocationIsComposedNumerically(t *testing.T) {
	const delta = 1e-6
	epochs := func(adj Adjacency, sigma, departure float64) Event {
		e, err := must(allocated(adj, sigma, 1000, departure)).Times(10)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for adj, share := range map[Adjacency]float64{AddRemove: 0.6, Substitute: 0.85} {
		renyi, err := epochs(adj, 1, 0).Epsilon(delta)
		if err != nil {
			t.Fatal(err)
		}
		g, _, err := epochs(adj, 1, 0).RefineEpsilon(delta)
		if err != nil || g.Method != methodPLD || g.Epsilon > share*renyi.Epsilon {
			t.Errorf("%v: ε = %v by %v, %v by Rényi, error %v", adj, g.Epsilon, g.Method, renyi.Epsilon, err)
		}
		rough, _, err := epochs(adj, 1, 1e-4).RefineEpsilon(delta)
		if err != nil || rough.Epsilon < g.Epsilon+2e-3*0.99 || rough.Epsilon > g.Epsilon+2.2e-3 {
			t.Errorf("%v: ε = %v with a departure of 10⁻⁴ an epoch, %v without, error %v", adj, rough.Epsilon, g.Epsilon, err)
		}
	}
	var none *NotNumericalError
	if _, err := epochs(AddRemove, 0.3, 0).Numerical(pld.AtDelta(delta)); !errors.As(err, &none) {
		t.Errorf("noise that no grid holds: %v", err)
	}
}
