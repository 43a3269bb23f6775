package surrogates

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/ops/nuts"
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

// fewDraws is the least number of draws that tell a part's evidence, and mostError the largest
// relative error of the whole evidence with which a mixture counts as explored.
const (
	fewDraws  = 50
	mostError = 0.3
)

// sampleParts draws from a mixture: from each part as many as its share of the evidence says, in
// random order.
func sampleParts(ctx context.Context, parts []Posterior, c SampleConfig) (Draws, error) {
	drawn := make([]Draws, len(parts))
	logs, off := make([]float64, len(parts)), make([]float64, len(parts))
	gradients := 0
	each := func(run, k, draws int) (Draws, error) {
		own := c
		own.Draws, own.Seed = draws, c.Seed+uint64(run*len(parts)+k+1)*0x9e3779b97f4a7c15
		mean, factor, err := parts[k].centre()
		if err != nil {
			return Draws{}, err
		}
		out, err := sampleOnce(ctx, parts[k], own, mean, factor)
		gradients += out.Gradients
		return out, err
	}
	// A covariance of fewer draws than coordinates is none.
	few := max(fewDraws<<c.again, c.Draws/len(parts), 10*parts[0].parameters()/c.Chains)
	for k := range parts {
		var err error
		if drawn[k], err = each(0, k, few); err != nil {
			return Draws{}, err
		}
		logs[k], off[k] = evidence(parts[k].Density(), drawn[k], rand.New(rand.NewPCG(c.Seed, uint64(k))))
	}
	total := floats.LogSumExp(logs)
	if math.IsInf(total, 0) || math.IsNaN(total) {
		return Draws{}, errors.New("surrogates: the posterior given each imputation is nowhere finite")
	}
	shares, relative := make([]float64, len(parts)), 0.0
	for k, l := range logs {
		shares[k] = math.Exp(l - total)
		relative = math.Hypot(relative, shares[k]*off[k])
	}
	counts := split(c.Draws, shares)
	for k, n := range counts {
		if n <= few {
			continue
		}
		more, err := each(1, k, max(fewDraws, n-few))
		if err != nil {
			return Draws{}, err
		}
		drawn[k].Divergences += more.Divergences
		for i, chain := range more.Chains {
			drawn[k].Chains[i] = append(drawn[k].Chains[i], chain...)
		}
	}
	out := mix(drawn, counts, rand.New(rand.NewPCG(c.Seed, 0x3147)))
	out.Gradients = gradients
	out.diagnose(c)
	out.Explored = out.Explored && relative <= mostError
	return out, nil
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

// evidence is the logarithm of a density's integral by bridge sampling (Meng and Wong 1996) from
// Student's t with the mean and the covariance of the first half of the draws to the second, and
// about its standard error (Frühwirth-Schnatter 2004).
func evidence(density nuts.LogDensity, draws Draws, rng *rand.Rand) (log, relative float64) {
	var pooled [][]float64
	for i := range draws.Chains[0] {
		for _, chain := range draws.Chains {
			pooled = append(pooled, chain[i])
		}
	}
	half := len(pooled) / 2
	from, ok := fitStudent(pooled[:half])
	if !ok {
		return math.Inf(-1), 1
	}
	grad := make([]float64, len(pooled[0]))
	ratio := func(x []float64) float64 { return density.LogDensityGrad(grad, x) - from.log(x) }
	target, proposed := make([]float64, len(pooled)-half), make([]float64, len(pooled)-half)
	for i, x := range pooled[half:] {
		target[i] = ratio(x)
		proposed[i] = ratio(from.draw(rng))
	}
	return bridge(target, proposed, draws.LeastESS/float64(2*half))
}

// bridge is the logarithm of the ratio of two normalizing constants, given the log ratio of
// densities at as many draws of each, and its standard error. Draws of the first count as the
// share kept of them.
func bridge(first, second []float64, kept float64) (log, relative float64) {
	top := max(floats.Max(first), floats.Max(second))
	r := 1.0
	up, down := make([]float64, len(second)), make([]float64, len(first))
	for range 100 {
		for i, l := range second {
			e := math.Exp(l - top)
			up[i] = e / (e + r)
		}
		for i, l := range first {
			down[i] = r / (math.Exp(l-top) + r)
		}
		r *= stat.Mean(up, nil) / stat.Mean(down, nil)
	}
	variance := func(x []float64) float64 {
		mean, v := stat.MeanVariance(x, nil)
		return v / (mean * mean * float64(len(x)))
	}
	return math.Log(r) + top, math.Sqrt(variance(up) + variance(down)/min(1, max(kept, 1e-3)))
}

// student is a multivariate law of Student's with studentDegrees degrees of freedom.
type student struct {
	mean, lower     []float64
	log0            float64
	centred, solved []float64 // buffers
}

const studentDegrees = 5

// fitStudent has the draws' mean and covariance in the place of location and scale.
func fitStudent(draws [][]float64) (*student, bool) {
	d := len(draws[0])
	s := &student{mean: make([]float64, d), lower: make([]float64, d*d), centred: make([]float64, d),
		solved: make([]float64, d)}
	rows := mat.NewDense(len(draws), d, nil)
	for i, x := range draws {
		rows.SetRow(i, x)
		floats.AddScaled(s.mean, 1/float64(len(draws)), x)
	}
	var cov mat.SymDense
	stat.CovarianceMatrix(&cov, rows, nil)
	for j := range d {
		for k := range j + 1 {
			s.lower[j*d+k] = cov.At(j, k)
		}
	}
	if !cholesky(s.lower, d) {
		return nil, false
	}
	whole, _ := math.Lgamma((studentDegrees + float64(d)) / 2)
	own, _ := math.Lgamma(studentDegrees / 2.0)
	s.log0 = whole - own - float64(d)/2*math.Log(studentDegrees*math.Pi)
	for j := range d {
		s.log0 -= math.Log(s.lower[j*d+j])
	}
	return s, true
}

// log is the law's log density.
func (s *student) log(x []float64) float64 {
	floats.SubTo(s.centred, x, s.mean)
	forward(s.solved, s.lower, s.centred)
	return s.log0 - (studentDegrees+float64(len(x)))/2*math.Log1p(dot(s.solved, s.solved)/studentDegrees)
}

// draw is valid until the next.
func (s *student) draw(rng *rand.Rand) []float64 {
	square := 0.0
	for range studentDegrees {
		z := rng.NormFloat64()
		square += z * z
	}
	scale, d := math.Sqrt(studentDegrees/square), len(s.mean)
	for j := range d {
		s.solved[j] = scale * rng.NormFloat64()
	}
	for j := range d {
		s.centred[j] = s.mean[j] + dot(s.lower[j*d:j*d+j+1], s.solved[:j+1])
	}
	return s.centred
}
