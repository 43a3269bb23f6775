package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
)

var counting = Limit{Adjacency: accountant.Substitute, Delta: 1e-5}

func limited(eps float64) Limit {
	return Limit{Adjacency: accountant.Substitute, Epsilon: eps, Delta: 1e-5}
}

func create4(t testing.TB, limit Limit) *Ledger {
	t.Helper()
	l, err := Create(filepath.Join(t.TempDir(), "people.csv.ledger"), limit, Note{Who: "test"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func gaussian(t testing.TB, noise float64) accountant.Event {
	t.Helper()
	e, err := accountant.Gaussian(accountant.Substitute, noise)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func last(t testing.TB, l *Ledger) Entry {
	t.Helper()
	e, err := l.Last()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestChargesOutlastTheHandle and are refused once the limit is reached, by every
// handle, with the ledger's figures.
func TestChargesOutlastTheHandle(t *testing.T) {
	l := create4(t, limited(2))
	e := gaussian(t, 10)
	before := 0.0
	charges := 0
	for {
		again, err := Open(l.Path(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		left, err := again.Remaining(e)
		if err != nil {
			t.Fatal(err)
		}
		n, err := again.Charge(e, 5, Note{Who: "ada", Command: "x"})
		if err != nil {
			var exceeded *accountant.ExceededError
			if !errors.As(err, &exceeded) || exceeded.SpentEpsilon != before || exceeded.Limit.Epsilon != 2 || left >= 5 {
				t.Fatalf("after %d charges, %d left: %v", charges, left, err)
			}
			break
		}
		charges++
		entry := last(t, l)
		if n != int64(charges) || entry.Charges != int64(charges) || !(entry.TotalEpsilon > before) ||
			entry.TotalEpsilon > 2 || left < 5 {
			t.Fatalf("charge %d, %d left: %+v", n, left, entry)
		}
		before = entry.TotalEpsilon
	}
	if charges < 3 || before < 1.5 {
		t.Errorf("%d charges, ε %v: the limit was hardly used", charges, before)
	}
	r, err := l.Check()
	if err != nil || r.Charges != int64(charges) || math.Abs(r.Repriced/last(t, l).TotalCost-1) > 1e-12 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestOneRunFitsItsOwnLimit: the order is the run's own best one.
func TestOneRunFitsItsOwnLimit(t *testing.T) {
	e, err := accountant.BoundedRange(accountant.Substitute, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-5, Adjacency: accountant.Substitute})
	if err != nil {
		t.Fatal(err)
	}
	n, err := b.Remaining(e)
	if err != nil {
		t.Fatal(err)
	}
	l := create4(t, limited(1))
	if _, err := l.Charge(e, n, Note{}); err != nil {
		t.Fatal(err)
	}
	if got := last(t, l); got.TotalEpsilon > 1 || got.TotalEpsilon < 0.999 {
		t.Errorf("a run of ε 1 costs a ledger of ε 1 %v", got.TotalEpsilon)
	}
}

// TestOneGaussianRunFitsItsOwnLimit: so does a run whose ε its Rényi curve overstates. Then
// nothing more does, after reopening too, not even what costs nothing.
func TestOneGaussianRunFitsItsOwnLimit(t *testing.T) {
	run := func(x float64) (accountant.Event, error) { return accountant.Gaussian(accountant.Substitute, x) }
	sigma, _, err := accountant.SolveParameter(run, 1, 100, 1, 1e-5, false)
	if err != nil {
		t.Fatal(err)
	}
	e, err := run(sigma)
	if err != nil {
		t.Fatal(err)
	}
	little, err := run(1e6)
	if err != nil {
		t.Fatal(err)
	}
	l := create4(t, limited(1))
	if _, err := l.Charge(little, 1, Note{}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Charge(e, 1, Note{}); err == nil {
		t.Error("a second charge was admitted by its own accounting")
	}
	l = create4(t, limited(1))
	if _, err := l.Charge(e, 1, Note{}); err != nil {
		t.Fatal(err)
	}
	if got := last(t, l); got.TotalEpsilon > 1 || got.TotalEpsilon < 0.999 || got.Share() != 1 {
		t.Errorf("a run of ε 1 costs a ledger of ε 1 %v, a share of %v", got.TotalEpsilon, got.Share())
	}
	if got := last(t, l).Theorem(); strings.Contains(got, "Rényi") {
		t.Errorf("its ε is not that of %s", got)
	}
	for range 2 {
		if _, err := l.Charge(little, 1, Note{}); err == nil {
			t.Error("more was admitted")
		}
		if l, err = Open(l.path, Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := l.Check(); err != nil || r.Charges != 1 {
		t.Errorf("%+v (%v)", r, err)
	}
}

// TestFirstChargeLeavesRoom: whatever the first charge is, a ledger then covers about as
// many runs as one that began with such a run. A run is what the ledger showed after
// `sample --epsilon 0.5 --delta 1e-6` of one column and 400 records. An order of 2254, the
// best for pure charges alone, leaves 2.
func TestFirstChargeLeavesRoom(t *testing.T) {
	pure := func(eps float64) accountant.Event {
		e, err := accountant.Pure(accountant.Substitute, eps)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	pilot, err0 := accountant.DiscreteGaussian(accountant.Substitute, 30.222265367470815)
	optimum, err1 := accountant.Approximate(accountant.Substitute, 0.37127312673000756, 1.0131223482064083e-23)
	moments, err2 := accountant.DiscreteGaussian(accountant.Substitute, 851.738904715587)
	if err := errors.Join(err0, err1, err2); err != nil {
		t.Fatal(err)
	}
	run, err := accountant.Compose(pilot, optimum, moments)
	if err != nil {
		t.Fatal(err)
	}
	limit := limited(4)
	limit.Failure = 1e-8 // as ledger init sets it
	for name, c := range map[string]struct {
		first accountant.Event
		runs  int64
	}{"a run": {run, 7}, "pure": {pure(0.5), 7}, "small and pure": {pure(0.001), 8}, "Gaussian": {gaussian(t, 10), 8}} {
		l := create4(t, limit)
		if _, err := l.Charge(c.first, 1, Note{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if runs, err := l.Remaining(run); err != nil || runs < c.runs {
			t.Errorf("%s first: order %.4g leaves %d runs, %v", name, last(t, l).Limit.Order, runs, err)
		}
	}
}

// TestFirstChargeOfNothing: a release that shows nothing, or everything, may come first.
func TestFirstChargeOfNothing(t *testing.T) {
	for name, limit := range map[string]Limit{"counting": counting, "limited": limited(1)} {
		l := create4(t, limit)
		if _, err := l.Charge(gaussian(t, 1e-200), 1, Note{}); err == nil || strings.Contains(err.Error(), "FilterOrder") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := l.Charge(gaussian(t, math.Inf(1)), 1, Note{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := l.Charge(gaussian(t, 20), 1, Note{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSequenceOfChargesIsTheFilters: whatever is charged, the totals are what one
// filter or odometer in memory says.
func TestSequenceOfChargesIsTheFilters(t *testing.T) {
	limit := limited(3)
	limit.Order = 12
	l := create4(t, limit)
	f, err := accountant.NewFilter(accountant.BudgetConfig{Epsilon: 3, Delta: 1e-5, Adjacency: accountant.Substitute,
		Order: 12}, 0)
	if err != nil {
		t.Fatal(err)
	}
	open := limit
	open.Epsilon = 0
	m := create4(t, open)
	o, err := accountant.NewOdometer(accountant.Substitute, 1e-5, 12, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, noise := range []float64{20, 5, 9, 2, 7, 4, 100, 3} {
		e := gaussian(t, noise)
		_, lerr := l.Charge(e, int64(i+1), Note{})
		ferr := f.Charge(e, int64(i+1))
		if (lerr == nil) != (ferr == nil) || last(t, l).TotalEpsilon != f.Spent().Epsilon {
			t.Errorf("noise %v: ledger %v ε %v, filter %v ε %v", noise, lerr, last(t, l).TotalEpsilon, ferr, f.Spent().Epsilon)
		}
		_, merr := m.Charge(e, int64(i+1), Note{})
		oerr := o.Charge(e, int64(i+1))
		if merr != nil || oerr != nil || last(t, m).TotalEpsilon != o.Spent().Epsilon {
			t.Errorf("noise %v: ledger %v ε %v, odometer %v ε %v", noise, merr, last(t, m).TotalEpsilon, oerr, o.Spent().Epsilon)
		}
	}
}

// TestABudgetIsBothLimits: the run's and the ledger's, and curator.Seal takes it.
func TestABudgetIsBothLimits(t *testing.T) {
	l := create4(t, limited(2))
	c := accountant.BudgetConfig{Epsilon: 0.5, Delta: 1e-6, Adjacency: accountant.Substitute}
	e := gaussian(t, 60)
	for run := range 60 {
		b, err := l.Budget(c, Note{Who: "run"})
		if err != nil {
			t.Fatal(err)
		}
		n, err := b.Remaining(e)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Charge(e, n+1); err == nil {
			t.Fatal("more than the run's own limit was charged")
		}
		switch err := b.Charge(e, n); {
		case err == nil && last(t, l).TotalEpsilon > 2:
			t.Fatal("more than the ledger's limit was charged")
		case err == nil:
		case run < 5:
			t.Fatal(err)
		case !b.Events().Equal(nothing(t)):
			t.Fatal("a refused charge was kept by the budget")
		default:
			return
		}
		g, err := b.Spent()
		if err != nil || g.Epsilon > 0.5 {
			t.Fatalf("%v, %v", g, err)
		}
		if _, err := curator.Seal(curator.Records{X: []float64{1, 2}, Features: 1}, b); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the ledger never refused")
}

func nothing(t testing.TB) accountant.Event {
	t.Helper()
	e, err := gaussian(t, 1).Times(0)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestEventsAddUp: whatever is charged, drawn batches and optima among it, the totals are
// the sums of what is recorded.
func TestEventsAddUp(t *testing.T) {
	const adj = accountant.Substitute
	batch, err0 := gaussian(t, 20).PoissonSampled(0.5)
	optimum, err1 := accountant.Perturbation{NoiseMultiplier: 30, Curvature: 0.1, Coordinates: 1}.Event(adj)
	grid, err2 := accountant.GridGaussian{NoiseMultiplier: 20, Coordinates: 1, Steps: 1e6}.Event(adj)
	bit, err3 := accountant.Bit{Contribution: 0.1, Variance: 4}.Event(adj)
	outright, err4 := accountant.Approximate(adj, 0.1, 1e-9)
	if err := errors.Join(err0, err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	for _, e := range []accountant.Event{batch, optimum, grid, bit, outright} {
		for _, limit := range []Limit{counting, {Adjacency: adj, Epsilon: 4, Delta: 1e-5, Failure: 1e-6}} {
			l := create4(t, limit)
			for count := range int64(2) {
				if _, err := l.Charge(e, count+1, Note{}); err != nil {
					t.Fatalf("%v: %v", e, err)
				}
			}
			if _, err := l.Check(); err != nil {
				t.Errorf("%v, limit %v: %v", e, limit.Epsilon, err)
			}
		}
	}
}

// TestAdjacencies: add/remove is restated for a ledger of substitutions, and nothing
// else is.
func TestAdjacencies(t *testing.T) {
	removed, err := accountant.Gaussian(accountant.AddRemove, 4)
	if err != nil {
		t.Fatal(err)
	}
	l := create4(t, counting)
	if _, err := l.Charge(removed, 3, Note{}); err != nil {
		t.Fatal(err)
	}
	if last(t, l).Event.Adjacency() != accountant.Substitute {
		t.Error("the entry is not restated")
	}
	if _, err := l.Check(); err != nil {
		t.Error(err)
	}
	m := create4(t, Limit{Adjacency: accountant.AddRemove, Delta: 1e-5})
	if _, err := m.Charge(gaussian(t, 1), 1, Note{}); err == nil || !strings.Contains(err.Error(), "add_remove") {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	for name, limit := range map[string]Limit{
		"adjacency": {Delta: 1e-5}, "delta": {Adjacency: 1}, "epsilon": {Adjacency: 1, Delta: 1e-5, Epsilon: math.Inf(1)},
		"order": {Adjacency: 1, Delta: 1e-5, Order: 0.5}, "negative": {Adjacency: 1, Delta: 1e-5, Epsilon: -1},
	} {
		if _, err := Create(filepath.Join(t.TempDir(), "l"), limit, Note{}, Options{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	l := create4(t, limited(1))
	if _, err := Create(l.Path(), counting, Note{}, Options{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("made twice: %v", err)
	}
	if _, err := Open(l.Path()+"x", Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opened what is not there: %v", err)
	}
	if files, err := filepath.Glob(filepath.Join(filepath.Dir(l.Path()), "*")); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v, %v", files, err)
	}
	e := gaussian(t, 1)
	if _, err := l.Charge(e, 0, Note{}); err == nil {
		t.Error("no release was charged")
	}
	if _, err := l.Charge(accountant.Event{}, 1, Note{}); err == nil {
		t.Error("the zero event was charged")
	}
	if _, err := l.Charge(e, 1000, Note{}); err == nil {
		t.Error("more than everything was charged")
	}
	if last(t, l).Limit.Order != 0 {
		t.Error("a refused charge chose the order")
	}
	failing, err := accountant.Approximate(accountant.Substitute, 0.1, 1e-7)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Charge(failing, 1, Note{}); err == nil || last(t, l).Number != 0 {
		t.Errorf("an event that may fail outright: %v", err)
	}
	free := create4(t, counting)
	if _, err := free.Budget(accountant.BudgetConfig{}, Note{}); err == nil {
		t.Error("a budget without any limit was made")
	}
	if _, err := free.Charge(gaussian(t, 0), 1, Note{}); err == nil {
		t.Error("an infinite cost was counted")
	}
}

// TestFailures: what may fail outright needs δ that was set aside, or adds to the δ that
// is reported.
func TestFailures(t *testing.T) {
	failing, err := accountant.Approximate(accountant.Substitute, 0.1, 4e-7)
	if err != nil {
		t.Fatal(err)
	}
	free := create4(t, counting)
	for range 2 {
		if _, err := free.Charge(failing, 1, Note{}); err != nil {
			t.Fatal(err)
		}
	}
	if e := last(t, free); e.TotalDelta() < 1e-5+8e-7 || e.TotalDelta() > (1e-5+8e-7)*(1+1e-9) {
		t.Errorf("δ %v", e.TotalDelta())
	}
	aside := limited(2)
	aside.Failure = 1e-6
	l := create4(t, aside)
	for i := range 3 {
		if _, err := l.Charge(failing, 1, Note{}); (err == nil) != (i < 2) {
			t.Errorf("charge %d: %v", i, err)
		}
	}
	if e := last(t, l); e.TotalFailure > 1e-6 || e.TotalDelta() != 1e-5 || e.Charges != 2 {
		t.Errorf("%+v", e)
	}
	for _, ledger := range []*Ledger{l, free} {
		if _, err := ledger.Check(); err != nil {
			t.Error(err)
		}
	}
	if err := free.SetLimit(3, 1e-5, Note{}); err == nil {
		t.Error("a limit without δ for the failures that were counted")
	}
	aside.Failure = 1e-5
	if _, err := Create(l.Path()+"2", aside, Note{}, Options{}); err == nil {
		t.Error("all of δ was set aside")
	}
}

func TestLimits(t *testing.T) {
	l := create4(t, limited(1))
	e := gaussian(t, 8)
	if _, err := l.Charge(e, 1, Note{}); err != nil {
		t.Fatal(err)
	}
	spent := last(t, l).TotalEpsilon
	for _, below := range []float64{0.999, 0.5, 1e-6} {
		if err := l.SetLimit(below*spent, 1e-5, Note{}); err == nil || !strings.Contains(err.Error(), "spent so far") {
			t.Errorf("a limit of %v of what is spent: %v", below, err)
		}
	}
	if err := l.SetLimit(5, 1e-5, Note{Who: "board"}); err != nil {
		t.Fatal(err)
	}
	if got := last(t, l); got.Limit.Epsilon != 5 || got.TotalEpsilon != spent || got.Who != "board" ||
		got.Kind != Limited {
		t.Errorf("%+v", got)
	}
	if err := l.SetLimit(0, 1e-5, Note{}); err != nil {
		t.Fatal(err)
	}
	if got := last(t, l); got.TotalEpsilon <= spent {
		t.Errorf("the odometer says ε %v, no more than the filter's %v", got.TotalEpsilon, spent)
	}
	if _, err := l.Check(); err != nil {
		t.Error(err)
	}
}

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

// spoil changes a ledger behind its back.
func spoil(t *testing.T, l *Ledger, change func(tx *bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(l.Path(), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(change), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestBrokenChains are refused with the entry's number, and so is what only adding up
// again shows.
func TestBrokenChains(t *testing.T) {
	rewrite := func(n int64, change func(e *Entry)) func(tx *bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			b := tx.Bucket(entriesBucket)
			previous := ""
			for k := n; ; k++ { // the whole rest, as a careful forger would
				raw := b.Get(numberKey(k))
				if raw == nil {
					return nil
				}
				e, err := decode(raw)
				if err != nil {
					return err
				}
				if k == n {
					change(&e)
				} else {
					e.Previous = previous
				}
				out, err := e.encode()
				if err != nil {
					return err
				}
				previous = hash(out)
				if err := b.Put(numberKey(k), out); err != nil {
					return err
				}
			}
		}
	}
	edit := func(tx *bbolt.Tx) error {
		b := tx.Bucket(entriesBucket)
		raw := bytes.Replace(b.Get(numberKey(3)), []byte(`"count":4`), []byte(`"count":1`), 1)
		return b.Put(numberKey(3), raw)
	}
	for name, c := range map[string]struct {
		entry  int64
		change func(tx *bbolt.Tx) error
		opens  bool
	}{
		"edited":   {4, edit, false},
		"deleted":  {2, func(tx *bbolt.Tx) error { return tx.Bucket(entriesBucket).Delete(numberKey(2)) }, false},
		"first":    {0, func(tx *bbolt.Tx) error { return tx.Bucket(entriesBucket).Delete(numberKey(0)) }, false},
		"total":    {3, rewrite(3, func(e *Entry) { e.TotalCost /= 2 }), true},
		"cost":     {3, rewrite(3, func(e *Entry) { e.Cost /= 2 }), true},
		"charges":  {3, rewrite(3, func(e *Entry) { e.Charges-- }), true},
		"order":    {3, rewrite(3, func(e *Entry) { e.Limit.Order++ }), true},
		"kind":     {3, rewrite(3, func(e *Entry) { e.Kind = "gift" }), true},
		"no event": {3, rewrite(3, func(e *Entry) { e.Event = nil }), true},
		"number":   {3, rewrite(3, func(e *Entry) { e.Number = 7 }), true},
		"version":  {0, rewrite(0, func(e *Entry) { e.Version = 9 }), true},
		"key":      {0, func(tx *bbolt.Tx) error { return tx.Bucket(aboutBucket).Put(keyName, []byte("other")) }, true},
		"bucket":   {-1, func(tx *bbolt.Tx) error { return tx.DeleteBucket(filesBucket) }, false},
		"print":    {-1, func(tx *bbolt.Tx) error { return tx.Bucket(filesBucket).Put([]byte("x"), []byte("y")) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := create4(t, limited(8))
			for i := range 5 {
				if _, err := l.Charge(gaussian(t, 30), int64(i+2), Note{}); err != nil {
					t.Fatal(err)
				}
			}
			spoil(t, l, c.change)
			_, oerr := Open(l.Path(), Options{})
			_, cerr := l.Check()
			var damaged *DamagedError
			if !errors.As(cerr, &damaged) || damaged.Entry != c.entry {
				t.Errorf("check: %v, want entry %d", cerr, c.entry)
			}
			if (oerr == nil) != c.opens {
				t.Errorf("open: %v", oerr)
			}
		})
	}
}

// TestDamagedFiles: no byte that is changed makes anything panic, hang or fall short.
func TestDamagedFiles(t *testing.T) {
	l := create4(t, limited(8))
	for range 3 {
		if _, err := l.Charge(gaussian(t, 30), 2, Note{}); err != nil {
			t.Fatal(err)
		}
	}
	spent := last(t, l).TotalCost
	whole, err := os.ReadFile(l.Path())
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, content []byte) {
		path := filepath.Join(t.TempDir(), "l")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Open(path, Options{})
		if err != nil {
			if damaged := new(DamagedError); !errors.As(err, &damaged) {
				t.Errorf("%s: %v", what, err)
			}
			return
		}
		if r, err := m.Check(); err == nil && r.Last.TotalCost < spent {
			t.Errorf("%s: less is spent", what)
		}
	}
	for _, n := range []int{0, 1, 100, 4096, 8192, 12288, len(whole) / 2, len(whole) - 1} {
		try(fmt.Sprintf("cut to %d bytes", n), whole[:n])
	}
	for i := 0; i < len(whole); i += 97 {
		bad := bytes.Clone(whole)
		bad[i] ^= 0x55
		try(fmt.Sprintf("byte %d", i), bad)
	}
}

func TestCompact(t *testing.T) {
	l := create4(t, counting)
	e := gaussian(t, 50)
	for range 200 {
		if _, err := l.Charge(e, 1, Note{Command: strings.Repeat("x", 500)}); err != nil {
			t.Fatal(err)
		}
	}
	want, err := l.Check()
	if err != nil {
		t.Fatal(err)
	}
	before, after, err := l.Compact()
	if err != nil || after > before {
		t.Fatalf("%d → %d bytes, %v", before, after, err)
	}
	got, err := l.Check()
	if err != nil || got.Last.Previous != want.Last.Previous || got.Entries != want.Entries {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := l.Charge(e, 1, Note{}); err != nil {
		t.Error(err)
	}
}

// Remaining is how many more releases of an event the limit covers, math.MaxInt64
// without a limit.
func (l *Ledger) Remaining(e accountant.Event) (int64, error) {
	last, err := l.Last()
	if err != nil || last.Limit.Epsilon == 0 {
		return math.MaxInt64, err
	}
	c := accountant.BudgetConfig{Epsilon: last.Limit.Epsilon, Delta: last.Limit.Delta, Adjacency: last.Limit.Adjacency}
	if last.Limit.Order == 0 {
		b, err := accountant.NewBudget(c)
		if err != nil {
			return 0, err
		}
		return b.Remaining(e)
	}
	fits := func(n int64) (bool, error) {
		a, err := newAccount(last)
		if err != nil {
			return false, err
		}
		err = a.charge(e, n)
		if exceeded := new(accountant.ExceededError); errors.As(err, &exceeded) {
			return false, nil
		}
		return err == nil, err
	}
	admitted := int64(0)
	for bit := int64(1) << 61; bit > 0; bit /= 2 {
		ok, err := fits(admitted + bit)
		if err != nil {
			return 0, fmt.Errorf("ledger: %s: %w", l.path, err)
		}
		if ok {
			admitted += bit
		}
	}
	if admitted == 1<<62-1 {
		admitted = math.MaxInt64 // an event without cost
	}
	return admitted, nil
}
