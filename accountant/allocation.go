package accountant

// Proof: docs/proofs/allocation.md.

import (
	"fmt"
	"math"
	"sync"
)

// allocation is an epoch of Gaussian releases, each record in one of them.
type allocation struct {
	sigma   float64
	steps   int64
	departs float64
	moments *allocationMoments
}

// Allocated is an epoch of batches ≥ 1 releases, each of the records that were put there:
// every record into one of them, drawn uniformly and secretly, independently of the others
// (balls into bins; Feldman and Shenfeld 2025). The multiplier is over the sensitivity of
// one release. Under substitution both versions of a record are in the same release, and
// each moves it by at most half the sensitivity. Releases may depend on earlier ones. The
// curve holds for both directions, from moments at whole orders up to 256
// (docs/proofs/allocation.md).
func (g GridGaussian) Allocated(adj Adjacency, batches int64) (Event, error) {
	return stated(adj, newAllocation(adj, g.NoiseMultiplier, batches,
		float64(batches)*g.departure(1/g.NoiseMultiplier)))
}

func newAllocation(adj Adjacency, noiseMultiplier float64, steps int64, departure float64) allocation {
	mu := 1 / noiseMultiplier // of one record
	if adj == Substitute {
		mu /= 2
	}
	return allocation{noiseMultiplier, steps, departure, newAllocationMoments(mu, steps)}
}

func (m allocation) check() error {
	if m.steps < 1 {
		return fmt.Errorf("accountant: Allocated: steps %d: must be at least 1", m.steps)
	}
	if err := noise("Allocated", m.sigma); err != nil {
		return err
	}
	return cost("Allocated: departure", m.departs)
}

func (m allocation) kind() string { return "random_allocation" }
func (m allocation) fields() []field {
	return []field{{"noise_multiplier", m.sigma}, {"steps", m.steps}, {"departure", m.departs}}
}
func (m allocation) memory(name string) memory { return recall(name) }

// departure is that of both worlds from the pair that is composed numerically.
func (m allocation) departure() float64 { return 2 * m.departs }

func (m allocation) rdp(adj Adjacency, order float64) float64 {
	whole := gaussianRDP(order, 1/m.sigma) // of a record whose step is known
	if m.steps == 1 || math.IsInf(order, 1) || m.sigma == 0 || math.IsInf(m.sigma, 1) {
		return whole
	}
	if adj == AddRemove {
		return min(whole, m.one(order))
	}
	if 2*order > mostAllocated {
		return whole
	}
	// Removed and added: the triangle inequality of chained curves.
	return min(whole, 2*order/(2*order-1)*m.one(2*order-1)+m.one(2*order))
}

// one is the cost of one record that is added or removed.
func (m allocation) one(order float64) float64 {
	return m.moments.rdp(order) + (2*order-1)/(order-1)*m.departs
}

// mostAllocated is the largest order whose moments are computed.
const mostAllocated = 256

// allocationMoments are those of S = Σ L_i/t, where log L_i ~ N(−µ²/2, µ²): the likelihood
// ratio of an epoch with the record to one without it.
type allocationMoments struct {
	mu    float64
	steps float64

	held     sync.Mutex
	above    []float64         // E Sⁿ − 1, for n from 0
	below    map[int64]float64 // log E S^{−p}
	nodes    []float64         // L/t at the nodes of a rule for a standard normal
	weights  []float64
	computed bool
}

func newAllocationMoments(mu float64, steps int64) *allocationMoments {
	return &allocationMoments{mu: mu, steps: float64(steps), below: map[int64]float64{}}
}

// rdp is the larger direction's cost under add/remove. log E S^α and log E S^{1−α} are
// convex in α, so between whole orders their chords are above them.
func (m *allocationMoments) rdp(order float64) float64 {
	if order > mostAllocated {
		return math.Inf(1)
	}
	n := math.Floor(order)
	share := order - n
	moment := (1 - share) * m.log(int64(n))
	if share > 0 {
		moment += share * m.log(int64(n)+1)
	}
	return moment / (order - 1)
}

