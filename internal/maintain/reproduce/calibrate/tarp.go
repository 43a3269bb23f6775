package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
)

// The design of the linear regressions of Alrawajfeh, Jälkö, Honkela 2025: 10 standard
// normal features and an intercept, and an unknown scale of errors. Priors and bounds are
// ours.
const (
	tarpFeatures = 10
	tarpRadius   = 6.0  // of (1, x), which is longer in one row of 10⁴
	tarpResponse = 14.0 // four standard deviations of responses
	tarpScale    = 1.0  // of the half-normal prior of the excess of σ over tarpLeast
	tarpLeast    = 0.1
)

// tarpTable prints the error of expected coverage, by distances to random points (TARP,
// Lemos et al. 2023), of posteriors given released sums.
func tarpTable() error {
	mu, err := gaussianMu(*epsilon, delta)
	if err != nil {
		return err
	}
	m := curator.SecondMoment{Response: tarpResponse, NoiseMultiplier: 1 / mu}
	f := curator.Facts{Records: int64(*records), Features: tarpFeatures + 1, Response: true, Radius: tarpRadius,
		RowsPerPerson: 1, Adjacency: accountant.Substitute}
	sd, err := m.NoiseSD(f)
	if err != nil {
		return err
	}
	var ranks []float64
	for i := range *sets {
		rng := rand.New(rand.NewPCG(*seed, uint64(i)))
		rank, err := tarpRank(m.ResponseUnit(f), sd, rng, uint64(i))
		if err != nil {
			return err
		}
		ranks = append(ranks, rank)
	}
	fmt.Printf("n %d d %d ε %v sets %d: TARP error %.4f; %.4f expected of a calibrated posterior\n", *records,
		tarpFeatures+1, *epsilon, *sets, coverageError(ranks), calibratedError(len(ranks)))
	return nil
}

// tarpRank simulates one data set and returns the share of draws that are nearer to a
// random point than the truth is.
func tarpRank(unit, sd float64, rng *rand.Rand, seed uint64) (float64, error) {
	const d = tarpFeatures + 1
	truth := make([]float64, d+1)
	for j := range d {
		truth[j] = rng.NormFloat64()
	}
	sigma := tarpLeast + tarpScale*math.Abs(rng.NormFloat64())
	truth[d] = math.Log(sigma - tarpLeast)
	s := surrogates.Sums{Moment: make([]float64, (d+1)*(d+1)), MomentSD: sd, Features: d, Records: int64(*records),
		Radius: tarpRadius}
	z := make([]float64, d+1)
	for range *records {
		z[0] = 1
		for j := 1; j < d; j++ {
			z[j] = rng.NormFloat64()
		}
		y, length := sigma*rng.NormFloat64(), 0.0
		for j := range d {
			y += z[j] * truth[j]
			length += z[j] * z[j]
		}
		floats.Scale(min(1, tarpRadius/math.Sqrt(length)), z[:d])
		z[d] = max(-tarpResponse, min(tarpResponse, y)) / unit
		for j, u := range z {
			for k, v := range z {
				s.Moment[j*(d+1)+k] += u * v
			}
		}
	}
	addNoise(s.Moment, d+1, sd, rng)
	l, err := surrogates.NewLinear(surrogates.LinearConfig{Sums: s, Prior: priors.Gaussian{SD: 1 / unit},
		MinScale: tarpLeast / unit, ScalePrior: priors.HalfNormal{SD: tarpScale / unit}, Seed: seed})
	if err != nil {
		return 0, err
	}
	draws, err := sample(l, seed)
	if err != nil {
		return 0, err
	}
	at := make([]float64, d+1) // uniform, four posterior deviations about the prior's centre
	for j := range at {
		at[j] = 4 * diag.Summarize(draws.Column(j)).SD * (2*rng.Float64() - 1)
		if j == d {
			at[j] += math.Log(tarpScale / unit)
		}
		if j < d {
			truth[j] /= unit
		}
	}
	truth[d] -= math.Log(unit)
	return nearer(slices.Concat(draws.Chains...), truth, at), nil
}

// nearer is the share of draws that are nearer to a point than the truth is.
func nearer(draws [][]float64, truth, at []float64) float64 {
	count := 0.0
	for _, theta := range draws {
		if distance(theta, at) < distance(truth, at) {
			count++
		}
	}
	return count / float64(len(draws))
}

// coverageError is the root mean square difference of the ranks' distribution from the
// uniform one, over levels 0.05 to 0.95.
func coverageError(ranks []float64) float64 {
	sum, count := 0.0, 0.0
	for level := 0.05; level < 0.99; level += 0.05 {
		below := 0.0
		for _, r := range ranks {
			if r < level {
				below += 1 / float64(len(ranks))
			}
		}
		sum, count = sum+(below-level)*(below-level), count+1
	}
	return math.Sqrt(sum / count)
}

// calibratedError is the median of coverageError of so many uniform ranks.
func calibratedError(n int) float64 {
	rng := rand.New(rand.NewPCG(1, 1))
	errs := make([]float64, 1000)
	for i := range errs {
		ranks := make([]float64, n)
		for j := range ranks {
			ranks[j] = rng.Float64()
		}
		errs[i] = coverageError(ranks)
	}
	slices.Sort(errs)
	return errs[len(errs)/2]
}
