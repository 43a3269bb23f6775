package canaries

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/audit"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestAuditCatchesARunAboveItsClaim: runs that spend ε 650 and claim the price of ones
// that spend 0.3 are caught.
func TestAuditCatchesARunAboveItsClaim(t *testing.T) {
	s := Config{Chain: chains.Settings{Kernel: "barker", Iterations: 4000, Temperature: 1, Start: "prior-mean",
		Step: 0.5},
		Epsilon: 700, Delta: 1e-6, Records: 60, Canaries: 50, Seed: 1}
	plan, responses, err := s.plan()
	if err != nil {
		t.Fatal(err)
	}
	claim, err := accountant.ZCDP(accountant.Substitute, 0.002)
	if err != nil {
		t.Fatal(err)
	}
	f, err := audit.Canaries{
		Name: "overspent", Claim: claim, Records: s.Records, Each: s.Canaries, Runs: 40, Responses: responses, Delta: 1e-8,
		FalseAlarm: 1e-6,
		Coin:       rand.New(rand.NewPCG(5, 5)),
		Run: func(ctx context.Context, table targets.Rows, run int) ([][]float64, error) {
			return s.draw(ctx, plan, table, uint64(run))
		},
	}.Attack(context.Background())
	if err != nil || !f[0].Violated() || !f[1].Violated() || f[2].Violated() || f[2].Lower < f[2].Claimed {
		t.Errorf("%v, %v", f, err)
	}
	t.Log(f)
}

// TestWholeRunsShowTheirReleases: attacks on everything that a chain releases show at
// least this share of its claim, which is 5 standard errors below what was measured, and
// no more than the claim. Without what is released besides draws, dphmc shows 0. A canary
// alone gets all of a move.
func TestWholeRunsShowTheirReleases(t *testing.T) {
	for kernel, c := range map[string]struct {
		canaries, runs int
		iterations     int64
		share          float64
	}{
		"dpsgld":        {50, 20, 500, 0.45},
		"dphmc":         {50, 20, 100, 0.17},
		"penalty-ratio": {1, 500, 500, 0.2},
		"barker":        {1, 500, 500, 0.08},
	} {
		s := Config{Chain: chains.Settings{Kernel: kernel, Iterations: c.iterations, Temperature: 1, Start: "auto"},
			Epsilon: 8, Delta: 1e-6, Records: 10 * c.canaries, Canaries: c.canaries, Runs: c.runs, FalseAlarm: 1e-6, Seed: 1}
		f, err := s.Attack(context.Background())
		if err != nil || f[0].Violated() || f[1].Violated() || f[2].Lower > f[2].Claimed ||
			f[2].Tightness() < c.share {
			t.Errorf("%s: %v, %v", kernel, f, err)
			continue
		}
		t.Logf("%s: tightness %.2f", kernel, f[2].Tightness())
	}
}
