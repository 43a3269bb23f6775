package main

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/targets"
)

// TestBetaMode: the gradient of the log posterior vanishes at the mode, for every
// arm, on clean and spoilt records, and standard deviations fall by √2 when every
// record is there twice.
func TestBetaMode(t *testing.T) {
	s := settings{seed: 1}
	for _, model := range []string{"linear", "logistic"} {
		for _, dirty := range []bool{false, true} {
			for _, arm := range []betaArm{{beta: 1, tau: 1}, {beta: 1, tau: 0.3}, {beta: 1.5, tau: 1}} {
				r := betaSimulate(s.stream("test", model), model, 1000, dirty)
				rows := targets.Rows{X: r.X, P: r.Features, Y: r.Y}
				target, err := betaTarget(model, arm)
				if err != nil {
					t.Fatal(err)
				}
				mode, sds := betaMode(target, rows, arm.tau)
				d := target.Dim()
				g, per := make([]float64, d), make([]float64, rows.Len()*d)
				target.GradLogPrior(g, mode)
				target.LossGrad(per, mode, rows)
				for i, v := range per {
					g[i%d] -= arm.tau * v
				}
				for j := range g {
					if math.Abs(g[j])*sds[j] > 1e-5 || !(sds[j] > 0) {
						t.Errorf("%s, dirty %v, %+v: slope %v of parameter %d, sd %v", model, dirty, arm, g[j], j, sds[j])
					}
				}
				twice := targets.Rows{X: append(r.X, r.X...), P: r.Features, Y: append(r.Y, r.Y...)}
				if _, half := betaMode(target, twice, arm.tau); math.Abs(half[0]/sds[0]-math.Sqrt(0.5)) > 0.01 {
					t.Errorf("%s, dirty %v, %+v: sd %v, and %v with every record twice", model, dirty, arm, sds[0], half[0])
				}
			}
		}
	}
}
