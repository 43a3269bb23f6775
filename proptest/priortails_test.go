package proptest

import "testing"

// TestFarEnds: what a parameter is where another is far out shows, and that of right ones does not: of 60 evidences
// none may be below 10⁻⁶ in all, which right ones are once in a million runs at most.
func TestFarEnds(t *testing.T) {
	const draws, seeds = 30_000, 60
	p := func(seed uint64, wrong func(theta []float64) bool) float64 {
		rng, all := rand64(seed, 1), make([][]float64, draws)
		for i := range all {
			all[i] = []float64{rng.NormFloat64(), rng.Float64()} // the second is uniform given the first
			if wrong(all[i]) {
				all[i][1] = 0.2 + 0.6*all[i][1]
			}
		}
		e := &evidence{}
		for _, f := range farEnds(all, 1) {
			for _, theta := range all {
				f.add(theta[f.k], polynomials(2*theta[1]-1))
			}
			f.see(e, 1)
		}
		return e.family()
	}
	for seed := range uint64(seeds) {
		if got := p(seed, func([]float64) bool { return false }); got < 1e-6/seeds {
			t.Errorf("seed %d: p = %g of right draws", seed, got)
		}
	}
	for name, wrong := range map[string]func(theta []float64) bool{
		"least":   func(theta []float64) bool { return theta[0] < -2 },
		"largest": func(theta []float64) bool { return theta[0] > 2 },
	} {
		if got := p(1, wrong); !(got < 1e-6/seeds) {
			t.Errorf("p = %g where the %s are wrong", got, name)
		}
	}
}
