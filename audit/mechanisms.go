package audit

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/targets"
)

// slope is a target whose loss is x·θ: a record moves every release by as much as its
// feature says, so that two records at ±1 are the worst neighbours of a clip.
type slope struct{ dim int }

func (s slope) Dim() int                                   { return s.dim }
func (s slope) Shape() (int, bool)                         { return s.dim, false }
func (slope) LogPrior([]float64) float64                   { return 0 }
func (slope) GradLogPrior(dst, _ []float64)                { clear(dst) }
func (slope) LossGrad(dst, _ []float64, rows targets.Rows) { copy(dst, rows.X) }
func (slope) LossAt(dst, eta, _ []float64)                 { copy(dst, eta) }
func (slope) PredictorLipschitz() float64                  { return 1 }
func (slope) SlopeAt(dst, eta, _ []float64) {
	for i := range eta {
		dst[i] = 1
	}
}

func (s slope) Loss(dst, theta []float64, rows targets.Rows) {
	for i := range dst {
		dst[i] = 0
		for j, x := range rows.Row(i) {
			dst[i] += x * theta[j]
		}
	}
}

// draw makes one release against a grant.
type draw func() ([]float64, error)

// mechanism is one of the curator's, on records of one feature.
type mechanism struct {
	name  string
	event func(curator.Facts) (accountant.Event, error)
	grant func(c *curator.Curator, count int64) (draw, error)
	score func([]float64) float64 // defaults to the first value
	first [2]float64              // the first record's value in the two tables

	response bool // every record has the response 1
}

// Mechanisms returns an attack on each mechanism of the curator: on two tables of four
// records, of one feature, whose first record is at one end of the clip or at the other.
// The other records cancel.
// Attacks on seeded curators repeat.
func Mechanisms(rounds int, falseAlarm float64, seed uint64) ([]Attack, error) {
	var attacks []Attack
	for i, m := range mechanisms() {
		a, err := m.attack(rounds, falseAlarm, seed+uint64(i))
		if err != nil {
			return nil, err
		}
		attacks = append(attacks, a)
	}
	return attacks, nil
}

// facts are what is public about the tables.
var facts = curator.Facts{Records: 4, Features: 1, Radius: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}

// perGrant is how many releases are granted at once.
const perGrant = 50_000

func (m mechanism) attack(rounds int, falseAlarm float64, seed uint64) (Attack, error) {
	f := facts
	f.Response = m.response
	claim, err := m.event(f)
	if err != nil {
		return Attack{}, fmt.Errorf("audit: %s: %w", m.name, err)
	}
	var next [2]draw
	var left [2]int64
	granted := uint64(0)
	release := func(present bool) ([]float64, error) {
		class := 0
		if present {
			class = 1
		}
		if left[class] == 0 {
			granted++
			sealed, err := sealed([]float64{m.first[class], 1, -0.5, -0.5}, m.response, seed<<20|granted)
			if err != nil {
				return nil, err
			}
			if next[class], err = m.grant(sealed, perGrant); err != nil {
				return nil, err
			}
			left[class] = perGrant
		}
		left[class]--
		return next[class]()
	}
	score := m.score
	if score == nil {
		score = func(v []float64) float64 { return v[0] }
	}
	return Attack{Name: m.name, Release: release, Score: score, Claim: claim, Rounds: rounds, FalseAlarm: falseAlarm,
		Coin: rand.New(rand.NewPCG(seed, 1))}, nil
}

// sealed is a table with a budget that nothing here exhausts.
func sealed(x []float64, response bool, seed uint64) (*curator.Curator, error) {
	b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: math.MaxFloat64, Delta: 0.5,
		Adjacency: accountant.Substitute})
	if err != nil {
		return nil, err
	}
	r := curator.Records{X: x, Features: 1, Radius: 1}
	if response {
		r.Y = []float64{1, 1, 1, 1}
	}
	return curator.Seal(r, b, curator.InsecureSeed(seed))
}

