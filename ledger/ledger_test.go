package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"

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
