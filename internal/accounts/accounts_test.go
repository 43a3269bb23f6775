package accounts

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/ledger"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, c Choice, data string) (Accounts, error) {
	t.Helper()
	return c.Open(data, ledger.Note{Who: "she"}, accountant.Substitute, 1e-5, io.Discard)
}

// TestAccountsAreBesideTheFile, are those of its bytes, and can be left out in one way only.
func TestAccountsAreBesideTheFile(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "people.csv", "a,b\n1,2\n")
	write(t, "others.csv", "a,b\n3,4\n")
	a, err := open(t, Choice{}, "people.csv")
	if err != nil || a.Path() != "people.csv"+Suffix || a.Note.Run == "" {
		t.Fatalf("%+v, %v", a, err)
	}
	if again, err := open(t, Choice{File: a.Path()}, "people.csv"); err != nil || again.Note.Run == a.Note.Run {
		t.Errorf("a second run is %v, the first %v: %v", again.Note.Run, a.Note.Run, err)
	}
	if none, err := open(t, Choice{None: true}, "people.csv"); err != nil || none.Ledger != nil {
		t.Errorf("%+v, %v", none, err)
	}
	for want, c := range map[string]Choice{
		"is none of these":  {File: a.Path()},
		"leave out":         {None: true, File: "x"},
		"would name a file": {File: "OFF"},
	} {
		if _, err := open(t, c, "others.csv"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := open(t, Choice{File: a.Path(), SamePeople: true}, "others.csv"); err != nil {
		t.Error(err)
	}
}

// TestIntroduce: the ledger of a CSV file learns the packed one; without a ledger nothing is
// made.
func TestIntroduce(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "people.csv", "a,b\n1,2\n")
	write(t, "same.csv", "other bytes")
	if err := Introduce("people.csv", "same.csv", ledger.Note{}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("people.csv" + Suffix); err == nil {
		t.Error("a ledger was made")
	}
	if _, err := open(t, Choice{}, "people.csv"); err != nil {
		t.Fatal(err)
	}
	if err := Introduce("people.csv", "same.csv", ledger.Note{Who: "she"}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, Choice{File: "people.csv" + Suffix}, "same.csv"); err != nil {
		t.Errorf("the packed file is not known: %v", err)
	}
}

// TestBudgetsChargeTheLedger: what a run's budget is charged is on the people's account, and
// their line says so.
func TestBudgetsChargeTheLedger(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "people.csv", "a\n1\n")
	a, err := open(t, Choice{}, "people.csv")
	if err != nil {
		t.Fatal(err)
	}
	c := accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: accountant.Substitute}
	b, err := a.NewBudget(c)
	if err != nil {
		t.Fatal(err)
	}
	e, err := accountant.Gaussian(accountant.Substitute, 20)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Charge(e, 1); err != nil {
		t.Fatal(err)
	}
	line, totals, err := a.Spent()
	if err != nil || totals == nil || !strings.Contains(line, a.Path()) {
		t.Fatalf("%q, %+v, %v", line, totals, err)
	}
	if last, err := a.Last(); err != nil || last.Who != "she" {
		t.Errorf("%+v, %v", last, err)
	}
	if line, totals, err := (Accounts{}).Spent(); line != "" || totals != nil || err != nil {
		t.Errorf("no accounts: %q, %v, %v", line, totals, err)
	}
}

// TestNoteOf names the command with the flags that were given.
func TestNoteOf(t *testing.T) {
	f := pflag.NewFlagSet("run", pflag.ContinueOnError)
	f.String("data", "", "")
	f.Int("left", 3, "")
	if err := f.Parse([]string{"--data", "x.csv"}); err != nil {
		t.Fatal(err)
	}
	if n := NoteOf("dpmcmc run", f, "she"); n.Who != "she" || n.Command != "dpmcmc run --data x.csv" {
		t.Errorf("%+v", n)
	}
}
