package proptest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/targets"
)

// TestJointTails: draws that end at a norm, or nowhere far out in two parameters, show, and right ones do not: of 60
// evidences none may be below 10⁻⁶ in all, which right ones are once in a million runs at most.
func TestJointTails(t *testing.T) {
	const draws, seeds, d = 20_000, 60, 3
	p := func(seed uint64, refused func(z []float64) bool) float64 {
		rng, joint, z, u := rand64(seed, 1), newJointTails(d), make([]float64, d), make([]float64, d)
		for range draws {
			for normals(rng, z); refused(z); {
				normals(rng, z)
			}
			for j, v := range z {
				u[j] = math.Erfc(-v/math.Sqrt2) / 2
			}
			joint.add(u)
		}
		e := &evidence{}
		joint.see(e)
		return e.family()
	}
	for seed := range uint64(seeds) {
		if got := p(seed, func([]float64) bool { return false }); got < 1e-6/seeds {
			t.Errorf("seed %d: p = %g of right draws", seed, got)
		}
	}
	for name, refused := range map[string]func(z []float64) bool{
		"end at a norm": func(z []float64) bool { return norm(z) > 3.36 }, // one in a hundred
		"are far out in one parameter at most": func(z []float64) bool {
			far := 0
			for _, v := range z {
				if math.Abs(v) > 1.5 {
					far++
				}
			}
			return far > 1
		},
	} {
		if got := p(1, refused); !(got < 1e-6/seeds) {
			t.Errorf("p = %g of draws that %s", got, name)
		}
	}
}

// normalPrior is a target whose parameters have a normal prior each.
type normalPrior struct{ targets.Target }

func (normalPrior) Dim() int                         { return 3 }
func (normalPrior) LogPrior(theta []float64) float64 { return -norm(theta) * norm(theta) / 2 }

// TestImprobables: draws that end at a norm show where the others are improbable, and right ones do not, at the rate
// of TestJointTails.
func TestImprobables(t *testing.T) {
	const draws, seeds = 30_000, 60
	p := func(seed uint64, most float64) float64 {
		rng, all := rand64(seed, 2), make([][]float64, draws)
		for i := range all {
			all[i] = make([]float64, 3)
			for normals(rng, all[i]); norm(all[i]) > most; {
				normals(rng, all[i])
			}
		}
		return improbably(all, rng)
	}
	for seed := range uint64(seeds) {
		if got := p(seed, math.Inf(1)); got < 1e-6/seeds {
			t.Errorf("seed %d: p = %g of right draws", seed, got)
		}
	}
	if got := p(1, 3); !(got < 1e-6/seeds) {
		t.Errorf("p = %g of draws that end at a norm", got)
	}
}

// improbably is the evidence of improbables about normal draws.
func improbably(all [][]float64, rng *rand.Rand) float64 {
	abouts := make([]about, len(all[0]))
	for j := range abouts {
		abouts[j] = aboutOf(column(all[:aboutDraws], j))
	}
	e, hardly := &evidence{}, improbables(normalPrior{}, all[:apartDraws], abouts)
	for i, theta := range all {
		j := rng.IntN(len(theta))
		hardly[j].add(theta, polynomials(math.Erf(theta[j]/math.Sqrt2)), i+1)
	}
	for j, p := range hardly {
		for _, f := range p.ends {
			f.see(e, j)
		}
	}
	return e.family()
}
