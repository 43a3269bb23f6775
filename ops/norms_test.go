package ops_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/ops/chaudhuri"
	"github.com/dpmcmc/dpmcmc/ops/laplaceapprox"
	"github.com/dpmcmc/dpmcmc/ops/posterior"
	"github.com/dpmcmc/dpmcmc/ops/suffstat"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestNormsAreEnforced: every mechanism whose sensitivity rests on a public norm
// releases the same, from the same seed, for rows outside it and for the rows
// that they are projected to; rows that are not numbers count as zeros. Rows that
// are shorter release something else, so the comparison can fail.
func TestNormsAreEnforced(t *testing.T) {
	const n = 40
	outside := targets.Rows{P: 2}
	for i := range n {
		angle := float64(i)
		outside.X = append(outside.X, (2+angle)*math.Cos(angle), (2+angle)*math.Sin(angle))
		outside.Y = append(outside.Y, float64(i%2))
	}
	outside.X[6], outside.X[9] = math.NaN(), math.Inf(-1)
	inside := ops.Project(outside, 1)
	shorter := ops.Project(outside, 0.5)
	shorter.Y = outside.Y
	for name, release := range mechanisms(t, n) {
		draw := func(rows targets.Rows) string {
			out, err := release(ops.NewInsecureSource([32]byte{7}), rows)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return fmt.Sprint(out)
		}
		if a, b := draw(outside), draw(inside); a != b {
			t.Errorf("%s: rows outside the norm release %v, projected ones %v", name, a, b)
		}
		if draw(inside) == draw(shorter) {
			t.Errorf("%s: the release does not depend on the rows", name)
		}
	}
}

// mechanisms are those that rest on ‖x‖₂ ≤ 1, for n records of two features.
func mechanisms(t *testing.T, n int) map[string]func(*ops.Source, targets.Rows) (any, error) {
	t.Helper()
	all := map[string]func(*ops.Source, targets.Rows) (any, error){}
	for name, method := range map[string]chaudhuri.Method{"output": chaudhuri.Output, "output, L1": chaudhuri.OutputL1,
		"objective": chaudhuri.Objective} {
		m, err := chaudhuri.New(chaudhuri.Config{Method: method, Features: 2, Records: n, Radius: 1, Lambda: 1, Epsilon: 50})
		if err != nil {
			t.Fatal(err)
		}
		all[name] = func(src *ops.Source, rows targets.Rows) (any, error) { return m.Release(src, rows) }
	}
	laplace, err := laplaceapprox.New(laplaceapprox.Config{Features: 2, Records: n, Radius: 1, PriorSD: 2, Epsilon: 50,
		Delta: 1e-5})
	if err != nil {
		t.Fatal(err)
	}
	all["Laplace approximation"] = func(src *ops.Source, rows targets.Rows) (any, error) {
		r, err := laplace.Release(src, rows)
		if err != nil {
			return nil, err
		}
		return append(r.Optimum, r.Hessian.At(0, 0), r.Hessian.At(0, 1), r.Hessian.At(1, 1)), nil
	}
	for _, law := range []suffstat.Law{suffstat.Laplace, suffstat.Gaussian} {
		privacy := suffstat.Privacy{Law: law, Epsilon: 50}
		if law == suffstat.Gaussian {
			privacy.Delta = 1e-5
		}
		m, err := suffstat.NewMoments(suffstat.MomentsConfig{Features: 2, Records: n, Radius: 1, Bound: 1, Privacy: privacy})
		if err != nil {
			t.Fatal(err)
		}
		all[fmt.Sprintf("moments, law %d", law)] = func(src *ops.Source, rows targets.Rows) (any, error) {
			s, err := m.Release(src, rows)
			if err != nil {
				return nil, err
			}
			return s.RawSymmetric().Data, nil
		}
	}
	ball, err := posterior.NewBall(posterior.BallConfig{Features: 2, Radius: 1, Ball: 3, PriorSD: 2, Epsilon: 50})
	if err != nil {
		t.Fatal(err)
	}
	lipschitz, err := posterior.NewLipschitz(posterior.LipschitzConfig{Features: 2, Radius: 1, PriorSD: 2,
		Rule: posterior.Minami, Epsilon: 50, Delta: 1e-5})
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]*posterior.Mechanism{"ball": ball, "Lipschitz": lipschitz} {
		all[name] = func(src *ops.Source, rows targets.Rows) (any, error) {
			return m.Release(src, rows, 1, posterior.NUTS(50, 1))
		}
	}
	return all
}
