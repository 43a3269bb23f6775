package forecasts

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/tune"
)

// Order is what is to be bought: a run on a table of a shape.
type Order struct {
	Settings       chains.Settings // those that are given
	Epsilon, Delta float64
	Adjacency      accountant.Adjacency
	Shape          *data.Shape
	Build          func(*data.Shape) (*models.Model, error)
	Options        models.Options // of the model, those that are given
	// Want is what the run is to be worth, for [tune.ParseWant]; empty for what Epsilon buys.
	// It is solved for Epsilon, or with Records for the number of records.
	Want    string
	Records bool
	Schema  string // file of the shape, for the command; empty for none
}

// config is what a forecast is asked for.
func (o Order) config(m *models.Model) tune.Config {
	return tune.Config{Models: []*models.Model{m}, Adjacency: o.Adjacency, Delta: o.Delta, Work: Work, Seed: 1,
		Repeats: Tables}
}

// Buy chooses as sample does, and predicts what the run is worth, and at half and twice the
// budget. Errors: a want that cannot be met or read, a model that does not fit the shape, a
// budget that no setting meets.
func Buy(ctx context.Context, o Order) (*Purchase, error) {
	m, err := o.Build(o.Shape)
	if err != nil {
		return nil, err
	}
	if o.Want != "" {
		if m, err = o.solve(ctx, m); err != nil {
			return nil, err
		}
	}
	if o.Settings, err = Tempered(ctx, o.config(m), o.Settings, o.Epsilon); err != nil {
		return nil, err
	}
	predicted, err := Foresee(ctx, o.config(m), o.Settings, o.Epsilon, o.Epsilon/2, 2*o.Epsilon)
	if err != nil {
		return nil, err
	}
	this := predicted[0]
	if !this.Met { // for the reason why
		_, err := chains.Choose(o.Settings, chains.ProblemOf(m, chains.Facts(m.Shape, o.Adjacency), o.Epsilon, o.Delta))
		return nil, err
	}
	p := &Purchase{
		Kernel: this.Settings.Kernel, Settings: this.Settings, Want: o.Want, Epsilon: this.Cost.Epsilon, Delta: o.Delta,
		Adjacency: o.Adjacency.String(), Theorem: this.Cost.Theorem, Guarantee: "unconditional",
		Records: int64(m.Shape.Records), Features: m.Shape.Features(), Model: m.Name, Arguments: o.command(m.Name),
	}
	p.Command = strings.Join(p.Arguments, " ")
	for _, f := range predicted {
		p.Predicted = append(p.Predicted, worthOf(f))
	}
	if !this.Posterior() {
		p.Remedies, err = Run{o.config(m), o.Settings, o.Options, o.Epsilon}.Remedies(ctx, this)
	}
	return p, err
}

// solve fills in the ε, or returns the model for the number of records, that buys the want.
func (o *Order) solve(ctx context.Context, m *models.Model) (*models.Model, error) {
	want, err := tune.ParseWant(o.Want)
	if err != nil {
		return nil, fmt.Errorf("--want: %w", err)
	}
	if !o.Records {
		o.Epsilon, _, err = tune.EpsilonFor(ctx, o.config(m), o.Settings, want)
		return m, err
	}
	records, _, err := tune.RecordsFor(ctx, o.config(m), o.Settings, want, o.Epsilon)
	if err != nil {
		return nil, err
	}
	shape := *o.Shape
	shape.Records = int(records)
	return o.Build(&shape)
}

// command is the command that runs the plan, an argument with its value an entry.
func (o Order) command(model string) []string {
	c := []string{"dpmcmc sample", "--data FILE.csv", "--schema " + cmp.Or(o.Schema, "FILE.toml"),
		fmt.Sprintf("--epsilon %v", o.Epsilon), fmt.Sprintf("--delta %v", o.Delta), "--model " + model}
	if o.Adjacency != accountant.Substitute {
		c = append(c, "--adjacency "+o.Adjacency.String())
	}
	for _, v := range o.Settings.Given() {
		if v.Value == true {
			c = append(c, "--"+v.Name)
		} else {
			c = append(c, fmt.Sprintf("--%s %v", v.Name, v.Value))
		}
	}
	return append(c, "--out run/")
}
