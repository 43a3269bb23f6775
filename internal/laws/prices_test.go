package laws

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/rights"
)

// price is a mechanism that the curator prices.
type price interface {
	Event(f curator.Facts) (accountant.Event, error)
}

// TestPricesAreThoseOfTheProofs compares what mechanisms charge with events
// built by hand from docs/proofs/curator.md: the contribution of all of a
// person's rows, scaled from the batch to the full data, sampled at the chance
// that any of them is in the batch. Only the allowances for rounding are added.
func TestPricesAreThoseOfTheProofs(t *testing.T) {
	must := func(e accountant.Event, err error) accountant.Event {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	logistic := regression(t)
	lipschitz := logistic.PredictorLipschitz()
	drawn := curator.AcceptanceBit{Target: logistic, Proposal: curator.Proposal{Scale: 0.01}, Temperature: 0.5}
	const rate = 0.2
	thinned := curator.ThinnedBit{Target: logistic, Proposal: curator.Proposal{Scale: 0.01}, Temperature: 0.5, Rate: rate}
	clipped := curator.AcceptanceBit{Target: mean(t), Clip: 0.01}
	batched := func(b curator.Batch) curator.AcceptanceBit {
		m := clipped
		m.Batch = b
		return m
	}
	for _, adj := range []accountant.Adjacency{accountant.Substitute, accountant.AddRemove} {
		for _, rows := range []int{1, 3} {
			k := float64(rows)
			facts := curator.Facts{Records: 1000, Features: 2, RowsPerPerson: rows, Adjacency: adj}
			certified := facts
			certified.Response, certified.Radius = true, 2
			noise := 5.0 / k // relative to one person's rows under substitution
			if adj == accountant.AddRemove {
				noise *= 2
			}
			gaussian := must(accountant.Gaussian(adj, noise))
			// Of one row, for each standard deviation of a drawn move and for the longest.
			bound := 0.5 * lipschitz * 2 * 0.01
			reach := bound * (math.Sqrt2 + 4)
			type priced struct {
				name  string
				m     price
				facts curator.Facts
				want  accountant.Event
			}
			all := []priced{
				{"clip", clipped, facts, must(accountant.Bit{Contribution: 0.01 * k}.Event(adj))},
				{"Poisson", batched(curator.Batch{Rate: 0.1}), facts,
					must(must(accountant.Bit{Contribution: 0.1 * k}.Event(adj)).PoissonSampled(0.1 * k))},
				{"drawn", drawn, certified, must(accountant.Bit{Contribution: bound * k, Isotropic: true}.Event(adj))},
				{"thinned", thinned, certified, must(accountant.Bit{Contribution: bound * k, Isotropic: true,
					Growth: 1 / (k * (-math.Log1p(-rate) - reach)), Most: reach * k}.Event(adj))},
				{"ratio", curator.NoisyRatio{Target: mean(t), Clip: 1, NoiseMultiplier: 5}, facts, gaussian},
				{"gradient", curator.NoisyGradient{Target: mean(t), Clip: 1, NoiseMultiplier: 5}, facts, gaussian},
				{"gradient, Poisson", curator.NoisyGradient{Target: mean(t), Clip: 1, NoiseMultiplier: 5,
					Batch: curator.Batch{Rate: 0.1}}, facts,
					must(gaussian.PoissonSampled(0.1 * k))},
			}
			if adj == accountant.Substitute {
				all = append(all, priced{"fixed", batched(curator.Batch{Size: 50}), facts,
					must(must(accountant.Bit{Contribution: 0.2 * k}.Event(adj)).SubsetSampled(1000, int64(50*rows)))})
			}
			for _, p := range all {
				got := must(p.m.Event(p.facts))
				for _, order := range []float64{1.5, 4, 32} {
					// Sampled bits carry a numerical margin of their own.
					if g, w := got.RDP(order), p.want.RDP(order); !(g >= w*(1-1e-6) && g <= w*(1+1e-5)) {
						t.Errorf("%s, %v, %d rows a person: %v at order %v, want %v", p.name, adj, rows, g, order, w)
					}
				}
			}
		}
	}
}

// TestAddRemovePricesDoNotCountRecords: where a record may be missing, a price
// that depended on their number would tell.
func TestAddRemovePricesDoNotCountRecords(t *testing.T) {
	facts := curator.Facts{Records: 1000, Features: 2, RowsPerPerson: 2, Adjacency: accountant.AddRemove}
	certified := facts
	certified.Response, certified.Radius = true, 1
	logistic := regression(t)
	for name, c := range map[string]struct {
		m     price
		facts curator.Facts
	}{
		"bit": {curator.AcceptanceBit{Target: mean(t), Clip: 0.01, Batch: curator.Batch{Rate: 0.1}}, facts},
		"drawn": {curator.AcceptanceBit{Target: logistic, Proposal: curator.Proposal{Scale: 0.01},
			Batch: curator.Batch{Rate: 0.1},
			Test:  curator.Test{Corrected: 1}}, certified},
		"penalty": {curator.AcceptanceBit{Target: mean(t), Clip: 0.01, Test: curator.Test{Penalty: 1}}, facts},
		"thinned": {curator.ThinnedBit{Target: logistic, Proposal: curator.Proposal{Scale: 0.01}, Rate: 0.3}, certified},
		"ratio":   {curator.NoisyRatio{Target: mean(t), Clip: 1, NoiseMultiplier: 5}, facts},
		"gradient": {curator.NoisyGradient{Target: mean(t), Clip: 1, NoiseMultiplier: 5,
			Batch: curator.Batch{Rate: 0.1}}, facts},
		"signs": {curator.GradientSigns{Target: mean(t), Clip: 1, Scale: 0.1, Adjusted: true}, facts},
		"unbatched": {curator.AcceptanceBit{Target: logistic, Proposal: curator.Proposal{Scale: 0.01, OneComponent: true}},
			certified},
	} {
		fewer := c.facts
		fewer.Records--
		a, err := c.m.Event(c.facts)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b, err := c.m.Event(fewer)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !a.Equal(b) {
			t.Errorf("%s: %v of 1000 records, %v of 999", name, a, b)
		}
	}
}

// TestRoundingIsCharged: prices are above those of exact arithmetic.
func TestRoundingIsCharged(t *testing.T) {
	const clip = 0.25
	event, err := curator.AcceptanceBit{Target: ballot{}, Clip: clip}.Event(
		curator.Facts{Records: 10, Features: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute})
	if err != nil {
		t.Fatal(err)
	}
	// One billionth for the accountant's exponentials and one for the curator's sums.
	if got := event.RDP(math.Inf(1)); !(got > 2*clip*(1+1.9e-9) && got < 2*clip*(1+1e-8)) {
		t.Errorf("a contribution of %v costs %v at order +Inf", clip, got)
	}
	bit, err := accountant.Bit{Contribution: clip}.Event(accountant.Substitute)
	if err != nil {
		t.Fatal(err)
	}
	if got := bit.RDP(math.Inf(1)); !(got >= 2*clip*(1+1e-9)) {
		t.Errorf("the accountant prices %v at %v; its doc comment adds one billionth", clip, got)
	}
}

// TestGrantsAreCharged: a grant of any kind charges its count times its event.
func TestGrantsAreCharged(t *testing.T) {
	const count = 7
	records := curator.Records{X: rights.Points, Features: 2}
	for name, grant := range map[string]func(c *curator.Curator) (interface{ Event() accountant.Event }, error){
		"bits": func(c *curator.Curator) (interface{ Event() accountant.Event }, error) {
			return curator.Charge(c, curator.AcceptanceBit{Target: mean(t), Clip: 1}, count)
		},
		"ratios": func(c *curator.Curator) (interface{ Event() accountant.Event }, error) {
			return curator.Charge(c, curator.NoisyRatio{Target: mean(t), Clip: 1, NoiseMultiplier: 3}, count)
		},
		"gradients": func(c *curator.Curator) (interface{ Event() accountant.Event }, error) {
			return curator.Charge(c, curator.NoisyGradient{Target: mean(t), Clip: 1, NoiseMultiplier: 3}, count)
		},
		"signs": func(c *curator.Curator) (interface{ Event() accountant.Event }, error) {
			return curator.Charge(c, curator.GradientSigns{Target: mean(t), Clip: 1, Scale: 0.1}, count)
		},
		"thinned bits": func(c *curator.Curator) (interface{ Event() accountant.Event }, error) {
			return curator.Charge(c, curator.ThinnedBit{Target: mean(t), Clip: 0.01, Rate: 0.5}, count)
		},
	} {
		t.Run(name, func(t *testing.T) {
			budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1e9, Delta: 1e-6,
				Adjacency: accountant.Substitute})
			if err != nil {
				t.Fatal(err)
			}
			c, err := curator.Seal(records, budget, curator.InsecureSeed(1))
			if err != nil {
				t.Fatal(err)
			}
			g, err := grant(c)
			if err != nil {
				t.Fatal(err)
			}
			want, err := g.Event().Times(count)
			if err != nil {
				t.Fatal(err)
			}
			if got := budget.Events(); !got.Equal(want) {
				t.Errorf("%d releases of %v were charged as %v", count, g.Event(), got)
			}
		})
	}
}

