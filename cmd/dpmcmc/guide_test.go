package main

import (
	"os"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/maintain/surveys"
)

// TestGuideByFlags: with every flag nothing is asked, and the run is made.
func TestGuideByFlags(t *testing.T) {
	surveys.Smokers(t)
	args := []string{"start", "--data", "people.csv", "--schema", "s.toml", "--target", "smoker", "--ignore", "id,region",
		"--bounds", "age=18:100", "--scales", "age=45:20", "--levels", "smoker=no:yes", "--rows-per-person", "1",
		"--confirmed",
		"yes", "--model", "logistic", "--epsilon", "2", "--delta", "1e-6", "--out", "run", "--run", "yes"}
	code, out, errw := feed("", args...)
	if code != exitOK || strings.Contains(out, "> ") || !strings.Contains(out, "What was run, to run again") {
		t.Fatalf("exit %d: %s\n%s", code, errw, out)
	}
	for _, name := range []string{"run/report.html", "run/certificate.json", "people.csv.ledger"} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	// Beside its own schema the second start asks for nothing but what is missing.
	code, out, errw = feed("", "start", "--data", "people.csv", "--schema", "s.toml", "--model", "logistic")
	if code != exitUsage || !strings.Contains(errw, "give --epsilon") || !strings.Contains(errw, "give --delta") ||
		strings.Contains(errw, "--bounds") {
		t.Errorf("exit %d: %s\n%s", code, errw, out)
	}
}
