package proptest

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
)

func (c kernelCheck) exhaustion() {
	c.t.Helper()
	k, s := c.chain(1)
	if _, err := k.Step(c.rng(), s); err != nil {
		c.fail("the only step that was granted: %v", err)
	}
	c.unchanged(k, s, "the last step that was granted")
	for refusals := 1; refusals <= 20; refusals++ {
		c.unchanged(k, s, fmt.Sprintf("the last step that was granted and %d refusals", refusals))
	}
}

// costs expects chains of any length to be charged before their first step, at what Cost
// says whenever it is asked, for any number of records.
func (c kernelCheck) costs() {
	c.t.Helper()
	for _, steps := range []int64{c.o.Steps, 1, 20 * c.o.Steps} {
		records := c.seal(c.o.Records, c.o.Seed)
		k := c.kernel(records, steps)
		granted := records.Budget().Events()
		c.charged(records, steps)
		if steps > c.o.Steps {
			break
		}
		if granted.RDP(2) > 0 {
			c.poor()
			c.refused(granted, steps)
		}
		rng, s := c.rng(), c.start(k)
		for n := range steps {
			if _, err := k.Step(rng, s); err != nil {
				c.fail("step %d of %d: %v", n+1, steps, err)
			}
		}
		if now := records.Budget().Events(); !now.Equal(granted) {
			c.fail("the budget has paid %v after %d steps, and %v before the first; steps are paid for in advance", now, steps,
				granted)
		}
	}
	for _, r := range append(otherSizes(c.o.Records), c.hugeTables()...) {
		more := c.seal(r, c.o.Seed)
		if _, err := c.factory(more, c.o.Steps); err == nil { // it may refuse so many
			c.charged(more, c.o.Steps)
		}
	}
	c.costsElsewhere()
}

// costsElsewhere asks for the price where rows are bounded, where persons own several, and under the
// other adjacency. A kernel may refuse any of these.
func (c kernelCheck) costsElsewhere() {
	c.t.Helper()
	if c.o.Cost == nil {
		return
	}
	bounded, several := c.o.Records, c.o.Records
	several.RowsPerPerson = max(1, several.RowsPerPerson) + 2
	if bounded.Radius = 2 * bounded.Radius; bounded.Radius == 0 {
		bounded.Radius = 3
	}
	other := accountant.Substitute + accountant.AddRemove - c.o.Adjacency
	for _, at := range []struct {
		records   curator.Records
		adjacency accountant.Adjacency
	}{{bounded, c.o.Adjacency}, {several, c.o.Adjacency}, {c.o.Records, other}} {
		c.o.Adjacency = at.adjacency
		records := c.seal(at.records, c.o.Seed)
		if _, err := c.factory(records, c.o.Steps); err == nil {
			c.charged(records, c.o.Steps)
		}
	}
}

// charged compares what was charged for one chain with what Cost says.
func (c kernelCheck) charged(records *curator.Curator, steps int64) {
	c.t.Helper()
	if c.o.Cost == nil {
		return
	}
	one, err := c.o.Cost(records.Facts())
	if err != nil {
		c.fail("Cost fails: %v", err)
	}
	granted := records.Budget().Events()
	if all, err := one.Times(steps); err != nil || !near(all.RDP(2), granted.RDP(2)) ||
		!near(all.RDP(32), granted.RDP(32)) {
		c.fail("Cost says %v a step, which makes %v (error %v) for %d steps on records with the facts %+v; the curator "+
			"charged %v", one, all, err, steps, records.Facts(), granted)
	}
}

// poor expects a factory to pass on the refusal of a budget that nothing is paid from.
func (c kernelCheck) poor() {
	c.t.Helper()
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1e-12, Delta: 1e-18, Adjacency: c.o.Adjacency})
	if err != nil {
		c.fail("a budget of nearly nothing: %v", err)
	}
	records, err := curator.Seal(c.o.Records, budget, curator.InsecureSeed(c.o.Seed))
	if err != nil {
		c.fail("the records cannot be sealed: %v", err)
	}
	_, err = c.factory(records, c.o.Steps)
	if err == nil {
		c.fail("the factory gives no error where the budget covers no step: it must pass on what a grant says")
	}
	c.passedOn(err)
}

// passedOn expects a factory's error to be the budget's, or one that wraps it: who runs chains asks it for what is
// left.
func (c kernelCheck) passedOn(err error) {
	c.t.Helper()
	var refusal *accountant.ExceededError
	if !errors.As(err, &refusal) {
		c.fail("the factory says %q where the budget covers no chain, which is none of the accountant's ExceededErrors: "+
			"pass on what a grant says, or wrap it with %%w", err)
	}
}

// hugeTables have more records than 16 bits count, and so many that 32 bits do not count a thousand times as many.
func (c kernelCheck) hugeTables() (all []curator.Records) {
	const most = 8_000_000 // numbers
	if c.o.Cost == nil || c.o.Effort < Standard {
		return nil
	}
	for _, n := range []int{70_000, 1_000_000, 3_000_000} {
		t := c.o.Records
		if n*t.Features > most {
			break
		}
		if t.X = cycled(t.X, n*t.Features); t.Y != nil {
			t.Y = cycled(t.Y, n)
		}
		all = append(all, t)
	}
	return all
}

// refused expects a factory whose steps a budget does not cover to leave it as it was, whatever part of them it
// covers: what is charged for a chain that there is not is lost.
func (c kernelCheck) refused(granted accountant.Event, steps int64) {
	c.t.Helper()
	const delta = 1e-6
	all, err := granted.Epsilon(delta)
	if err != nil || !(all.Epsilon > 0) || !finite(all.Epsilon) {
		return
	}
	for k := range 24 {
		share := math.Pow(0.5, float64(k-11)) // of the price, or what the price is more than it
		if k < 12 {
			share = 1 - math.Pow(0.5, float64(12-k))
		}
		budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: share * all.Epsilon, Delta: delta,
			Adjacency: c.o.Adjacency})
		if err != nil {
			continue
		}
		before := budget.Events()
		records, err := curator.Seal(c.o.Records, budget, curator.InsecureSeed(c.o.Seed))
		if err != nil {
			c.fail("the records cannot be sealed: %v", err)
		}
		if _, err = c.factory(records, steps); err == nil {
			continue // the price may be less than what is known of all that was charged
		}
		if now := budget.Events(); !now.Equal(before) {
			c.fail("a budget of ε = %.6g does not cover %d steps, for which the factory gives an error, and has paid %v: buy "+
				"all that a chain needs in one Grant, which pays for all or for nothing", share*all.Epsilon, steps, now)
		}
		c.passedOn(err)
	}
}
