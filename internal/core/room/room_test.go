package room

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/noise"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// opened returns a room of four records, whose budget pays for a pure ε of 1.
func opened(t *testing.T, root *noise.Source, track func() Track) (*Room, *accountant.Budget) {
	t.Helper()
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Adjacency: accountant.AddRemove})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Seal(record.New([]float64{1, 2, 3, 4, 5, 6, 7, 8}, 2, []float64{1, 2, 3, 4}, 4, 20), 3, budget, root, track)
	if err != nil {
		t.Fatal(err)
	}
	return r, budget
}

// bits is a request of bits that each cost ε.
func bits(t *testing.T, epsilon float64, count int64, into **Grant) Request {
	t.Helper()
	event, err := accountant.Bit{Contribution: epsilon}.Event(accountant.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	return Request{Count: count, Prepare: func(Facts, *record.Set) (accountant.Event, func(*Grant), error) {
		return event, func(g *Grant) { *into = g }, nil
	}}
}

// TestRoomsSayWhatIsPublic: facts are those of the set and of the budget, and noise of a seed
// is marked.
func TestRoomsSayWhatIsPublic(t *testing.T) {
	r, _ := opened(t, nil, nil)
	want := Facts{Records: 4, Features: 2, Response: true, Radius: 20, RowsPerPerson: 3, Adjacency: accountant.AddRemove}
	if r.Facts() != want || r.Insecure() {
		t.Errorf("%+v, insecure %v", r.Facts(), r.Insecure())
	}
	if r, _ := opened(t, noise.NewInsecure([32]byte{1}), nil); !r.Insecure() {
		t.Error("noise of a seed is not marked")
	}
	set, budget := record.New([]float64{1}, 1, nil, 1, 0), r.budget
	if _, err := Seal(set, 2, budget, nil, nil); err == nil {
		t.Error("two rows a person, of one record, were sealed")
	}
}

// TestGrantsArePaidFirst: of a count of at least 1, once, all or nothing, at the price that was
// prepared, and each release once.
func TestGrantsArePaidFirst(t *testing.T) {
	r, budget := opened(t, nil, nil)
	spent := func() float64 {
		g, err := budget.Spent()
		if err != nil {
			t.Fatal(err)
		}
		return g.Epsilon
	}
	var one, other *Grant
	no := errors.New("no plan")
	refused := Request{Count: 1, Prepare: func(Facts, *record.Set) (accountant.Event, func(*Grant), error) {
		return accountant.Event{}, nil, no
	}}
	zero := Request{Count: 1, Prepare: func(Facts, *record.Set) (accountant.Event, func(*Grant), error) {
		return accountant.Event{}, func(*Grant) {}, nil
	}}
	for name, requests := range map[string][]Request{"none": {bits(t, 0.1, 0, &one)}, "fewer": {bits(t, 0.1, -1, &one)},
		"dear": {bits(t, 0.1, 11, &one)}, "together dear": {bits(t, 0.1, 6, &one), bits(t, 0.2, 3, &other)},
		"no plan": {bits(t, 0.1, 1, &one), refused}, "no event": {bits(t, 0.1, 1, &one), zero}, "nothing": nil} {
		if err := r.Grant(requests...); err == nil || one != nil || other != nil || spent() != 0 ||
			name == "no plan" && !errors.Is(err, no) {
			t.Errorf("%s: error %v, grants %v and %v, ε %v is spent", name, err, one, other, spent())
		}
	}
	if err := r.Grant(bits(t, 0.1, 3, &one), bits(t, 0.2, 1, &other)); err != nil || math.Abs(spent()-0.5) > 1e-6 {
		t.Fatalf("error %v, ε %v is spent", err, spent())
	}
	if price, want := other.Event().RDP(math.Inf(1)), 0.2*(1+1e-9); math.Abs(price-want) > 1e-12 || other.Left() != 1 {
		t.Errorf("%d releases of %v, want one of %v", other.Left(), price, want)
	}
	for left := int64(3); left > 0; left-- {
		if one.Left() != left || one.Take() != nil {
			t.Errorf("the release before the last %d was refused", left)
		}
	}
	if err := one.Take(); !errors.Is(err, ErrSpent) || one.Left() != 0 {
		t.Errorf("a fourth release of three: %v, %d left", err, one.Left())
	}
	if err := errors.Join(one.Enter(), other.Enter()); err != nil || !errors.Is(one.Enter(), ErrBusy) {
		t.Errorf("releases under way: %v", err)
	}
	if one.Leave(); one.Enter() != nil {
		t.Error("a release that has ended is under way")
	}
}

// TestStreamsAreSeparate: no two of any grants' streams are alike, and a seed's are the same again.
func TestStreamsAreSeparate(t *testing.T) {
	draw := func() (words []uint64) {
		r, _ := opened(t, noise.NewInsecure([32]byte{7}), nil)
		for range 5 {
			var g *Grant
			if err := r.Grant(bits(t, 0.1, 1, &g)); err != nil {
				t.Fatal(err)
			}
			words = append(words, g.Public().Uint64(), g.Secret().Uint64())
		}
		return words
	}
	words := draw()
	if !slices.Equal(words, draw()) {
		t.Error("a seed gives other streams the second time")
	}
	if slices.Sort(words); len(slices.Compact(words)) != 10 {
		t.Errorf("streams begin with %v", words)
	}
}

// seen is a track that keeps what is released, and turns every bit.
type seen struct {
	values [][]float64
	bits   []bool
}

func (s *seen) Values(v []float64) { s.values = append(s.values, slices.Clone(v)) }
func (s *seen) Bit(b bool) bool    { s.bits = append(s.bits, b); return !b }

// TestWhatLeavesIsSeen: every release passes a grant's own track, which may replace it. Of sums
// far above the noise, values are their multiples.
func TestWhatLeavesIsSeen(t *testing.T) {
	var tracks []*seen
	r, _ := opened(t, nil, func() Track { tracks = append(tracks, &seen{}); return tracks[len(tracks)-1] })
	var g, other *Grant
	if err := r.Grant(bits(t, 0.1, 1, &g), bits(t, 0.1, 1, &other)); err != nil {
		t.Fatal(err)
	}
	for i, released := range []bool{g.Refuse(), g.Decide(0, false), g.Decide(0, true), g.Logistic(50, 20, 1.5),
		g.Logistic(-50, -20, 1.5), g.Logistic(-50, 900, 1.5)} {
		if want := []bool{false, false, true, true, false, true}[i]; released == want || tracks[0].bits[i] != want {
			t.Errorf("bit %d is %v, and the track saw %v", i, released, tracks[0].bits[i])
		}
	}
	normal, err := noise.NewDiscreteGaussian(2)
	if err != nil {
		t.Fatal(err)
	}
	sums := []int64{1 << 40, -1 << 41, 0}
	got := make([]float64, 3)
	g.Noisy(got, sums, normal, 0.25, 3)
	for j, s := range sums {
		steps := got[j] / 0.25 / 3 // 40 standard deviations of noise
		if math.Abs(steps-float64(s)) > 80 || steps != math.Round(steps) {
			t.Errorf("a sum of %d is released as %v steps", s, steps)
		}
	}
	other.Publish([]float64{5, 6})
	if len(tracks[0].values) != 1 || !slices.Equal(tracks[0].values[0], got) || len(tracks[1].bits) != 0 ||
		len(tracks[1].values) != 1 || !slices.Equal(tracks[1].values[0], []float64{5, 6}) {
		t.Errorf("tracks %+v and %+v", *tracks[0], *tracks[1])
	}
}

// TestDimensions: a target has at least one parameter, and at most as many as the proofs cover.
func TestDimensions(t *testing.T) {
	for dim, fits := range map[int]bool{-1: false, 0: false, 1: true, MostParameters: true, MostParameters + 1: false} {
		s, err := Facts{Features: 1}.Admit(sized(dim), true)
		if (err == nil) != fits || err == nil && (s.Dim != dim || s.Linear) {
			t.Errorf("%d parameters: %+v, %v", dim, s, err)
		}
	}
	for features, linear := range map[int]bool{2: true, 1: false, 3: false} { // of two parameters
		f := Facts{Features: features, Response: true}
		if s, err := f.Admit(fitting{features: features}, true); err != nil || s.Linear != linear {
			t.Errorf("%d features: %+v, %v", features, s, err)
		}
	}
	if _, err := (Facts{}).Admit(nil, true); err == nil {
		t.Error("no target was let in")
	}
}

// fitting has two parameters, and slopes, of any number of features.
type fitting struct {
	wideLinear
	features int
}

func (f fitting) Shape() (int, bool) { return f.features, true }

// sized has that many parameters.
type sized int

func (s sized) Dim() int                               { return int(s) }
func (sized) Shape() (int, bool)                       { return 1, false }
func (sized) Loss(dst, theta []float64, _ record.Rows) { clear(dst) }
