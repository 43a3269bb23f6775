package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/audit"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/targets"
)

func TestAuditCommand(t *testing.T) {
	junit := filepath.Join(t.TempDir(), "audit.xml")
	code, out, errs := call(context.Background(), "audit", "--rounds", "20000", "--false-alarm", "1e-7", "--json",
		"--junit", junit)
	var got struct {
		Findings []audit.Finding
		Violated *int
	}
	if err := json.Unmarshal([]byte(out), &got); code != exitOK || err != nil || len(got.Findings) < 15 ||
		got.Violated == nil || *got.Violated != 0 {
		t.Fatalf("exit %d, %v: %s %s", code, err, out, errs)
	}
	if text, err := os.ReadFile(junit); err != nil || strings.Count(string(text), "<testcase") != len(got.Findings) {
		t.Errorf("%s, %v", text, err)
	}
	code, out, errs = call(context.Background(), "audit", "--kernel", "barker", "--epsilon", "1", "--delta", "1e-6",
		"--runs", "2", "--iterations", "500")
	if code != exitOK || !strings.Contains(out, "holds") || !strings.Contains(out, "at most") {
		t.Errorf("exit %d: %s %s", code, out, errs)
	}
	for want, args := range map[string][]string{
		"--epsilon and --delta are required|--epsilon, --delta are required": {"audit", "--kernel", "barker"},
		"at least one run": {"audit", "--kernel", "barker", "--epsilon", "1", "--delta", "1e-6", "--canaries", "600"},
		"100 Rounds":       {"audit", "--rounds", "5"},
		"false alarm 2":    {"audit", "--kernel", "barker", "--epsilon", "1", "--delta", "1e-6", "--false-alarm", "2"},
	} {
		code, _, errs := call(context.Background(), args...)
		found := false
		for w := range strings.SplitSeq(want, "|") {
			found = found || strings.Contains(errs, w)
		}
		if code != exitUsage || !found {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
}

// TestAuditCatchesARunAboveItsClaim: runs that spend ε 650 and claim the price of ones
// that spend 0.3 are caught.
func TestAuditCatchesARunAboveItsClaim(t *testing.T) {
	s := &auditSettings{chain: chains.Settings{Kernel: "barker", Iterations: 4000, Temperature: 1, Start: "prior-mean",
		Step: 0.5},
		epsilon: 700, delta: 1e-6, records: 60, canaries: 50, seed: 1}
	plan, responses, err := s.plan()
	if err != nil {
		t.Fatal(err)
	}
	claim, err := accountant.ZCDP(accountant.Substitute, 0.002)
	if err != nil {
		t.Fatal(err)
	}
	f, err := audit.Canaries{
		Name: "overspent", Claim: claim, Records: s.records, Each: s.canaries, Runs: 40, Responses: responses, Delta: 1e-8,
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
		s := &auditSettings{chain: chains.Settings{Kernel: kernel, Iterations: c.iterations, Temperature: 1, Start: "auto"},
			epsilon: 8, delta: 1e-6, records: 10 * c.canaries, canaries: c.canaries, runs: c.runs, falseAlarm: 1e-6, seed: 1}
		f, err := s.attackRuns(context.Background())
		if err != nil || f[0].Violated() || f[1].Violated() || f[2].Lower > f[2].Claimed ||
			f[2].Tightness() < c.share {
			t.Errorf("%s: %v, %v", kernel, f, err)
			continue
		}
		t.Logf("%s: tightness %.2f", kernel, f[2].Tightness())
	}
}