// log is the larger of log E Sⁿ and log E S^{1−n}, rounded up.
func (m *allocationMoments) log(n int64) float64 {
	m.held.Lock()
	defer m.held.Unlock()
	if n <= 1 {
		return 0
	}
	m.raise(n)
	above := math.Log1p(m.above[n] * (1 + quadratureMargin))
	if p := n - 1; above < math.Inf(1) {
		below, ok := m.below[p]
		if !ok {
			below = m.negative(float64(p))
			m.below[p] = below
		}
		return max(above, below)
	}
	return above
}

// raise computes E Sⁿ − 1 as far as n, by the recurrence for powers of a power series: with
// m_a = E L^a,
//
//	E Sⁿ = Σ_a (a(t+1) − n)/n·C(n, a)·t^{−a}·m_a·E S^{n−a},
//
// whose weights add up to 1. So E Sⁿ − 1 is a sum of terms that are not negative as long as
// n ≤ t + 1, and nothing cancels. Beyond it is +Inf.
func (m *allocationMoments) raise(n int64) {
	if len(m.above) == 0 {
		m.above = []float64{0}
	}
	t := m.steps
	for k := float64(len(m.above)); k <= float64(n); k++ {
		sum, choose := 0.0, 0.0 // log C(k, a)t^{−a}
		for a := 1.0; a <= k; a++ {
			choose += math.Log((k - a + 1) / (a * t))
			grown := a * (a - 1) / 2 * m.mu * m.mu // log m_a
			rest := m.above[int(k-a)]
			weight := (a*(t+1) - k) / k
			if grown > 0 {
				sum += weight * math.Exp(choose+logExpm1(grown)) * (1 + rest)
			}
			sum += weight * math.Exp(choose) * rest
		}
		if k > t+1 || math.IsNaN(sum) {
			sum = math.Inf(1)
		}
		m.above = append(m.above, sum)
	}
}

// negativeMargin is what is added to logarithms of negative moments.
const negativeMargin = 1e-11

// negative is log E S^{−p} = log(∫₀^∞ λ^{p−1}·E[e^{−λL/t}]^t dλ/Γ(p)), by the trapezoid rule
// in log λ. Its integrand is log-concave, so that it may be left where it has fallen far.
func (m *allocationMoments) negative(p float64) float64 {
	m.prepare()
	h := min(0.15, 0.7/math.Sqrt(p))
	log := func(u float64) float64 { // of the integrand
		lambda, gone, left := math.Exp(u), 0.0, 0.0
		for i, l := range m.nodes {
			less := math.Expm1(-lambda * l)
			gone += m.weights[i] * less
			left += m.weights[i] * math.Exp(-lambda*l)
		}
		if gone < -0.5 {
			return p*u + m.steps*math.Log(left)
		}
		return p*u + m.steps*math.Log1p(gone)
	}
	const far = 46
	sum, start := newLogSum(), math.Log(p)
	for _, step := range []float64{h, -h} {
		u, best := start, math.Inf(-1)
		if step < 0 {
			u += step
		}
		for ; ; u += step {
			v := log(u)
			sum.add(v)
			if best = max(best, v); !(v >= best-far) {
				break
			}
		}
	}
	gamma, _ := math.Lgamma(p)
	return max(0, sum.log()+math.Log(h)-gamma) + negativeMargin
}

// prepare sets nodes and weights of the trapezoid rule for a standard normal, whose error
// is below e^{a²/2 − 2πa/h} for a ≤ π/2µ.
func (m *allocationMoments) prepare() {
	if m.computed {
		return
	}
	m.computed = true
	a := min(math.Pi/(2*m.mu), 12)
	h := 2 * math.Pi * a / (a*a/2 + 120)
	count := math.Ceil(30 / h)
	for i := -count; i <= count; i++ {
		x := i * h
		m.nodes = append(m.nodes, math.Exp(m.mu*x-m.mu*m.mu/2)/m.steps)
		m.weights = append(m.weights, h*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi))
	}
}
