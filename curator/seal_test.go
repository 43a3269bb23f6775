package curator

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

func TestSealRefusals(t *testing.T) {
	good := Records{X: []float64{1, 2, 3, 4}, Features: 2, Y: []float64{0, 1}, Radius: 1}
	for name, change := range map[string]func(*Records){
		"no features":      func(r *Records) { r.Features = 0 },
		"ragged":           func(r *Records) { r.Features = 3 },
		"empty":            func(r *Records) { r.X = nil },
		"responses":        func(r *Records) { r.Y = []float64{1} },
		"negative radius":  func(r *Records) { r.Radius = -1 },
		"NaN radius":       func(r *Records) { r.Radius = math.NaN() },
		"infinite radius":  func(r *Records) { r.Radius = math.Inf(1) },
		"too many rows":    func(r *Records) { r.RowsPerPerson = 3 },
		"negative persons": func(r *Records) { r.RowsPerPerson = -1 },
	} {
		r := good
		change(&r)
		if _, err := Seal(r, budget(t, accountant.Substitute)); err == nil {
			t.Errorf("%s: no error", name)
		} else if !strings.HasPrefix(err.Error(), "curator: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c, err := Seal(Records{Y: []float64{0, 1, 1}}, budget(t, accountant.Substitute)); err != nil ||
		c.Facts().Records != 3 || c.Facts().Features != 0 {
		t.Errorf("responses alone: %v", err)
	}
	for name, r := range map[string]Records{"nothing": {}, "no responses": {Y: []float64{}},
		"X without columns": {X: []float64{1}, Y: []float64{1}}} {
		if _, err := Seal(r, budget(t, accountant.Substitute)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Seal(good, nil); err == nil {
		t.Error("no budget: no error")
	}
	c, err := Seal(good, budget(t, accountant.AddRemove))
	if err != nil {
		t.Fatal(err)
	}
	if f := c.Facts(); f.Records != 2 || f.RowsPerPerson != 1 || f.Adjacency != accountant.AddRemove || !f.Response ||
		c.Insecure() {
		t.Errorf("facts %+v", f)
	}
}

// TestSealAcceptsAnyValue: after the shape was checked, no value of a record
// may be an error.
func TestSealAcceptsAnyValue(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), -math.MaxFloat64, 5e-324} {
		c, err := Seal(Records{X: []float64{v, 1}, Features: 1, Y: []float64{v, v}, Radius: 1},
			budget(t, accountant.Substitute))
		if err != nil {
			t.Fatalf("a record of %v: %v", v, err)
		}
		target, err := targets.New(targets.RegressionConfig{Features: 1, Prior: priors.Gaussian{SD: 1}})
		if err != nil {
			t.Fatal(err)
		}
		b := grantBits(t, c, AcceptanceBit{Target: target, Proposal: Proposal{Scale: 0.1}}, 3)
		for range 3 {
			if _, err := b.Move([]float64{0}, []float64{0.5}, func([]float64) float64 { return 0 }); err != nil {
				t.Errorf("a record of %v: %v", v, err)
			}
		}
	}
}

func TestMechanismRefusals(t *testing.T) {
	facts := Facts{Records: 100, Features: 1, Radius: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	addRemove, unstated, unbounded := facts, facts, facts
	addRemove.Adjacency, unstated.Adjacency, unbounded.Radius = accountant.AddRemove, 0, 0
	toy := newToy(1)
	free := newToy(1)
	free.lipschitz = math.Inf(1)
	for name, c := range map[string]struct {
		m AcceptanceBit
		f Facts
	}{
		"no target":              {AcceptanceBit{Clip: 1}, facts},
		"wrong features":         {AcceptanceBit{Target: newToy(2), Clip: 1}, facts},
		"no bound, any move":     {AcceptanceBit{Target: toy}, facts},
		"no bound, no radius":    {AcceptanceBit{Target: toy, Proposal: Proposal{Scale: 1}}, unbounded},
		"no bound, no Lipschitz": {AcceptanceBit{Target: free, Proposal: Proposal{Scale: 1}}, facts},
		"no adjacency":           {AcceptanceBit{Target: toy, Clip: 1}, unstated},
		"negative clip":          {AcceptanceBit{Target: toy, Clip: -1}, facts},
		"NaN clip":               {AcceptanceBit{Target: toy, Clip: math.NaN()}, facts},
		"temperature above 1":    {AcceptanceBit{Target: toy, Clip: 1, Temperature: 1.5}, facts},
		"negative temperature":   {AcceptanceBit{Target: toy, Clip: 1, Temperature: -1}, facts},
		"rate above 1":           {AcceptanceBit{Target: toy, Clip: 1, Batch: Batch{Rate: 1.5}}, facts},
		"rate below 0":           {AcceptanceBit{Target: toy, Clip: 1, Batch: Batch{Rate: -0.1}}, facts},
		"batch of -1":            {AcceptanceBit{Target: toy, Clip: 1, Batch: Batch{Size: -1}}, facts},
		"two schemes":            {AcceptanceBit{Target: toy, Clip: 1, Batch: Batch{Size: 3, Rate: 0.5}}, facts},
		"two tests":              {AcceptanceBit{Target: toy, Clip: 1, Test: Test{Corrected: 1, Penalty: 1}}, facts},
		"unknown accounting":     {AcceptanceBit{Target: toy, Clip: 1, Accounting: "hope"}, facts},
		"batch above N":          {AcceptanceBit{Target: toy, Clip: 1, Batch: Batch{Size: 101}}, facts},
		"fixed, add/remove":      {AcceptanceBit{Target: toy, Clip: 1, Batch: Batch{Size: 10}}, addRemove},
		"move of scale 0":        {AcceptanceBit{Target: toy, Proposal: Proposal{Scale: 0}}, facts},
		"no such correction":     {AcceptanceBit{Target: toy, Clip: 1, Test: Test{Corrected: 3}}, facts},
		"published, logistic":    {AcceptanceBit{Target: toy, Clip: 1, Accounting: "published"}, facts},
		"published, Poisson": {AcceptanceBit{Target: toy, Clip: 1, Accounting: "published", Test: Test{Corrected: 2},
			Batch: Batch{Rate: 0.1}}, facts},
		"published, clip": {AcceptanceBit{Target: toy, Clip: 1, Accounting: "published", Test: Test{Corrected: 2},
			Batch: Batch{Size: 10}}, facts},
		"published, C": {AcceptanceBit{Target: toy, Clip: 0.01, Accounting: "published", Test: Test{Corrected: 1},
			Batch: Batch{Size: 10}}, facts},
		"published, add/remove": {AcceptanceBit{Target: toy, Clip: 1, Accounting: "published", Test: Test{Corrected: 2}},
			addRemove},
	} {
		if e, err := c.m.Event(c.f); err == nil {
			t.Errorf("%s: priced at %v", name, e)
		}
	}
}

// TestRefusedGrantReadsNothing: a grant beyond the budget is an
// ExceededError, spends nothing, and the target has not been called.
func TestRefusedGrantReadsNothing(t *testing.T) {
	b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: accountant.Substitute})
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	target := counting{newToy(1), &calls}
	c, err := Seal(Records{X: []float64{1, 2}, Features: 1}, b)
	if err != nil {
		t.Fatal(err)
	}
	var exceeded *accountant.ExceededError
	if _, err := Charge(c, AcceptanceBit{Target: target, Clip: 1}, 100); !errors.As(err, &exceeded) {
		t.Fatalf("error %v, want an ExceededError", err)
	}
	spent, err := b.Spent()
	if err != nil || spent.Epsilon != 0 || calls != 0 {
		t.Errorf("after a refusal: ε = %v spent, %d calls of the target, error %v", spent.Epsilon, calls, err)
	}
	if _, err := Charge(c, AcceptanceBit{Target: target, Clip: 0.01}, 0); err == nil {
		t.Error("a grant of no bits was given")
	}
}

type counting struct {
	toy
	calls *int
}

func (c counting) Loss(dst, theta []float64, rows targets.Rows) {
	*c.calls++
	c.toy.Loss(dst, theta, rows)
}

// TestPublishedTheorem1 is 2αB²/C at C = 2 (Heikkilä et al. 2019, Theorem 1),
// which is twice the price of the exact test's bit.
func TestPublishedTheorem1(t *testing.T) {
	facts := Facts{Records: 100, Features: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	const clip = 0.01
	published, err := AcceptanceBit{Target: newToy(1), Clip: clip, Test: Test{Corrected: 2},
		Accounting: "published"}.Event(facts)
	if err != nil {
		t.Fatal(err)
	}
	bit, err := AcceptanceBit{Target: newToy(1), Clip: clip}.Event(facts)
	if err != nil {
		t.Fatal(err)
	}
	for _, alpha := range []float64{1.5, 8, 64} {
		if got, want := published.RDP(alpha), 2*alpha*clip*clip/2; math.Abs(got/want-1) > 1e-6 {
			t.Errorf("α=%v: Theorem 1 costs %v, want %v", alpha, got, want)
		}
		if got, want := bit.RDP(alpha), alpha*clip*clip/2; got > want*(1+1e-6) || got < 0.97*want {
			t.Errorf("α=%v: the bit costs %v, want about %v", alpha, got, want)
		}
	}
}

// TestEventsSurviveJSON: what a certificate writes down prices the same.
func TestEventsSurviveJSON(t *testing.T) {
	facts := Facts{Records: 1000, Features: 1, Radius: 1, RowsPerPerson: 2, Adjacency: accountant.Substitute}
	for _, m := range []AcceptanceBit{
		{Target: newToy(1), Proposal: Proposal{Scale: 0.1}, Batch: Batch{Rate: 0.1}},
		{Target: newToy(1), Clip: 0.1, Batch: Batch{Size: 50}, Test: Test{Corrected: 1}},
		{Target: newToy(1), Proposal: Proposal{Scale: 0.1, OneComponent: true}},
	} {
		e, err := m.Event(facts)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back accountant.Event
		if err := json.Unmarshal(text, &back); err != nil || !back.Equal(e) {
			t.Errorf("%s: %v, error %v", text, back, err)
		}
	}
}
