package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/planning"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// TestPublishedIterations: at the published settings our accountant affords the
// numbers of iterations that the published one did.
func TestPublishedIterations(t *testing.T) {
	facts := curator.Facts{Records: gaussN, Features: gaussDim, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	want := map[string][]int64{"penalty, as published": {12, 89, 414}, "DP-HMC, as published": {16, 116, 538}}
	for _, m := range gaussMethods() {
		for i, n := range want[m.name] {
			eps := []float64{2, 6, 15}[i]
			got, err := m.chain.affordable(gaussChains, facts, planning.Budget{Epsilon: eps, Delta: gaussDelta})
			if err != nil || got != n {
				t.Errorf("%s at ε = %v: %d iterations (%v), published %d", m.name, eps, got, err, n)
			}
		}
	}
}

// TestGaussMean checks the target's laws, and its posterior against its own density:
// the gradient vanishes at the mean, and a standard deviation from it costs a half.
func TestGaussMean(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := gaussRecords(rng)
	p := newGaussPosterior(x)
	target := gaussMean{sd: gaussScales()}
	for j := range target.prior {
		target.prior[j] = gaussPriorSD
	}
	logp := func(theta []float64) float64 {
		v := target.LogPrior(theta)
		for i := range gaussN {
			for j, s := range target.sd {
				z := (x[i*gaussDim+j] - theta[j]) / s
				v -= z * z / 2
			}
		}
		return v
	}
	proptest.CheckTarget(t, target, proptest.TargetOptions{Effort: proptest.Quick})
	top := logp(p.mean[:])
	for j := range p.mean {
		theta := append([]float64(nil), p.mean[:]...)
		theta[j] += p.sd[j]
		if drop := top - logp(theta); math.Abs(drop-0.5) > 1e-3 {
			t.Errorf("coordinate %d: a standard deviation costs %v, want ½", j, drop)
		}
	}
	if r := p.varianceRatio(p.draws(rng, 4000)); math.Abs(r-1) > 0.05 {
		t.Errorf("variance ratio %v of exact draws", r)
	}
}
