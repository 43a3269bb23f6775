package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/accounts"
	"github.com/dpmcmc/dpmcmc/internal/runs"
	"github.com/dpmcmc/dpmcmc/ledger"
)

// people writes a table of 400 people and its schema.
func people(t *testing.T) (csv, schema string) {
	t.Helper()
	dir := t.TempDir()
	csv, schema = filepath.Join(dir, "people.csv"), filepath.Join(dir, "people.toml")
	var rows strings.Builder
	rows.WriteString("age,sick\n")
	for i := range 400 {
		fmt.Fprintf(&rows, "%d,%s\n", 20+i%60, []string{"no", "yes"}[i%3%2])
	}
	text := `confirmed = true
records = 400
[[column]]
name = "age"
role = "feature"
kind = "number"
lower = 0
upper = 120
[[column]]
name = "sick"
role = "target"
kind = "binary"
labels = ["no", "yes"]
`
	for path, content := range map[string]string{csv: rows.String(), schema: text} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return csv, schema
}

// TestSampleChargesTheLedger: runs on one file spend from one ledger, whatever folder
// they write to, and the last line says what has been spent.
func TestSampleChargesTheLedger(t *testing.T) {
	csv, schema := people(t)
	path := csv + accounts.Suffix
	run := func(args ...string) (int, string, string) {
		t.Helper()
		return call(t.Context(), append([]string{"sample", "--data", csv, "--schema", schema, "--epsilon", "1", "--delta",
			"1e-6", "--iterations", "200"}, args...)...)
	}
	if code, out, errs := run("--no-ledger"); code != exitOK || strings.Contains(out, "so far") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("--no-ledger made a ledger: %v", err)
	}
	if code, _, errs := call(t.Context(), "ledger", "init", path, "--epsilon", "2.5", "--delta", "1e-5"); code != exitOK {
		t.Fatal(errs)
	}
	out1 := t.TempDir()
	code, out, errs := run("--out", out1, "--who", "ada")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != exitOK || !strings.HasPrefix(lines[len(lines)-1], "Spent on these people so far: ") ||
		!strings.Contains(lines[len(lines)-1], "in 1 charge") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	if text, err := os.ReadFile(filepath.Join(out1, runs.SummaryFile)); err != nil ||
		!strings.Contains(string(text), "so far") {
		t.Errorf("%s, %v", text, err)
	}
	refused := false
	for range 6 {
		code, _, errs := run("--out", t.TempDir(), "--json")
		if code == exitRefused && strings.Contains(errs, "may still be spent on these people") {
			refused = true
			break
		}
		if code != exitOK {
			t.Fatalf("exit %d: %s", code, errs)
		}
	}
	if !refused {
		t.Error("the ledger never refused")
	}
	l, err := ledger.Open(path, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Check()
	if err != nil || r.Last.TotalEpsilon > 2.5 || len(r.Files) != 1 || r.Charges < 2 {
		t.Errorf("%+v, %v", r, err)
	}
	kinds := map[ledger.Kind]int{}
	if err := l.Entries(func(e ledger.Entry) error {
		if kinds[e.Kind]++; e.Kind == ledger.Charged && e.Charges == 1 &&
			(e.Who != "ada" || !strings.Contains(e.Command, "--epsilon 1") || e.Run == "") {
			t.Errorf("%+v", e.Note)
		}
		return nil
	}); err != nil || kinds[ledger.Certified] < 2 {
		t.Errorf("%v, %v", kinds, err)
	}
	// Other bytes are asked about.
	if err := os.WriteFile(csv, []byte("age,sick\n"+strings.Repeat("30,no\n", 400)), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := run(); code != exitUsage || !strings.Contains(errs, "--same-people") {
		t.Errorf("other bytes: exit %d: %s", code, errs)
	}
	if code, _, errs := run("--same-people", "--epsilon", "0.01"); code == exitUsage {
		t.Errorf("the same people: exit %d: %s", code, errs)
	}
	if code, _, errs := run("--no-ledger", "--same-people"); code != exitUsage ||
		!strings.Contains(errs, "keeps no accounts") {
		t.Errorf("exit %d: %s", code, errs)
	}
	t.Chdir(t.TempDir())
	for _, word := range []string{"none", "No", "off", "false"} {
		code, _, errs := run("--ledger", word)
		if _, err := os.Stat(word); code != exitUsage || !strings.Contains(errs, "--no-ledger") || err == nil {
			t.Errorf("--ledger %s: exit %d: %s", word, code, errs)
		}
	}
	if code, _, errs := run("--ledger", "./none"); code != exitOK {
		t.Errorf("a ledger called none: exit %d: %s", code, errs)
	}
}

// TestSampleMakesALedger where there is none, which counts.
func TestSampleMakesALedger(t *testing.T) {
	csv, schema := people(t)
	var got struct {
		Ledger struct {
			Charges int64
			Limit   *float64
			Plain   [2]float64 `json:"plain_epsilon_delta"`
			Epsilon float64
		}
	}
	for n := range int64(2) {
		code, out, errs := call(t.Context(), "sample", "--data", csv, "--schema", schema, "--epsilon", "0.5", "--delta",
			"1e-6", "--iterations", "200", "--json")
		if err := json.Unmarshal([]byte(out), &got); code != exitOK || err != nil {
			t.Fatalf("exit %d, %v: %s", code, err, errs)
		}
		if g := got.Ledger; g.Charges != n+1 || g.Limit != nil || g.Plain[0] > 0.5*float64(n+1)*(1+1e-9) ||
			g.Plain[0] < 0.3*float64(n+1) {
			t.Errorf("run %d: %+v", n+1, g)
		}
	}
}

// TestCertificatesAndLedgersNameOneAnother: a certificate is checked against its ledger,
// and one that was changed, is older, or is another ledger's is refused. Changing what
// it states is noticed even by someone who changes the ledger's hash.
func TestCertificatesAndLedgersNameOneAnother(t *testing.T) {
	csv, schema := people(t)
	dir := filepath.Join(t.TempDir(), "run")
	if code, _, errs := call(t.Context(), "sample", "--data", csv, "--schema", schema, "--epsilon", "1", "--delta", "1e-6",
		"--kernel", "barker", "--iterations", "200", "--out", dir); code != exitOK {
		t.Fatal(errs)
	}
	path := filepath.Join(dir, runs.CertificateFile)
	check := func(file, certificate, want string) {
		t.Helper()
		code, out, errs := call(t.Context(), "ledger", "check", file, "--certificate", certificate)
		if (code == exitOK) != (want == "") || !strings.Contains(errs, want) {
			t.Errorf("exit %d: %s%s; want %q", code, out, errs, want)
		}
	}
	check(csv+accounts.Suffix, path, "")
	other := csv + ".other"
	if code, _, errs := call(t.Context(), "ledger", "init", other, "--delta", "1e-5"); code != exitOK {
		t.Fatal(errs)
	}
	check(other, path, "another ledger")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(t.TempDir(), "changed.json")
	for want, edit := range map[string]func(*chains.Certificate){
		"its hash":            func(c *chains.Certificate) { c.Epsilon /= 2 },
		"costs":               func(c *chains.Certificate) { c.Events = append(c.Events, c.Events...) },
		"names [1 2]":         func(c *chains.Certificate) { c.Ledger.Entries = []int64{1, 2} },
		"names no ledger":     func(c *chains.Certificate) { c.Ledger = nil },
		"in the entries []":   func(c *chains.Certificate) { c.Ledger.Run = "x" },
		"not the certificate": func(c *chains.Certificate) { c.Kernel = "" },
	} {
		c, _ := runs.AsCertificate(text)
		edit(&c)
		if err := os.WriteFile(changed, c.JSON(), 0o600); err != nil {
			t.Fatal(err)
		}
		check(csv+accounts.Suffix, changed, want)
	}
}
