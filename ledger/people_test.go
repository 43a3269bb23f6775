package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// TestPeople: the first file is taken, another only for the same people, and no
// export has a fingerprint.
func TestPeople(t *testing.T) {
	l := create4(t, counting)
	meet := func(label, text string, same bool) error { return l.Meet(label, strings.NewReader(text), same, Note{}) }
	if err := meet("a.csv", "1,2\n", false); err != nil {
		t.Fatal(err)
	}
	if err := meet("copy.csv", "1,2\n", false); err != nil {
		t.Errorf("the same bytes: %v", err)
	}
	var other *OtherDataError
	if err := meet("b.csv", "1,3\n", false); !errors.As(err, &other) || len(other.Known) != 1 ||
		other.Known[0] != "a.csv" {
		t.Errorf("other bytes: %v", err)
	}
	if err := meet("b.csv", "1,3\n", true); err != nil {
		t.Fatal(err)
	}
	if err := meet("b.csv", "1,3\n", false); err != nil {
		t.Errorf("told once: %v", err)
	}
	r, err := l.Check()
	if err != nil || len(r.Files) != 2 || r.Entries != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	print := ""
	if err := l.Entries(func(e Entry) error { print += e.Print; return nil }); err != nil || len(print) != 128 {
		t.Fatalf("%d digits, %v", len(print), err)
	}
	var text bytes.Buffer
	if err := errors.Join(l.ExportJSON(&text), l.ExportCSV(&text)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), print[:64]) {
		t.Error("the export has a fingerprint")
	}
	m := create4(t, counting)
	if err := m.Meet("a.csv", strings.NewReader("1,2\n"), false, Note{}); err != nil {
		t.Fatal(err)
	}
	if last(t, m).Print == print[:64] {
		t.Error("two ledgers have the same fingerprint of a file: the key is not used")
	}
}

// TestCertify: a run's certificate stands beside its charge, and costs nothing.
func TestCertify(t *testing.T) {
	l, run := create4(t, counting), NewRun()
	if _, err := l.Charge(gaussian(t, 20), 1, Note{Run: run}); err != nil {
		t.Fatal(err)
	}
	before := last(t, l)
	if err := l.Certify(Note{Run: run, Certificate: "abc"}); err != nil {
		t.Fatal(err)
	}
	if e := last(t, l); e.Kind != Certified || e.Run != before.Run || e.TotalCost != before.TotalCost || e.Charges != 1 {
		t.Errorf("%+v", e)
	}
	if _, err := l.Check(); err != nil {
		t.Error(err)
	}
	if err := l.Certify(Note{Run: run}); err == nil {
		t.Error("no certificate was accepted")
	}
}

// TestResume: a run goes on under the marks of its folder; a folder without one of the
// ledger's is an old copy, and one with more was killed before the ledger knew.
func TestResume(t *testing.T) {
	l, run, e := create4(t, counting), Note{Run: NewRun()}, gaussian(t, 20)
	if _, err := l.Charge(e, 3, run); err != nil {
		t.Fatal(err)
	}
	paid, err := e.Times(3)
	if err != nil {
		t.Fatal(err)
	}
	resume := func(marks ...string) error {
		return l.Resume(run, []accountant.Event{paid}, marks[len(marks)-1], marks)
	}
	if err := errors.Join(resume("a"), resume("a", "lost", "b")); err != nil {
		t.Fatal(err)
	}
	if err := resume("a", "c"); err == nil || !strings.Contains(err.Error(), "old copy") {
		t.Errorf("an old copy: %v", err)
	}
	if err := resume("a", "lost", "b", "d"); err != nil {
		t.Error(err)
	}
	for _, other := range [][]accountant.Event{{e}, {paid, paid}, {paid, e}} {
		if err := l.Resume(run, other, "e", []string{"a", "lost", "b", "d", "e"}); err == nil {
			t.Errorf("a run that was charged once went on as %v", other)
		}
	}
	if err := l.Resume(Note{Run: "other"}, []accountant.Event{paid}, "f", []string{"f"}); err == nil {
		t.Error("another run went on")
	}
	if r, err := l.Check(); err != nil || r.Charges != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestExports(t *testing.T) {
	l := create4(t, limited(4))
	if _, err := l.Charge(gaussian(t, 5), 2, Note{Who: "=cmd()", Command: strings.Repeat("é", 2000)}); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := l.ExportJSON(&text); err != nil {
		t.Fatal(err)
	}
	var entries []Entry
	if err := json.Unmarshal(text.Bytes(), &entries); err != nil || len(entries) != 2 ||
		len(entries[1].Command) > maxText {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	text.Reset()
	if err := l.ExportCSV(&text); err != nil || strings.Count(text.String(), "\n") != 3 ||
		!strings.Contains(text.String(), "'=cmd()") {
		t.Errorf("%s, %v", text.String(), err)
	}
}