func acceptanceBit(adj accountant.Adjacency, c float64) (accountant.Event, error) {
	return accountant.Bit{Contribution: c}.Event(adj)
}

func isotropicBit(adj accountant.Adjacency, c float64) (accountant.Event, error) {
	return accountant.Bit{Contribution: c, Isotropic: true}.Event(adj)
}

// TestGroupsScaleSensitivities: a person with several rows costs what the same
// noise costs against as many times the sensitivity.
func TestGroupsScaleSensitivities(t *testing.T) {
	const k = 3
	adj := accountant.Substitute
	for name, c := range map[string]struct {
		make     func(accountant.Adjacency, float64) (accountant.Event, error)
		one, all float64
	}{
		"gaussian":          {accountant.Gaussian, 6, 2},
		"discrete gaussian": {accountant.DiscreteGaussian, 6, 2},
		"gdp":               {accountant.GaussianDP, 0.2, 0.6},
		"zcdp":              {accountant.ZCDP, 0.01, 0.09},
		"laplace":           {accountant.Laplace, 6, 2},
		"pure":              {accountant.Pure, 0.1, 0.3},
		"bounded range":     {accountant.BoundedRange, 0.1, 0.3},
		"bit":               {acceptanceBit, 0.1, 0.3},
		"isotropic bit":     {isotropicBit, 0.1, 0.3},
	} {
		one, err := c.make(adj, c.one)
		if err != nil {
			t.Fatal(err)
		}
		want, err := c.make(adj, c.all)
		if err != nil {
			t.Fatal(err)
		}
		got, err := one.Group(k)
		if err != nil {
			t.Fatal(err)
		}
		for _, order := range []float64{1.5, 3} {
			if g, w := got.RDP(order), want.RDP(order); math.Abs(g-w) > 1e-12*w {
				t.Errorf("%s: %d rows cost %v at order %v, want %v", name, k, g, order, w)
			}
		}
	}
}