// mechanisms lists the curator's, each with settings at which a person shows.
func mechanisms() []mechanism {
	const clip, noise = 0.5, 0.7
	var all []mechanism
	for _, batch := range []curator.Batch{{}, {Rate: 0.5}, {Size: 2}} {
		for _, test := range []curator.Test{{}, {Corrected: 1}, {Penalty: 1}} {
			all = append(all, bit(fmt.Sprintf("bit, %v, %v", test, batch),
				curator.AcceptanceBit{Target: slope{1}, Clip: clip, Batch: batch, Test: test}))
		}
		all = append(all,
			ratio(fmt.Sprintf("noisy ratio, %v", batch), curator.NoisyRatio{Target: slope{1}, Clip: clip, NoiseMultiplier: noise,
				Batch: batch}),
			gradient(fmt.Sprintf("noisy gradient, %v", batch),
				curator.NoisyGradient{Target: slope{1}, Clip: clip, NoiseMultiplier: noise, Batch: batch}))
	}
	return append(all,
		drawn("bit of a drawn move", curator.AcceptanceBit{Target: slope{1}, Proposal: curator.Proposal{Scale: 1}}),
		thinned("thinned bit", curator.ThinnedBit{Target: slope{1}, Clip: clip, Rate: 0.9}),
		signs("signs of a gradient", curator.GradientSigns{Target: slope{1}, Clip: clip, Scale: 1}),
		moments("second moments", curator.SecondMoment{NoiseMultiplier: noise}),
		optimum("private optimum", curator.Optimum{Ridge: 2.5, NoiseMultiplier: noise}),
		optimum("private optimum, spherical noise", curator.Optimum{Ridge: 2.5, NoiseMultiplier: noise, Spherical: true}))
}

func number(accepted bool) []float64 {
	if accepted {
		return []float64{1}
	}
	return []float64{0}
}

// zero and one are a move along which a record's part of the log-odds is −x.
var zero, one = []float64{0}, []float64{1}

// unlikely is the public part of a bit's log-odds: where moves are mostly rejected, an
// acceptance tells the most.
const unlikely = -2

// ends are the two ends of a clip.
var ends = [2]float64{-1, 1}

// rejected scores a bit: a record at 1 argues against the move to 1.
func rejected(v []float64) float64 { return -v[0] }

func bit(name string, m curator.AcceptanceBit) mechanism {
	return mechanism{name, m.Event, func(c *curator.Curator, count int64) (draw, error) {
		g, err := curator.Charge(c, m, count)
		return accepts(g), err
	}, rejected, ends, false}
}

func thinned(name string, m curator.ThinnedBit) mechanism {
	return mechanism{name, m.Event, func(c *curator.Curator, count int64) (draw, error) {
		g, err := curator.Charge(c, m, count)
		return accepts(g), err
	}, rejected, ends, false}
}

// accepts asks for the move to 1 again and again.
func accepts(g *curator.Bits) draw {
	return func() ([]float64, error) {
		accepted, err := g.Accept(one, zero, unlikely)
		return number(accepted), err
	}
}

func drawn(name string, m curator.AcceptanceBit) mechanism {
	return mechanism{name, m.Event, func(c *curator.Curator, count int64) (draw, error) {
		g, err := curator.Charge(c, m, count)
		next := make([]float64, 1)
		return func() ([]float64, error) {
			accepted, err := g.Move(next, zero, func([]float64) float64 { return 0 })
			return []float64{next[0], number(accepted)[0]}, err
		}, err
	}, func(v []float64) float64 { return v[0] * (1 - 2*v[1]) }, ends, false}
}

func signs(name string, m curator.GradientSigns) mechanism {
	return mechanism{name, m.Event, func(c *curator.Curator, count int64) (draw, error) {
		g, err := curator.Charge(c, m, count)
		next := make([]float64, 1)
		return func() ([]float64, error) {
			_, err := g.Move(next, zero)
			return []float64{next[0]}, err
		}, err
	}, rejected, ends, false}
}

func ratio(name string, m curator.NoisyRatio) mechanism {
	return mechanism{name, m.Event, func(c *curator.Curator, count int64) (draw, error) {
		g, err := curator.Charge(c, m, count)
		return func() ([]float64, error) {
			v, err := g.Release(one, zero)
			return []float64{v}, err
		}, err
	}, rejected, ends, false}
}

func gradient(name string, m curator.NoisyGradient) mechanism {
	return mechanism{name, m.Event, func(c *curator.Curator, count int64) (draw, error) {
		g, err := curator.Charge(c, m, count)
		v := make([]float64, 1)
		return func() ([]float64, error) { return v, g.Release(v, zero) }, err
	}, nil, ends, false}
}

func moments(name string, m curator.SecondMoment) mechanism {
	return mechanism{name, m.Event, func(c *curator.Curator, count int64) (draw, error) {
		g, err := curator.Charge(c, m, count)
		v := make([]float64, 1)
		return func() ([]float64, error) { return v, g.Release(v, nil) }, err
	}, nil, [2]float64{0, 1}, false}
}

func optimum(name string, m curator.Optimum) mechanism {
	return mechanism{name, m.Event, func(c *curator.Curator, count int64) (draw, error) {
		g, err := curator.Charge(c, m, count)
		v := make([]float64, 1)
		return func() ([]float64, error) { return v, g.Release(v) }, err
	}, nil, ends, true}
}
