package suffstat

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/ops"
)

// CountsConfig describes a Beta-Bernoulli or Dirichlet-categorical model.
type CountsConfig struct {
	// Prior holds the concentrations, one per category. Required: at least two,
	// positive.
	Prior []float64
	// Records is n, the public number of records. Required, at least 1.
	Records int
	// Privacy is required.
	Privacy Privacy
}

// Counts releases noisy counts. It is immutable.
type Counts struct {
	mechanism
	prior []float64
	n     int
}

// NewCounts returns the mechanism. Replacing a record moves one count down and
// another up: L1 sensitivity 2, L2 sensitivity √2. With two categories the first
// count alone is released, with sensitivity 1, since the other is n minus it.
func NewCounts(cfg CountsConfig) (*Counts, error) {
	if len(cfg.Prior) < 2 {
		return nil, fmt.Errorf("suffstat: %d prior concentrations: at least 2 categories are needed", len(cfg.Prior))
	}
	for i, a := range cfg.Prior {
		if !(a > 0) || math.IsInf(a, 1) {
			return nil, fmt.Errorf("suffstat: Prior[%d] = %v: must be positive and finite", i, a)
		}
	}
	if cfg.Records < 1 || cfg.Records > 1<<31 {
		return nil, fmt.Errorf("suffstat: Records = %d: the public number of records must be from 1 to 2^31", cfg.Records)
	}
	l1, l2, size := 2.0, math.Sqrt2, len(cfg.Prior)
	if size == 2 {
		l1, l2, size = 1, 1, 1
	}
	m, err := newMechanism(cfg.Privacy, l1, l2, size)
	if err != nil {
		return nil, err
	}
	return &Counts{mechanism: m, prior: append([]float64(nil), cfg.Prior...), n: cfg.Records}, nil
}

// Cost returns the guarantee of one release.
func (c *Counts) Cost() ops.Guarantee { return c.cost() }

// Scale returns the Laplace scale or the Gaussian standard deviation of the noise
// on each count.
func (c *Counts) Scale() float64 { return c.scale() }

// Release returns one noisy count per category. They may be negative.
func (c *Counts) Release(src *ops.Source, counts []int) ([]float64, error) {
	if len(counts) != len(c.prior) {
		return nil, fmt.Errorf("suffstat: %d counts for %d categories", len(counts), len(c.prior))
	}
	out, sum := make([]float64, len(counts)), 0
	for i, k := range counts {
		if k < 0 || k > c.n {
			return nil, fmt.Errorf("suffstat: a count is outside [0, %d], the public number of records", c.n)
		}
		out[i] = float64(k)
		sum += k
	}
	if sum != c.n {
		return nil, fmt.Errorf("suffstat: the counts do not sum to the public number of records, %d", c.n)
	}
	if len(out) > 2 {
		return out, c.add(src, out)
	}
	err := c.add(src, out[:1])
	out[1] = float64(c.n) - out[0]
	return out, err
}

// PlugIn returns the Dirichlet concentrations that take the noisy counts, moved
// into [0, n], for the counts (Foulds et al. 2016). It ignores the noise, so its
// intervals are too short.
func (c *Counts) PlugIn(noisy []float64) []float64 {
	a := make([]float64, len(c.prior))
	for i, p := range c.prior {
		a[i] = p + min(max(noisy[i], 0), float64(c.n))
	}
	return a
}

// NoiseAware returns the posterior of the first category's probability given the
// noisy count itself: a mixture over the true count k of Beta(α+k, β+n−k), with
// weights BetaBinomial(k)·noise density(noisy − k). It is exact, for two
// categories; more are an error.
func (c *Counts) NoiseAware(noisy []float64) (BetaMixture, error) {
	if len(c.prior) != 2 || len(noisy) != 2 {
		return BetaMixture{}, fmt.Errorf("suffstat: the noise-aware posterior is offered for two categories, there are %d",
			len(c.prior))
	}
	m := BetaMixture{a: c.prior[0], b: c.prior[1], weight: make([]float64, c.n+1)}
	top := math.Inf(-1)
	for k := range m.weight {
		m.weight[k] = c.logBetaBinomial(k) + c.logNoise(noisy[0]-float64(k))
		top = max(top, m.weight[k])
	}
	sum := 0.0
	for k, w := range m.weight {
		m.weight[k] = math.Exp(w - top)
		sum += m.weight[k]
	}
	for k := range m.weight {
		m.weight[k] /= sum
	}
	return m, nil
}

// logBetaBinomial is the log probability of count k under the prior, up to a
// constant.
func (c *Counts) logBetaBinomial(k int) float64 {
	j, l := float64(k), float64(c.n-k)
	return lgamma(c.prior[0]+j) - lgamma(j+1) + lgamma(c.prior[1]+l) - lgamma(l+1)
}

// logNoise is the log density of the noise up to a constant.
func (c *Counts) logNoise(z float64) float64 {
	z /= c.scale()
	if c.privacy.Law == Laplace {
		return -math.Abs(z)
	}
	return -z * z / 2
}

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}
