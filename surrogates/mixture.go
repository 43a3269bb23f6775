package surrogates

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// mixed is a posterior whose likelihood is a mean of others. A sampler hardly passes from one to
// the next, so each is sampled for itself and counts by its evidence.
type mixed interface {
	// parts are the posteriors of each, nil where there is one.
	parts() ([]Posterior, error)
}

// parts are the posteriors given each imputation of the features.
func (p *Score) parts() ([]Posterior, error) {
	if len(p.imputations) == 1 {
		return nil, nil
	}
	out := make([]Posterior, len(p.imputations))
	for k := range out {
		part := *p
		part.imputations = []imputation{p.imputations[k]}
		if err := part.settle(nil); err != nil {
			return nil, err
		}
		out[k] = &part
	}
	return out, nil
}

// fewDraws is the least number of a chain's draws that tell a part's evidence, and fewAmong that of all chains for each
// coordinate. mostError is the largest relative error of the whole evidence with which a mixture counts as explored.
const (
	fewDraws  = 50
	fewAmong  = 10
	mostError = 0.3
)

// among is a mixture as it is sampled, each part by itself.
type among struct {
	parts     []Posterior
	drawn     []Draws
	logs, off []float64 // of the evidences, and their standard errors
	runs      uint64
	gradients int
}

// sampleParts draws from a mixture: from each part as many as its share of the evidence says, in
// random order.
func sampleParts(ctx context.Context, parts []Posterior, c SampleConfig) (Draws, error) {
	n := len(parts)
	a := among{parts: parts, drawn: make([]Draws, n), logs: make([]float64, n), off: make([]float64, n)}
	few := max(c.Draws/n, max(fewDraws, fewAmong*parts[0].parameters()/c.Chains)<<c.again)
	for k := range parts {
		if err := a.more(ctx, c, k, few); err != nil {
			return Draws{}, err
		}
	}
	for k := range parts {
		a.weigh(c, k)
	}
	shares, relative, worst := a.shares()
	for range n {
		if !(relative > mostError) {
			break
		}
		if err := a.more(ctx, c, worst, len(a.drawn[worst].Chains[0])); err != nil {
			return Draws{}, err
		}
		a.weigh(c, worst)
		shares, relative, worst = a.shares()
	}
	if math.IsNaN(relative) {
		return Draws{}, errors.New("surrogates: the posterior given each imputation is nowhere finite")
	}
	counts := split(c.Draws, shares)
	for k, count := range counts {
		if less := count - len(a.drawn[k].Chains[0]); less > 0 {
			if err := a.more(ctx, c, k, max(fewDraws, less)); err != nil {
				return Draws{}, err
			}
		}
	}
	out := mix(a.drawn, counts, rand.New(rand.NewPCG(c.Seed, 0x3147)))
	out.Gradients = a.gradients
	out.diagnose(c)
	out.Explored = out.Explored && relative <= mostError
	return out, nil
}

// more draws so many more of a part.
func (a *among) more(ctx context.Context, c SampleConfig, k, draws int) error {
	c.Draws, c.warmup = draws, max(fewDraws, draws/2)
	a.runs++
	c.Seed += a.runs * 0x9e3779b97f4a7c15
	mean, factor, err := a.parts[k].centre()
	if err != nil {
		return err
	}
	more, err := sampleOnce(ctx, a.parts[k], c, mean, factor)
	if err != nil {
		return err
	}
	a.gradients += more.Gradients
	if all := &a.drawn[k]; all.Chains == nil {
		*all = more
	} else {
		all.LeastESS += more.LeastESS
		all.Divergences += more.Divergences
		for i, chain := range more.Chains {
			all.Chains[i] = append(all.Chains[i], chain...)
		}
	}
	return nil
}

// weigh finds the evidence of a part.
func (a *among) weigh(c SampleConfig, k int) {
	var others spread
	for l, drawn := range a.drawn {
		if l != k {
			others.add(spreadOf(slices.Concat(drawn.Chains...)))
		}
	}
	rng := rand.New(rand.NewPCG(c.Seed, uint64(k)))
	a.logs[k], a.off[k] = evidence(a.parts[k].Density(), a.drawn[k], others, rng)
}

// shares are those of parts in the evidence, with its relative error, and the part that it is most of. Estimates that
// are far off are mostly too small, so errors count upwards.
func (a *among) shares() (shares []float64, relative float64, worst int) {
	total := floats.LogSumExp(a.logs)
	each := make([]float64, len(a.parts))
	for k, l := range a.logs {
		shares = append(shares, math.Exp(l-total))
		each[k] = shares[k] * math.Expm1(a.off[k])
	}
	return shares, floats.Norm(each, 2), floats.MaxIdx(each)
}

// split divides n by shares, which add up to 1, with the largest remainders rounded up.
func split(n int, shares []float64) []int {
	counts, left, rest := make([]int, len(shares)), n, make([]float64, len(shares))
	for k, s := range shares {
		counts[k] = int(s * float64(n))
		rest[k] = s*float64(n) - float64(counts[k])
		left -= counts[k]
	}
	for range left {
		k := floats.MaxIdx(rest)
		counts[k]++
		rest[k] = -1
	}
	return counts
}

// mix puts so many draws of each part in random order, those of a part in their own, evenly
// taken of what there is.
func mix(drawn []Draws, counts []int, rng *rand.Rand) (out Draws) {
	for c := range drawn[0].Chains {
		var labels []int
		for k, n := range counts {
			for range n {
				labels = append(labels, k)
			}
		}
		rng.Shuffle(len(labels), func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
		taken, chain := make([]int, len(counts)), make([][]float64, len(labels))
		for i, k := range labels {
			own := drawn[k].Chains[c]
			chain[i] = own[taken[k]*len(own)/counts[k]]
			taken[k]++
		}
		out.Chains = append(out.Chains, chain)
	}
	for k, n := range counts {
		if n > 0 {
			out.Divergences += drawn[k].Divergences
		}
	}
	return out
}
