package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// smokers is a folder with a table of people, people.csv, that becomes the working one.
func smokers(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(4, 2))
	var b strings.Builder
	b.WriteString("id,age,smoker,region\n")
	for i := range 1500 {
		age := 18 + rng.IntN(60)
		smoker := "no"
		if rng.Float64() < float64(age)/90 {
			smoker = "yes"
		}
		fmt.Fprintf(&b, "p%d,%d,%s,%s\n", i, age, smoker, []string{"north", "south", "west"}[rng.IntN(3)])
	}
	if err := os.WriteFile("people.csv", []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestGuideByFlags: with every flag nothing is asked, and the run is made.
func TestGuideByFlags(t *testing.T) {
	smokers(t)
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
