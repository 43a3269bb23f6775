package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/internal/forecasts"
	"github.com/dpmcmc/dpmcmc/internal/setting"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/tune"
)

// buys answers plan without --solve.
func (s *planSettings) buys(ctx context.Context, f *pflag.FlagSet, out io.Writer) error {
	required := []string{"epsilon", "delta"}
	if s.want != "" {
		required = required[1:]
	}
	if missing := missing(f, required...); missing != "" {
		return fmt.Errorf("%s: privacy parameters have no defaults", missing)
	}
	if s.want != "" && s.Temperature == forecasts.AutoTemperature {
		return errors.New("--want and --temperature auto exclude one another; give one")
	}
	if s.want != "" && f.Changed("epsilon") {
		if s.public.schema != "" || f.Changed("records") {
			return errors.New("--want solves for --epsilon or for --records; leave one of them out")
		}
		s.public.records = 1
	}
	if err := s.public.check(f); err != nil {
		return err
	}
	if s.model == "" && s.public.schema == "" {
		s.model = "logistic"
	}
	if !f.Changed("radius") {
		s.public.radius = 1
	}
	shape, err := s.public.shape(s.model)
	if err != nil {
		return err
	}
	p, err := s.purchase(ctx, f, shape)
	if err != nil {
		return s.explained(setting.Flagged(err))
	}
	if s.json {
		return printJSON(out, p)
	}
	return say(out, p.Words())
}

// purchase chooses as sample does, and predicts.
func (s *planSettings) purchase(ctx context.Context, f *pflag.FlagSet, shape *data.Shape) (*forecasts.Purchase, error) {
	adjacency, err := s.parsed()
	if err != nil {
		return nil, err
	}
	m, err := s.build(shape)
	if err != nil {
		return nil, err
	}
	if s.want != "" {
		if m, err = s.solveWant(ctx, f, m, adjacency); err != nil {
			return nil, err
		}
	}
	if s.Settings, err = forecasts.Tempered(ctx, s.foreseeing(m, adjacency), s.Settings, s.epsilon); err != nil {
		return nil, err
	}
	predicted, err := forecasts.Foresee(ctx, s.foreseeing(m, adjacency), s.Settings, s.epsilon, s.epsilon/2, 2*s.epsilon)
	if err != nil {
		return nil, err
	}
	this := predicted[0]
	if !this.Met { // for the reason why
		_, err := chains.Choose(s.Settings, chains.ProblemOf(m, chains.Facts(m.Shape, adjacency), s.epsilon, s.delta))
		return nil, err
	}
	p := &forecasts.Purchase{
		Kernel: this.Settings.Kernel, Settings: this.Settings, Want: s.want, Epsilon: this.Cost.Epsilon, Delta: s.delta,
		Adjacency: adjacency.String(), Theorem: this.Cost.Theorem, Guarantee: "unconditional",
		Records: int64(m.Shape.Records), Features: m.Shape.Features(), Model: m.Name, Arguments: s.command(m.Name),
	}
	p.Command = strings.Join(p.Arguments, " ")
	for _, f := range predicted {
		p.Predicted = append(p.Predicted, forecasts.WorthOf(f))
	}
	return p, nil
}

// foreseeing is what a forecast is asked for.
func (s *planSettings) foreseeing(m *models.Model, adjacency accountant.Adjacency) tune.Config {
	return tune.Config{Models: []*models.Model{m}, Adjacency: adjacency, Delta: s.delta, Work: forecasts.Work, Seed: 1}
}

// solveWant fills in the ε, or returns the model for the number of records, that buys what
// --want asks for.
func (s *planSettings) solveWant(ctx context.Context, f *pflag.FlagSet, m *models.Model,
	adjacency accountant.Adjacency) (*models.Model, error) {
	want, err := tune.ParseWant(s.want)
	if err != nil {
		return nil, fmt.Errorf("--want: %w", err)
	}
	c := s.foreseeing(m, adjacency)
	if !f.Changed("epsilon") {
		s.epsilon, _, err = tune.EpsilonFor(ctx, c, s.Settings, want)
		return m, err
	}
	if s.public.records, _, err = tune.RecordsFor(ctx, c, s.Settings, want, s.epsilon); err != nil {
		return nil, err
	}
	shape, err := s.public.shape(s.model)
	if err != nil {
		return nil, err
	}
	return s.build(shape)
}

// command is the command that runs the plan, an argument with its value an entry.
func (s *planSettings) command(model string) []string {
	schema := s.public.schema
	schema = cmp.Or(schema, "FILE.toml")
	c := []string{"dpmcmc sample", "--data FILE.csv", "--schema " + schema, fmt.Sprintf("--epsilon %v", s.epsilon),
		fmt.Sprintf("--delta %v", s.delta), "--model " + model}
	if s.adjacency != "substitute" {
		c = append(c, "--adjacency "+s.adjacency)
	}
	for _, v := range s.Settings.Given() {
		if v.Value == true {
			c = append(c, "--"+v.Name)
		} else {
			c = append(c, fmt.Sprintf("--%s %v", v.Name, v.Value))
		}
	}
	return append(c, "--out run/")
}
