package chaudhuri

import (
	"context"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/erm"
	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/ops/internal/draw"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Method chooses where the noise goes. The zero value is invalid.
type Method int8

const (
	// Output adds noise to the minimum (Algorithm 1).
	Output Method = iota + 1
	// OutputL1 adds independent Laplace noise for the L1 sensitivity.
	OutputL1
	// Objective adds a random linear term to the objective (Algorithm 2).
	Objective
)

// Config describes a mechanism.
type Config struct {
	// Method is the algorithm. Required.
	Method Method
	// Features is the number of features, d; an intercept is one of them. Required.
	Features int
	// Records is n, the public number of records. Required.
	Records int
	// Radius bounds ‖x‖₂; longer rows are projected. Required, positive.
	Radius float64
	// Lambda is the regularisation λ of the mean loss: a normal prior of standard
	// deviation 1/√(nλ). Required, positive. Output noise has scale ∝ 1/(nλ), so a
	// λ ∝ 1/n, a fixed prior, gives noise that does not fall with n.
	Lambda float64
	// Epsilon is the ε of the release. Required, positive. Above 500 there is no
	// guarantee: Cost refuses it.
	Epsilon float64
}

// Mechanism is a configured algorithm. It is immutable.
type Mechanism struct {
	cfg   Config
	ridge float64 // λn, raised by Objective where it must be
	scale float64 // of the main noise: on the output, or on the linear term
	final float64 // of the noise that covers the approximate minimum, Objective only
}

// New returns the mechanism.
func New(cfg Config) (*Mechanism, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	m := &Mechanism{cfg: cfg, ridge: cfg.Lambda * float64(cfg.Records)}
	switch cfg.Method {
	case Output:
		m.scale = m.Sensitivity() / cfg.Epsilon
	case OutputL1:
		m.scale = m.Sensitivity() * math.Sqrt(float64(cfg.Features)) / cfg.Epsilon
	case Objective:
		forMinimum := cfg.Epsilon / 64
		left := cfg.Epsilon - forMinimum
		curvature := cfg.Radius * cfg.Radius / 4
		if math.Log1p(curvature/m.ridge) > left/2 {
			m.ridge = curvature / math.Expm1(left/2)
		}
		left -= math.Log1p(curvature / m.ridge)
		m.scale = 2 * cfg.Radius / left * (1 + 0x1p-40)
		// The computed linear term is not quite the exact one, which moves the minimum too.
		rounding := m.shape().Linear * 0x1p-46
		m.final = 2 * (m.shape().Distance() + rounding/m.ridge) / forMinimum * (1 + 0x1p-40)
	}
	return m, nil
}

func (c Config) check() error {
	if c.Method < Output || c.Method > Objective {
		return fmt.Errorf("chaudhuri: Method is required: Output, OutputL1 or Objective")
	}
	if c.Features < 1 {
		return fmt.Errorf("chaudhuri: Features = %d: at least 1 is needed", c.Features)
	}
	if c.Records < 1 || c.Records > 1<<31 {
		return fmt.Errorf("chaudhuri: Records = %d: the public number of records must be from 1 to 2^31", c.Records)
	}
	for _, f := range []struct {
		name string
		v    float64
	}{{"Radius", c.Radius}, {"Lambda", c.Lambda}, {"Epsilon", c.Epsilon}} {
		if !(f.v > 0) || math.IsInf(f.v, 1) {
			return fmt.Errorf("chaudhuri: %s = %v: must be positive and finite", f.name, f.v)
		}
	}
	return nil
}

// Sensitivity returns the L2 sensitivity of the computed minimum, 2(Radius + γ)/(nλ)
// with γ the certified gradient norm (Chaudhuri et al. 2011, Cor. 8, for γ = 0).
func (m *Mechanism) Sensitivity() float64 {
	return 2 * (m.cfg.Radius/m.ridge + m.shape().Distance()) * (1 + 0x1p-40)
}

// shape is the objective that is minimised. A linear term of density
// ∝ exp(−‖b‖/scale) is longer than the bound with a probability below beyond.
func (m *Mechanism) shape() erm.Shape {
	s := erm.Shape{Records: m.cfg.Records, Features: m.cfg.Features, Radius: m.cfg.Radius, Ridge: m.ridge}
	if m.cfg.Method == Objective {
		s.Linear = m.scale * (float64(2*m.cfg.Features+100) + 3*m.cfg.Epsilon)
	}
	return s
}

// Noise returns the scale b of the noise, on θ, or on the linear term b·θ of the
// summed objective for Objective.
func (m *Mechanism) Noise() float64 { return m.scale }

// Ridge returns the regularisation that is used, nλ or what Objective raised it to.
func (m *Mechanism) Ridge() float64 { return m.ridge }

// Cost returns the guarantee of one release: Epsilon-DP for OutputL1, and
// otherwise (Epsilon, δ) with the δ, below (Features + 4)·2⁻¹⁰⁰, by which noise that is
// computed with finitely many bits, and refused beyond a bound, departs from the law of
// the papers (docs/proofs/ops-chaudhuri.md, "Floating point").
func (m *Mechanism) Cost() (ops.Guarantee, error) {
	if m.cfg.Epsilon > maxEpsilon {
		return ops.Guarantee{}, fmt.Errorf("chaudhuri: Epsilon = %v: no guarantee is stated above %d", m.cfg.Epsilon,
			maxEpsilon)
	}
	event, err := accountant.Pure(accountant.Substitute, m.cfg.Epsilon)
	if m.cfg.Method != OutputL1 {
		var delta float64
		if delta, err = ops.FromTotalVariation(m.cfg.Epsilon, 0,
			min(1, float64(m.cfg.Features)*draw.Departure(m.precision())+m.beyond())); err == nil {
			event, err = accountant.Approximate(accountant.Substitute, m.cfg.Epsilon, delta)
		}
	}
	theorem := "Chaudhuri et al. 2011, Thm 6, with an approximate minimum"
	if m.cfg.Method == Objective {
		theorem = "Chaudhuri et al. 2011, Thm 9, with a rank-one determinant and an approximate minimum"
	}
	return ops.Guarantee{Event: event, Kind: ops.Unconditional, Theorem: theorem}, err
}

// Release returns private coefficients, rounded to a public grid of at most
// 1/4096 of the noise on them. Responses of at least ½ count as 1.
func (m *Mechanism) Release(src *ops.Source, rows targets.Rows) ([]float64, error) {
	if err := ops.CheckShape("chaudhuri", rows, m.cfg.Features, true); err != nil {
		return nil, err
	}
	if rows.Len() != m.cfg.Records {
		return nil, fmt.Errorf("chaudhuri: the records are not as many as Records, the public number %d, says", m.cfg.Records)
	}
	f := erm.Objective{Shape: m.shape(), X: ops.Project(rows, m.cfg.Radius).X, Y: rows.Y}
	scale := m.scale
	if m.cfg.Method == Objective {
		for _, b := range draw.Precise(src, m.cfg.Features, m.scale, m.precision()) {
			v, _ := b.Float64()
			f.B = append(f.B, v)
		}
		scale = m.final
	}
	theta, err := f.Minimise(context.Background())
	if err != nil {
		return nil, fmt.Errorf("chaudhuri: %w", err)
	}
	if m.cfg.Method == OutputL1 {
		return theta, draw.AddLaplace(src, theta, m.scale*m.cfg.Epsilon, m.cfg.Epsilon)
	}
	draw.AddPrecise(theta, draw.Precise(src, m.cfg.Features, scale, m.precision()), draw.Grid(scale))
	return theta, nil
}

func (m *Mechanism) precision() uint { return draw.Precision(min(m.cfg.Epsilon, maxEpsilon)) }

// beyond bounds the probability of a linear term that is refused, 10⁻³⁰·e^(−1.5ε).
func (m *Mechanism) beyond() float64 {
	if m.cfg.Method != Objective {
		return 0
	}
	return 1e-30 * math.Exp(-1.5*min(m.cfg.Epsilon, maxEpsilon))
}

// maxEpsilon is far above any use, and keeps e^ε a number.
const maxEpsilon = 500
