package conjugate

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/ops/internal/draw"
)

// Method is one of the three algorithms. The zero value is invalid.
type Method int8

const (
	// Direct draws from the posterior itself (Algorithm 1).
	Direct Method = iota + 1
	// Diffused draws from prior + r·counts (Algorithm 2).
	Diffused
	// Concentrated draws from prior/m + counts (Algorithm 3).
	Concentrated
)

// Config describes a mechanism.
type Config struct {
	// Method is the algorithm. Required.
	Method Method
	// Prior holds the prior's concentrations, one per category. Required: at
	// least two, positive. Two of them, (α₀, β₀), are the Beta prior of the
	// probability of the first category.
	Prior []float64
	// Records is n, the public number of records. Required, 1 to 2³¹.
	Records int
	// Order and Epsilon are the target: a divergence of order Order, above 1, of
	// at most Epsilon, above 0. Required by Diffused and Concentrated unless Factor
	// is given, refused by Direct, which promises what its RDP method says.
	Order, Epsilon float64
	// Factor fixes r or m, in (0, 1], instead of a target.
	Factor float64
}

// Mechanism is a configured algorithm. It is immutable.
type Mechanism struct {
	cfg  Config
	r, m float64
}

// New returns the mechanism, with the factor found by bisection.
func New(cfg Config) (*Mechanism, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg.Prior = append([]float64(nil), cfg.Prior...)
	mech := &Mechanism{cfg: cfg, r: 1, m: 1}
	factor := &mech.r
	switch cfg.Method {
	case Direct:
		return mech, nil
	case Concentrated:
		factor = &mech.m
	}
	if *factor = cfg.Factor; cfg.Factor == 0 {
		*factor = largest(func(f float64) bool {
			*factor = f
			return mech.RDP(cfg.Order) <= cfg.Epsilon
		})
	}
	if *factor == 0 {
		return nil, fmt.Errorf("conjugate: Epsilon %v at order %v is below what can be computed for this prior: raise it",
			cfg.Epsilon, cfg.Order)
	}
	return mech, nil
}

func (c Config) check() error {
	if c.Method < Direct || c.Method > Concentrated {
		return fmt.Errorf("conjugate: Method is required: Direct, Diffused or Concentrated")
	}
	if len(c.Prior) < 2 {
		return fmt.Errorf("conjugate: %d prior concentrations: at least 2 categories are needed", len(c.Prior))
	}
	for i, a := range c.Prior {
		if !(a > 0) || math.IsInf(a, 1) {
			return fmt.Errorf("conjugate: Prior[%d] = %v: must be positive and finite", i, a)
		}
	}
	if c.Records < 1 || c.Records > 1<<31 {
		return fmt.Errorf("conjugate: Records = %d: the public number of records must be from 1 to 2^31", c.Records)
	}
	return c.checkTarget()
}

func (c Config) checkTarget() error {
	target := c.Order != 0 || c.Epsilon != 0
	switch {
	case c.Method == Direct && (target || c.Factor != 0):
		return fmt.Errorf("conjugate: the direct posterior takes no target: leave Order, Epsilon and Factor zero and read " +
			"RDP, or use Diffused or Concentrated")
	case c.Method == Direct:
		return nil
	case c.Factor != 0 && (target || !(c.Factor > 0 && c.Factor <= 1)):
		return fmt.Errorf("conjugate: Factor = %v with Order = %v, Epsilon = %v: give a factor in (0, 1] "+
			"or a target, not both", c.Factor, c.Order, c.Epsilon)
	case c.Factor != 0:
		return nil
	}
	if !(c.Order > 1) || math.IsInf(c.Order, 1) {
		return fmt.Errorf("conjugate: Order = %v: the Rényi order must be finite and above 1", c.Order)
	}
	if !(c.Epsilon > 0) || math.IsInf(c.Epsilon, 1) {
		return fmt.Errorf("conjugate: Epsilon = %v: must be positive and finite", c.Epsilon)
	}
	return nil
}

