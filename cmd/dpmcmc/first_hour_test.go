package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/runs"
	"github.com/dpmcmc/dpmcmc/internal/shared"
)

// TestFirstHourOnPublicTables: from a CSV file to predictions, as README has it, on two
// public tables.
func TestFirstHourOnPublicTables(t *testing.T) {
	for _, name := range []string{"banknote", "concrete"} {
		t.Run(name, func(t *testing.T) {
			csv := shared.Path(t, "data/"+name+".csv")
			dir := t.TempDir()
			schema, run := filepath.Join(dir, "t.toml"), filepath.Join(dir, "run")
			must := func(args ...string) string {
				t.Helper()
				code, out, errw := call(t.Context(), args...)
				if code != exitOK {
					t.Fatalf("%v: exit code %d: %s", args, code, errw)
				}
				return out
			}
			draft := must("schema", "--data", csv)
			if !strings.Contains(draft, "NOT PUBLIC KNOWLEDGE") {
				t.Errorf("the draft does not warn:\n%s", draft)
			}
			confirmed := strings.Replace(draft, "confirmed = false", "confirmed = true", 1)
			if err := os.WriteFile(schema, []byte(confirmed), 0o600); err != nil {
				t.Fatal(err)
			}
			printed := must("sample", "--data", csv, "--schema", schema, "--epsilon", "2", "--delta", "1e-6", "--no-ledger",
				"--out", run)
			if again := must("summary", run); again != printed {
				t.Errorf("summary prints\n%s\nsample printed\n%s", again, printed)
			}
			lines := strings.SplitAfterN(readText(t, csv), "\n", 5)
			fresh := filepath.Join(dir, "new.csv")
			if err := os.WriteFile(fresh, []byte(strings.Join(lines[:4], "")), 0o600); err != nil {
				t.Fatal(err)
			}
			var r struct{ Predictions []json.RawMessage }
			if err := json.Unmarshal([]byte(must("predict", run, "--data", fresh, "--json")), &r); err != nil ||
				len(r.Predictions) != 3 {
				t.Errorf("%d predictions, %v", len(r.Predictions), err)
			}
			must("account", "--events", filepath.Join(run, runs.CertificateFile), "--delta", "1e-6")
			must("report", run)
		})
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestUnitsAreThoseOfARefit: at a budget whose noise is small, coefficients and their
// standard deviations are those of least squares on the columns as they stand in the file.
// A mean is off by more than 7 posterior standard deviations once in 10¹¹ runs. Per unit
// of the scaled columns they are not.
func TestUnitsAreThoseOfARefit(t *testing.T) {
	const n = 4000
	rng := rand.New(rand.NewPCG(3, 4))
	var text strings.Builder
	text.WriteString("height,price\n")
	var sx, sxx, sy, sxy, syy float64
	for range n {
		x := 140 + 60*rng.Float64()
		y := 500 + 7*x + 30*rng.NormFloat64()
		fmt.Fprintf(&text, "%v,%v\n", x, y)
		sx, sxx, sy, sxy, syy = sx+x, sxx+x*x, sy+y, sxy+x*y, syy+y*y
	}
	dir := t.TempDir()
	csv, schema := filepath.Join(dir, "t.csv"), filepath.Join(dir, "t.toml")
	public := fmt.Sprintf("confirmed = true\nrecords = %d\n[[column]]\nname = \"height\"\nrole = \"feature\"\n"+
		"kind = \"number\"\nlower = 130\nupper = 210\n[[column]]\nname = \"price\"\nrole = \"target\"\nkind = \"number\"\n"+
		"lower = 1300\nupper = 2100\n", n)
	for path, content := range map[string]string{csv: text.String(), schema: public} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errw := call(t.Context(), "sample", "--data", csv, "--schema", schema, "--epsilon", "100",
		"--delta", "1e-6",
		"--no-ledger", "--json", "--accept-unexplored")
	var r runs.Results
	if err := json.Unmarshal([]byte(out), &r); code != exitOK || err != nil {
		t.Fatalf("exit code %d, %v: %s", code, err, errw)
	}
	slope := (sxy - sx*sy/n) / (sxx - sx*sx/n)
	intercept := (sy - slope*sx) / n
	sigma := math.Sqrt((syy - sy*sy/n - slope*(sxy-sx*sy/n)) / (n - 2))
	sd := sigma / math.Sqrt(sxx-sx*sx/n)
	refit := func(rows []runs.Row) bool {
		return math.Abs(*rows[1].Mean-slope) < 7**rows[1].SD && math.Abs(*rows[0].Mean-intercept) < 7**rows[0].SD &&
			*rows[1].SD > sd/3 && *rows[1].SD < 3*sd
	}
	if !refit(r.Summary) {
		t.Errorf("intercept %v ± %v and slope %v ± %v; least squares has %v and %v ± %v", *r.Summary[0].Mean,
			*r.Summary[0].SD, *r.Summary[1].Mean, *r.Summary[1].SD, intercept, slope, sd)
	}
	if refit(r.Standardised) {
		t.Error("per unit of the scaled columns they are the same")
	}
}
