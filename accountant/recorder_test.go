package accountant

import (
	"errors"
	"math"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// recorderFunc is a Recorder that is a function.
type recorderFunc func(e Event, count int64) error

func (f recorderFunc) Record(e Event, count int64) error { return f(e, count) }

func recorded(t *testing.T, c BudgetConfig, r Recorder) *Budget {
	t.Helper()
	b, err := NewBudget(c, r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRecordersThatPanic: what may have been recorded counts as spent, and the budget can still
// be asked.
func TestRecordersThatPanic(t *testing.T) {
	c := BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: Substitute}
	e, err := Gaussian(Substitute, 40)
	if err != nil {
		t.Fatal(err)
	}
	b := recorded(t, c, recorderFunc(func(Event, int64) error { panic("out of memory") }))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was lost")
			}
		}()
		_ = b.Charge(e, 3)
	}()
	whole, err := NewBudget(c)
	if err != nil {
		t.Fatal(err)
	}
	most, err := whole.Remaining(e)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := b.Remaining(e); err != nil || left != most-3 {
		t.Errorf("%d of %d releases are left, error %v", left, most, err)
	}
}

// TestRecordedBudgets: a charge is recorded once, when it fits and before it returns,
// and what the recorder refuses is not charged.
func TestRecordedBudgets(t *testing.T) {
	c := BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: Substitute}
	e, err := Gaussian(Substitute, 40)
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	full := errors.New("the disk is full")
	var refuse error
	b := recorded(t, c, recorderFunc(func(_ Event, n int64) error { got = append(got, n); return refuse }))
	if err := b.Charge(e, 3); err != nil || len(got) != 1 || got[0] != 3 {
		t.Fatalf("%v, recorded %v", err, got)
	}
	left, err := b.Remaining(e)
	if err != nil {
		t.Fatal(err)
	}
	var exceeded *ExceededError
	if err := b.Charge(e, left+1); !errors.As(err, &exceeded) || len(got) != 1 {
		t.Errorf("%v, recorded %v: what does not fit was recorded", err, got)
	}
	refuse = full
	if err := b.Charge(e, 1); !errors.Is(err, full) || b.Events().parts[0].count != 3 {
		t.Errorf("%v, %v charged", err, b.Events())
	}
	refuse = nil
	if err := b.Charge(e, left); err != nil || b.Events().parts[0].count != 3+left {
		t.Errorf("%v, %v charged", err, b.Events())
	}
	if _, err := NewBudget(c, nil); err == nil {
		t.Error("no recorder was accepted")
	}
}

// TestWhileRecording: charges under way count as spent, and do not wait for each
// other.
func TestWhileRecording(t *testing.T) {
	e, err := Gaussian(Substitute, 40)
	if err != nil {
		t.Fatal(err)
	}
	both := make(chan struct{}, 2)
	release := make(chan struct{})
	c := BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: Substitute}
	b := recorded(t, c, recorderFunc(func(Event, int64) error { both <- struct{}{}; <-release; return nil }))
	most, err := b.Remaining(e)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if err := b.Charge(e, most/2); err != nil {
				t.Error(err)
			}
		})
	}
	<-both
	<-both
	if left, err := b.Remaining(e); err != nil || left != most%2 {
		t.Errorf("%d left while %d are being recorded, %v", left, most/2*2, err)
	}
	var exceeded *ExceededError
	if err := b.Charge(e, 2); !errors.As(err, &exceeded) || exceeded.SpentEpsilon == 0 {
		t.Errorf("more than the budget: %v", err)
	}
	close(release)
	wg.Wait()
	if got := b.Events().parts[0].count; got != most/2*2 || len(b.pending) != 0 {
		t.Errorf("%d charged, %d pending", got, len(b.pending))
	}
}

// TestRestored filters and odometers go on where they were.
func TestRestored(t *testing.T) {
	e, err := Gaussian(AddRemove, 3)
	if err != nil {
		t.Fatal(err)
	}
	c := BudgetConfig{Epsilon: 3, Delta: 1e-5, Adjacency: AddRemove, Order: 9}
	f, err := NewFilter(c, 0)
	if err != nil {
		t.Fatal(err)
	}
	o, err := NewOdometer(AddRemove, 1e-5, 9, 0)
	if err != nil {
		t.Fatal(err)
	}
	again, oagain := f, o
	for range 12 {
		if again, err = NewFilter(c, again.Cost()); err != nil {
			t.Fatal(err)
		}
		if oagain, err = NewOdometer(AddRemove, 1e-5, 9, oagain.Cost()); err != nil {
			t.Fatal(err)
		}
		if (f.Charge(e, 1) == nil) != (again.Charge(e, 1) == nil) || f.Spent().Epsilon != again.Spent().Epsilon {
			t.Errorf("filter %v, restored %v", f.Spent().Epsilon, again.Spent().Epsilon)
		}
		if err := errors.Join(o.Charge(e, 1), oagain.Charge(e, 1)); err != nil ||
			o.Spent().Epsilon != oagain.Spent().Epsilon {
			t.Errorf("odometer %v, restored %v, %v", o.Spent().Epsilon, oagain.Spent().Epsilon, err)
		}
	}
	if share := f.Share(); !(share > 0.7 && share <= 1) {
		t.Errorf("a filter that refuses has %v of its limit spent", share)
	}
	for _, bad := range []float64{-1, math.Inf(1), math.NaN()} {
		if _, err := NewFilter(c, bad); err == nil {
			t.Errorf("a filter of cost %v", bad)
		}
		if _, err := NewOdometer(AddRemove, 1e-5, 9, bad); err == nil {
			t.Errorf("an odometer of cost %v", bad)
		}
	}
}

// TestFilterOrder: what some order admits is admitted at the one that is chosen, and no
// other leaves more to a later Gaussian release. Where the charge is all that the limit
// allows, that is its own best order.
func TestFilterOrder(t *testing.T) {
	const delta = 1e-6
	rapid.Check(t, func(t *rapid.T) {
		epsilon := math.Exp(rapid.Float64Range(-3, 3).Draw(t, "log ε"))
		share := rapid.Float64Range(0.01, 1).Draw(t, "share")
		e, err := Pure(Substitute, share*epsilon)
		if rapid.Bool().Draw(t, "gaussian") {
			e, err = Gaussian(Substitute, 6/(share*epsilon))
		}
		if err != nil {
			t.Fatal(err)
		}
		order, err := e.FilterOrder(epsilon, delta)
		if err != nil {
			t.Fatal(err)
		}
		left := func(order float64) float64 { return (limitAt(order, epsilon, delta) - e.RDP(order)) / order }
		most := 0.0
		for k := -40; k <= 240; k++ {
			most = max(most, left(1+math.Exp2(float64(k)/8)))
		}
		if got := left(order); most > 0 && (got <= 0 || got < most*(1-1e-3)) {
			t.Errorf("order %v leaves %v of ε %v, another %v", order, got, epsilon, most)
		}
	})
	e, err := Gaussian(Substitute, 7)
	if err != nil {
		t.Fatal(err)
	}
	g := e.rdpEpsilon(delta)
	if order, err := e.FilterOrder(g.value, delta); err != nil || math.Abs(order/g.order-1) > 1e-3 {
		t.Errorf("order %v, %v: alone %v", order, err, g.order)
	}
	for _, bad := range [][2]float64{{1, 0}, {0, delta}, {math.Inf(1), delta}} {
		if _, err := e.FilterOrder(bad[0], bad[1]); err == nil {
			t.Errorf("ε %v and δ %v were accepted", bad[0], bad[1])
		}
	}
}