// largest returns a factor in (0, 1] that is ok, the largest if ok is monotone:
// whichever is returned has been tried. It returns 0 if none is found.
func largest(ok func(float64) bool) float64 {
	if ok(1) {
		return 1
	}
	lo, hi := 0.5, 1.0
	for ; !ok(lo); lo /= 2 {
		if hi = lo; lo < 0x1p-40 {
			return 0
		}
	}
	for range 60 {
		mid := (lo + hi) / 2
		if ok(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// Factors returns the factor r on the counts and the divisor m of the prior;
// (1, 1) is the posterior itself.
func (mech *Mechanism) Factors() (r, m float64) { return mech.r, mech.m }

// RDP returns the largest Rényi divergence of an order > 1 between the laws of
// the release on adjacent data sets, rounded up; +Inf at and beyond the order
// 1 + min(prior)/(r·m) (Geumlek et al. 2017, Corollary 1, for r = m = 1).
func (mech *Mechanism) RDP(order float64) float64 {
	if !(order > 1) || math.IsInf(order, 1) {
		return math.Inf(1)
	}
	return worst(order-1, mech.r, mech.m, mech.cfg.Prior, mech.cfg.Records)
}

// Cost returns the guarantee of draws ≥ 1 releases at delta, in (0, 1): of one
// the exact hockey-stick divergence, of more the curve draws·RDP converted at the
// best order (Canonne, Kamath, Steinke 2020, Prop. 12). Its event is
// (ε, delta)-DP, since the curve ends at a finite order and no event has its shape.
func (mech *Mechanism) Cost(draws int64, delta float64) (ops.Guarantee, error) {
	if draws < 1 {
		return ops.Guarantee{}, fmt.Errorf("conjugate: %d draws: at least 1 is needed", draws)
	}
	return ops.Approximate(delta, ops.Conditional, mech.theorem(), func(delta float64) (float64, error) {
		epsilon := mech.epsilon(float64(draws), delta)
		if draws == 1 {
			epsilon = mech.exactEpsilon(epsilon, delta)
		}
		return epsilon, nil
	})
}

func (mech *Mechanism) epsilon(draws, delta float64) float64 {
	epsilon := math.Inf(1)
	for k := range 2001 { // any order gives a valid bound, so a fine grid is enough
		t := math.Exp2(float64(k-1000) / 50)
		conversion := math.Log1p(-1/(1+t)) - (math.Log(delta)+math.Log1p(t))/t
		epsilon = min(epsilon, draws*mech.RDP(1+t)+conversion)
	}
	return max(0, epsilon) * (1 + 0x1p-40)
}

func (mech *Mechanism) theorem() string {
	return "Geumlek et al. 2017, " + [...]string{Direct: "Thm 12", Diffused: "Thms 13, 15",
		Concentrated: "Thms 14, 15"}[mech.cfg.Method]
}

// Posterior returns the concentrations of the law that Release draws from. counts
// holds the number of records of each category.
func (mech *Mechanism) Posterior(counts []int) ([]float64, error) {
	if len(counts) != len(mech.cfg.Prior) {
		return nil, fmt.Errorf("conjugate: %d counts for %d categories", len(counts), len(mech.cfg.Prior))
	}
	n := 0
	a := make([]float64, len(counts))
	for i, c := range counts {
		if c < 0 || c > mech.cfg.Records {
			return nil, fmt.Errorf("conjugate: a count is outside [0, %d], the public number of records", mech.cfg.Records)
		}
		n += c
		a[i] = mech.cfg.Prior[i]/mech.m + mech.r*float64(c)
	}
	if n != mech.cfg.Records {
		return nil, fmt.Errorf("conjugate: the counts do not sum to the public number of records, %d", mech.cfg.Records)
	}
	return a, nil
}

// Release draws category probabilities from Posterior(counts), rounded to
// multiples of 2⁻³².
func (mech *Mechanism) Release(src *ops.Source, counts []int) ([]float64, error) {
	a, err := mech.Posterior(counts)
	if err != nil {
		return nil, err
	}
	draw.Dirichlet(src, a, a)
	draw.Round(a, 0x1p-32)
	return a, nil
}
