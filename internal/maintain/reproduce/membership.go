package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/audit"
	"github.com/dpmcmc/dpmcmc/internal/plot"
	"github.com/dpmcmc/dpmcmc/ops/posterior"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

func init() {
	figures["membership"] = figure{
		"membership inference against one-posterior sampling (Jewson et al. 2023, Fig. 4 and 8)", membership}
}

const (
	attackRounds = 10_000
	attackAlarm  = 0.05 // of a lower bound on ε, both directions together
	attackDelta  = 1e-5
	attackPrior  = 3.0 // standard deviation of a coefficient
)

var attackEpsilons = []float64{0.2, 1, 2, 7, 10, 20}

// attackPair are the published data sets {(1, 1), (0, 0)} and {(−1, 1), (0, 0)},
// features first, with an intercept: without the member and with it.
var attackPair = [2]targets.Rows{
	{X: []float64{1, 1, 0, 1}, P: 2, Y: []float64{1, 0}},
	{X: []float64{-1, 1, 0, 1}, P: 2, Y: []float64{1, 0}},
}

// membership plays the game of Jewson et al. against exact draws and against draws
// of chains that had too little time.
func membership(ctx context.Context, s settings) error {
	exact := newTable("mechanism", "claimed ε", "true ε of this pair", "success", "FPR", "FNR", "ε ≥ (95%)",
		"same, published denominators", "log RMSE, n=1000 d=2")
	var claim, pairs, bounds, mistaken plot.Line
	var scatter []plot.Line
	for _, name := range []string{"β-OPS", "Minami", "Chaudhuri, λ=1/9", "Chaudhuri, λ=1/9n", "coin flip"} {
		l := plot.Line{Name: name}
		for _, eps := range attackEpsilons {
			if name == "coin flip" && eps != 1 {
				continue
			}
			r, err := s.attackOne(ctx, name, eps)
			if err != nil {
				return fmt.Errorf("%s, ε = %v: %w", name, eps, err)
			}
			fpr, fnr := r.trials.Rates()
			success := 1 - float64(r.trials.FalsePositives+r.trials.FalseNegatives)/float64(attackRounds)
			exact.add(name, eps, r.pair, success, fpr, fnr, r.lower, r.published, r.logRMSE)
			l.X, l.Y = append(l.X, success), append(l.Y, r.logRMSE)
			if name == "β-OPS" {
				claim.X, claim.Y = append(claim.X, eps), append(claim.Y, eps)
				pairs.X, pairs.Y = append(pairs.X, eps), append(pairs.Y, r.pair)
				bounds.X, bounds.Y = append(bounds.X, eps), append(bounds.Y, r.lower)
				mistaken.X, mistaken.Y = append(mistaken.X, eps), append(mistaken.Y, r.published)
			}
		}
		if name != "coin flip" {
			scatter = append(scatter, l)
		}
	}
	claim.Name, claim.Dashed = "claimed", true
	pairs.Name, bounds.Name, mistaken.Name = "largest log odds, exact", "attack's lower bound",
		"same, published denominators"
	short, chains, err := s.shortChains(ctx)
	if err != nil {
		return err
	}
	if err := s.save("membership-short", short, 1); err != nil {
		return err
	}
	return s.save("membership", exact, 3,
		plot.Panel{Title: "Attack on exact β-OPS draws", XLabel: "claimed ε", YLabel: "ε ≥ (95%)", LogX: true, LogY: true,
			Lines: []plot.Line{claim, pairs, bounds, mistaken}},
		plot.Panel{Title: "β-OPS by a chain, claimed ε = 1", XLabel: "steps of the chain", YLabel: "ε ≥ (95%)", LogX: true,
			Lines: chains},
		plot.Panel{Title: "Success and error, claimed ε 0.2 to 20", XLabel: "attack success rate",
			YLabel: "log RMSE (n=1000, d=2)", Lines: scatter})
}

// attacked is the outcome of one game.
type attacked struct {
	pair             float64 // largest log odds of the two data sets, NaN if unknown
	trials           audit.Trials
	lower, published float64
	logRMSE          float64
}

// opponent releases a parameter for either data set, and has the attacker's score.
type opponent struct {
	release func(rng *rand.Rand, present bool) []float64
	odds    func(theta []float64) float64
	pair    float64
}

// attackOne chooses a threshold in one game and plays another.
func (s settings) attackOne(ctx context.Context, name string, eps float64) (attacked, error) {
	o, delta, err := s.opponent(name, eps)
	if err != nil {
		return attacked{}, err
	}
	rng := s.stream("membership", name, eps)
	r := attacked{pair: o.pair, logRMSE: math.NaN()}
	if r.trials, err = o.play(ctx, rng, o.threshold(rng, 4*attackRounds, delta)); err != nil {
		return r, err
	}
	if r.lower, _, err = lowerBounds(r.trials, delta); err != nil {
		return r, err
	}
	// The success rate, and what was published, are those of the threshold 0.
	if r.trials, err = o.play(ctx, rng, 0); err != nil {
		return r, err
	}
	if _, r.published, err = lowerBounds(r.trials, delta); err != nil || name == "coin flip" {
		return r, err
	}
	r.logRMSE, err = s.attackRMSE(name, eps)
	return r, err
}

