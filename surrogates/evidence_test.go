package surrogates

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/ops/nuts"
)

// TestEvidence: the bridge is within six of its standard errors, and .02, of the integral of normal
// densities, wherever and however wide they are.
func TestEvidence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 12).Draw(t, "d")
		p := normalPart{sd: math.Exp(rapid.Float64Range(-9, 9).Draw(t, "log sd")),
			log: rapid.Float64Range(-1e4, 1e4).Draw(t, "log")}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for range d {
			p.mean = append(p.mean, 100*rng.NormFloat64())
		}
		draws := Draws{LeastESS: math.Inf(1), Chains: make([][][]float64, 4)}
		for c := range draws.Chains {
			for range 100 {
				x := make([]float64, d)
				for j := range x {
					x[j] = p.mean[j] + p.sd*rng.NormFloat64()
				}
				draws.Chains[c] = append(draws.Chains[c], x)
			}
		}
		log, relative := evidence(p.Density(), draws, spread{}, rng)
		if off := math.Abs(log - p.log); off > 6*relative+0.02 {
			t.Fatalf("log evidence %v, true %v, standard error %v", log, p.log, relative)
		}
		if relative > 0.2 {
			t.Fatalf("relative error %v of %d coordinates", relative, d)
		}
	})
}

// skewed is a law of as many coordinates, each the logarithm of a gamma variable that is stretched, then mixed with the
// one before. Its density integrates to e^log.
type skewed struct {
	dim          int
	stretch, log float64
}

const skewedShape = 3

func (s skewed) density() nuts.LogDensity {
	whole, _ := math.Lgamma(skewedShape)
	return nuts.Func(s.dim, func(_, x []float64) float64 {
		sum, before := s.log-float64(s.dim)*(whole+math.Log(s.stretch)), 0.0
		for _, v := range x {
			z := (v - before/2) / s.stretch
			sum += skewedShape*z - math.Exp(z)
			before = v
		}
		return sum
	})
}

// draws are independent.
func (s skewed) draws(n int, rng *rand.Rand) Draws {
	one := distuv.Gamma{Alpha: skewedShape, Beta: 1, Src: rng}
	out := Draws{LeastESS: float64(n), Chains: make([][][]float64, 2)}
	for i := range n {
		x := make([]float64, s.dim)
		for j := range x {
			x[j] = s.stretch * math.Log(one.Rand())
			if j > 0 {
				x[j] += x[j-1] / 2
			}
		}
		out.Chains[i%2] = append(out.Chains[i%2], x)
	}
	return out
}

// TestEvidenceOfManyCoordinates: of skewed laws of 40 coordinates that are like one another, log evidences are as far
// from the truth as their standard errors say, and these are less than without the others' spread. The mean square of
// 12 standardized distances is above 4.3 once in 10⁶ runs if they are independent and normal. Seeds are fixed. The
// mutant is bridged to the draws that it was fitted to.
func TestEvidenceOfManyCoordinates(t *testing.T) {
	const sets, d, n, limit = 12, 40, 320, 4.3
	var square, fitted, off, alone float64
	for seed := range uint64(sets) {
		rng := rand.New(rand.NewPCG(seed, 9))
		law := skewed{d, 1.2, 50 * rng.NormFloat64()}
		draws := law.draws(n, rng)
		var others spread
		for _, stretch := range []float64{1, 1.4} {
			others.add(spreadOf(slices.Concat(skewed{d, stretch, 0}.draws(n, rng).Chains...)))
		}
		log, relative := evidence(law.density(), draws, others, rng)
		square += math.Pow((log-law.log)/relative, 2) / sets
		off += relative / sets
		_, relative = evidence(law.density(), draws, spread{}, rng)
		alone += relative / sets

		half := draws.Chains[0]
		from, ok := fitStudent(half, spread{})
		if !ok {
			t.Fatal("draws have no covariance")
		}
		log, relative = from.bridgeTo(law.density(), half, 1, rng)
		fitted += math.Pow((log-law.log)/relative, 2) / sets
	}
	t.Logf("mean square %.2f, of the mutant %.2f; standard errors are %.2f, and %.2f alone", square, fitted, off, alone)
	if square > limit || fitted < limit {
		t.Errorf("mean square %v, and %v of a law bridged to the draws it was fitted to; at most %v, and more are meant",
			square, fitted, limit)
	}
	if off > 0.8*alone || off > mostError {
		t.Errorf("standard errors are %v, and %v without the others' spread", off, alone)
	}
}

// TestSpreads: the spread of draws apart is about their own means.
func TestSpreads(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var all spread
	for _, at := range []float64{-100, 100} {
		var draws [][]float64
		for range 200 {
			draws = append(draws, []float64{at + rng.NormFloat64(), rng.NormFloat64()})
		}
		all.add(spreadOf(draws))
	}
	var off mat.Dense
	off.Sub(all.covariance, mat.NewDiagDense(2, []float64{1, 1}))
	if most := mat.Norm(&off, math.Inf(1)); all.draws != 400 || most > 0.5 {
		t.Errorf("the spread of %v draws is %v from that of each", all.draws, most)
	}
}
