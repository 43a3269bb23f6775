package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/runs"
	"github.com/dpmcmc/dpmcmc/kernels/journal"
	"github.com/dpmcmc/dpmcmc/ledger"
)

// TestLedgerCommands: a ledger is made, charged, shown, checked, exported, limited and
// compacted, and refusals say what to do.
func TestLedgerCommands(t *testing.T) {
	path := filepath.Join(t.TempDir(), "people.csv.ledger")
	ok := func(args ...string) string {
		t.Helper()
		code, out, errs := call(context.Background(), args...)
		if code != exitOK {
			t.Fatalf("%v: exit %d: %s", args, code, errs)
		}
		return out
	}
	refused := func(want string, args ...string) {
		t.Helper()
		if code, _, errs := call(context.Background(), args...); code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%v: exit %d: %s; want %q", args, code, errs, want)
		}
	}
	refused("does not exist", "ledger", "show", path)
	refused("--delta is required", "ledger", "init", path)
	refused("--epsilon is 0", "ledger", "init", path, "--delta", "1e-5", "--epsilon", "0")
	refused("needs one ledger file", "ledger", "show")
	if out := ok("ledger", "init", path, "--epsilon", "4", "--delta", "1e-5", "--who", "ada"); !strings.Contains(out,
		"at most ε = 4") {
		t.Error(out)
	}
	refused("already exists", "ledger", "init", path, "--delta", "1e-5")
	l, err := ledger.Open(path, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := accountant.Gaussian(accountant.Substitute, 20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Charge(e, 3, ledger.Note{Who: "bob", Command: "sample"}); err != nil {
		t.Fatal(err)
	}
	if out := ok("ledger", "show", path); !strings.Contains(out, "of the limit ε = 4 at δ = 1e-05 (substitute)") ||
		!strings.Contains(out, "in 1 charge") || !strings.Contains(out, "bob") || !strings.Contains(out, "3 × (gaussian") {
		t.Error(out)
	}
	var shown struct{ Epsilon, Delta, Limit float64 }
	if err := json.Unmarshal([]byte(ok("ledger", "show", path, "--json")), &shown); err != nil || !(shown.Epsilon > 0) ||
		shown.Delta != 1e-5 || shown.Limit != 4 {
		t.Errorf("%+v, %v", shown, err)
	}
	if out := ok("ledger", "check", path); !strings.Contains(out, "2 entries are whole") ||
		strings.Contains(out, "Warning") {
		t.Error(out)
	}
	if out := ok("ledger", "export", path, "--format", "csv"); strings.Count(out, "\n") != 3 {
		t.Error(out)
	}
	refused("it is json or csv", "ledger", "export", path, "--format", "xml")
	refused("spent so far", "ledger", "limit", path, "--epsilon", "0.01")
	refused("give --epsilon", "ledger", "limit", path)
	if out := ok("ledger", "limit", path, "--epsilon", "6"); !strings.Contains(out, "of the limit ε = 6") {
		t.Error(out)
	}
	if out := ok("ledger", "limit", path, "--none"); !strings.Contains(out, "no limit") {
		t.Error(out)
	}
	ok("ledger", "compact", path)
	if out := ok("ledger", "check", path); !strings.Contains(out, "4 entries are whole") {
		t.Error(out)
	}
	if err := os.WriteFile(path, []byte("name,age\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("not a ledger", "ledger", "check", path)
}

// TestMistakesAreFoundBeforeTheCharge: a folder that holds another run, one that cannot
// be made and a thinning that makes no sense leave the ledger as it was.
func TestMistakesAreFoundBeforeTheCharge(t *testing.T) {
	dir := finishedRun(t)
	table := filepath.Join(filepath.Dir(dir), "again.csv")
	schema := filepath.Join(filepath.Dir(dir), "again.toml")
	text := "x,y\n" + strings.Repeat("1,0\n0.5,1\n", 50)
	state := "confirmed = true\nrecords = 100\n[[column]]\nname = \"x\"\nrole = \"feature\"\n" +
		"kind = \"number\"\nlower = -1\nupper = 1\n" +
		"[[column]]\nname = \"y\"\nrole = \"target\"\nkind = \"binary\"\nlabels = [\"0\", \"1\"]\n"
	for path, content := range map[string]string{table: text, schema: state} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	begins := filepath.Join(filepath.Dir(dir), "begins") // a run there is about to be charged
	if err := os.Mkdir(begins, 0o700); err != nil {
		t.Fatal(err)
	}
	claim, err := journal.Claim(filepath.Join(begins, runs.JournalFile))
	if err != nil {
		t.Fatal(err)
	}
	defer claim.Close()
	for want, more := range map[string][]string{
		"never overwritten": {"--out", dir},
		"nothing was spent": {"--out", begins},
		"--out":             {"--out", filepath.Join(table, "below")},
		"--thin":            {"--iterations", "100", "--thin", "101"},
	} {
		args := append([]string{"sample", "--data", table, "--schema", schema, "--epsilon", "1", "--delta", "1e-5"}, more...)
		if code, _, errw := call(t.Context(), args...); code != exitUsage || !strings.Contains(errw, want) {
			t.Errorf("%v: exit code %d, %q; want %q", more, code, errw, want)
		}
	}
	_, out, _ := call(t.Context(), "ledger", "show", table+".ledger")
	if strings.Contains(out, "gaussian") || strings.Contains(out, "bit") {
		t.Errorf("a mistake was charged:\n%s", out)
	}
	if held, err := os.ReadDir(begins); len(held) != 1 || err != nil {
		t.Errorf("a refused run wrote into another's folder: %v, %v", held, err)
	}
}
