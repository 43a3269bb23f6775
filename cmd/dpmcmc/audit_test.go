package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/audit"
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