// lowerBounds are what follows for ε from counts, and what the published code, which
// divides both kinds of errors by all rounds, reports.
func lowerBounds(t audit.Trials, delta float64) (correct, published float64, err error) {
	if correct, err = t.LowerEpsilon(delta, attackAlarm); err != nil {
		return 0, 0, err
	}
	all := t.Absent + t.Present
	published, err = audit.Trials{Absent: all, Present: all, FalsePositives: t.FalsePositives,
		FalseNegatives: t.FalseNegatives}.LowerEpsilon(delta, attackAlarm)
	return correct, published, err
}

func (o opponent) play(ctx context.Context, rng *rand.Rand, threshold float64) (audit.Trials, error) {
	return audit.Play(ctx, audit.Game{
		Release: func(present bool) ([]float64, error) { return o.release(rng, present), nil },
		LogOdds: o.odds, Threshold: threshold, Rounds: attackRounds, Coin: rng,
	})
}

// threshold returns the log odds from which guessing present shows the largest ε in
// a game of its own, so that the game that counts has nothing left to choose.
func (o opponent) threshold(rng *rand.Rand, rounds int, delta float64) float64 {
	scores := [2][]float64{}
	for k, present := range []bool{false, true} {
		for range rounds / 2 {
			scores[k] = append(scores[k], o.odds(o.release(rng, present)))
		}
		slices.Sort(scores[k])
	}
	best, at := -1.0, 0.0
	for i := 1; i < 200; i++ {
		for _, side := range scores {
			c := side[i*len(side)/200]
			fn, _ := slices.BinarySearch(scores[1], c)
			below, _ := slices.BinarySearch(scores[0], c)
			t := audit.Trials{Absent: rounds / 2, Present: rounds / 2, FalsePositives: rounds/2 - below, FalseNegatives: fn}
			if l, err := t.LowerEpsilon(delta, attackAlarm); err == nil && l > best {
				best, at = l, c
			}
		}
	}
	return at
}

// attackTarget is logistic regression under a loss.
func attackTarget(features int, loss targets.Loss) (*targets.Regression, error) {
	return targets.New(targets.RegressionConfig{Features: features, Loss: loss,
		Prior: priors.Gaussian{SD: attackPrior}})
}

// attackPosterior is a one-posterior mechanism by name.
func attackPosterior(name string, features int, eps float64) (*posterior.Mechanism, error) {
	if name == "Minami" {
		return posterior.NewLipschitz(posterior.LipschitzConfig{
			Features: features, Radius: math.Sqrt(float64(features)), PriorSD: attackPrior, Rule: posterior.Minami, Epsilon: eps,
			Delta: attackDelta,
		})
	}
	beta, err := posterior.SolveBeta(eps, posterior.Mass())
	if err != nil {
		return nil, err
	}
	loss := targets.Loss{Beta: beta}
	target, err := attackTarget(features, loss)
	if err != nil {
		return nil, err
	}
	return posterior.NewBounded(posterior.Config{Target: target, Epsilon: eps})
}

// lattice is a posterior of two parameters under a prior on the points of a square
// grid. The theorem of Jewson et al. holds for every prior, so inversion draws from
// a mechanism with the same claim, exactly.
type lattice struct {
	logp, cdf []float64
}

const (
	latticeReach = 8 * attackPrior
	latticeStep  = 0.1
)

// latticeSide is the number of points on a side.
var latticeSide = 2*int(math.Round(latticeReach/latticeStep)) + 1

// newLattice tabulates a density.
func newLattice(p posterior.LogDensity) *lattice {
	n := latticeSide * latticeSide
	l := &lattice{logp: make([]float64, n), cdf: make([]float64, n)}
	grad := make([]float64, 2)
	for i := range l.logp {
		l.logp[i] = p.LogDensityGrad(grad, latticePoint(i))
	}
	top, sum := slices.Max(l.logp), 0.0
	for i, v := range l.logp {
		sum += math.Exp(v - top)
		l.cdf[i] = sum
	}
	for i := range l.logp {
		l.logp[i] -= top + math.Log(sum)
		l.cdf[i] /= sum
	}
	return l
}

func latticePoint(i int) []float64 {
	return []float64{float64(i/latticeSide)*latticeStep - latticeReach, float64(i%latticeSide)*latticeStep - latticeReach}
}

// latticeIndex is the inverse of latticePoint.
func latticeIndex(theta []float64) int {
	at := func(x float64) int {
		return max(0, min(latticeSide-1, int(math.Round((x+latticeReach)/latticeStep))))
	}
	return at(theta[0])*latticeSide + at(theta[1])
}

func (l *lattice) draw(rng *rand.Rand) []float64 {
	i, _ := slices.BinarySearch(l.cdf, rng.Float64())
	return latticePoint(min(i, len(l.cdf)-1))
}

// latticeOpponent releases exact draws and is attacked with the exact log odds.
func latticeOpponent(m *posterior.Mechanism) (opponent, error) {
	var laws [2]*lattice
	for k, rows := range attackPair {
		p, err := m.Density(rows)
		if err != nil {
			return opponent{}, err
		}
		laws[k] = newLattice(p)
	}
	o := opponent{
		release: func(rng *rand.Rand, present bool) []float64 {
			if present {
				return laws[1].draw(rng)
			}
			return laws[0].draw(rng)
		},
		odds: func(theta []float64) float64 {
			i := latticeIndex(theta)
			return laws[1].logp[i] - laws[0].logp[i]
		},
	}
	for i, v := range laws[1].logp {
		o.pair = max(o.pair, math.Abs(v-laws[0].logp[i]))
	}
	return o, nil
}