// TestReplacingIsRemovingAndAdding: under substitution noise counts against
// twice the sensitivity of add/remove, and a bit keeps its contribution, which is
// stated for one record.
func TestReplacingIsRemovingAndAdding(t *testing.T) {
	for name, c := range map[string]struct {
		make         func(accountant.Adjacency, float64) (accountant.Event, error)
		add, replace float64
	}{
		"gaussian":      {accountant.Gaussian, 6, 3},
		"bit":           {acceptanceBit, 0.1, 0.1},
		"isotropic bit": {isotropicBit, 0.1, 0.1},
	} {
		one, err := c.make(accountant.AddRemove, c.add)
		if err != nil {
			t.Fatal(err)
		}
		want, err := c.make(accountant.Substitute, c.replace)
		if err != nil {
			t.Fatal(err)
		}
		got, err := one.Substitution()
		if err != nil {
			t.Fatal(err)
		}
		if g, w := got.RDP(3), want.RDP(3); math.Abs(g-w) > 1e-12*w {
			t.Errorf("%s: replacing a record costs %v, want %v", name, g, w)
		}
	}
}

// TestFailuresAreSampled: on a batch, what may fail with probability δ fails
// with probability qδ, which no ε buys off.
func TestFailuresAreSampled(t *testing.T) {
	release, err := accountant.Approximate(accountant.Substitute, 0.5, 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	sampled, err := release.SubsetSampled(100, 20)
	if err != nil {
		t.Fatal(err)
	}
	got, err := sampled.Delta(5)
	if err != nil || math.Abs(got.Delta-2e-4) > 1e-9 {
		t.Errorf("δ is %v at ε = 5, want 2e-4 (error %v)", got.Delta, err)
	}
}
