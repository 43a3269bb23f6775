package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/tune"
)

// Predictions simulate a table of at most mostSimulated records. A larger one has a
// posterior as much narrower, and its moves cost as much less: the sample size depends
// on ε·√records.
const (
	mostSimulated  = 20_000
	predictionWork = 50_000_000 // looks at simulated records
)

// purchase is what a budget buys, with nothing else said: what sample would run, and
// what its draws are worth.
type purchase struct {
	Kernel    string          `json:"kernel"`
	Settings  chains.Settings `json:"settings"`
	Epsilon   float64         `json:"epsilon"`
	Delta     float64         `json:"delta"`
	Adjacency string          `json:"adjacency"`
	Guarantee string          `json:"guarantee"`
	Records   int64           `json:"records"`
	Features  int             `json:"features"`
	Model     string          `json:"model"`
	Predicted []worth         `json:"predicted"`
	Command   string          `json:"command"`
}

// worth is a predicted effective sample size after warm-up, over parameters the harmonic
// mean and the least; null where the budget meets no setting.
type worth struct {
	Epsilon float64  `json:"epsilon"`
	ESS     *float64 `json:"ess"`
	Least   *float64 `json:"least_ess"`
}

// buys answers plan without --solve.
func (s *planSettings) buys(ctx context.Context, f *pflag.FlagSet, out io.Writer) error {
	if missing := missing(f, "epsilon", "delta"); missing != "" {
		return fmt.Errorf("%s: privacy parameters have no defaults", missing)
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
	adjacency, err := s.parsed()
	if err != nil {
		return err
	}
	p, err := s.purchase(ctx, shape, adjacency)
	if err != nil {
		return s.explained(flagged(err))
	}
	if s.json {
		return printJSON(out, p)
	}
	_, err = io.WriteString(out, p.words())
	return err
}

// purchase chooses as sample does, and predicts.
func (s *planSettings) purchase(ctx context.Context, shape *data.Shape,
	adjacency accountant.Adjacency) (*purchase, error) {
	m, err := s.build(shape)
	if err != nil {
		return nil, err
	}
	plan, err := chains.Choose(s.Settings, chains.ProblemOf(m, chains.Facts(shape, adjacency), s.epsilon, s.delta))
	if err != nil {
		return nil, err
	}
	event, err := plan.Cost()
	if err != nil {
		return nil, err
	}
	g, err := event.Epsilon(s.delta)
	if err != nil {
		return nil, err
	}
	p := &purchase{
		Kernel: plan.Settings.Kernel, Settings: plan.Settings, Epsilon: g.Epsilon, Delta: s.delta,
		Adjacency: g.Adjacency.String(),
		Guarantee: "unconditional", Records: int64(shape.Records), Features: shape.Features(), Model: m.Name,
		Command: s.command(m.Name),
	}
	smaller := *shape
	smaller.Records = min(shape.Records, mostSimulated)
	grown := math.Sqrt(float64(shape.Records) / float64(smaller.Records))
	if m, err = s.build(&smaller); err != nil {
		return nil, err
	}
	asked := s.Settings
	asked.Kernel, asked.Temperature = plan.Settings.Kernel, plan.Settings.Temperature
	factors := []float64{1, 0.5, 2}
	candidates, err := tune.Predict(ctx, tune.Config{
		Models: []*models.Model{m}, Adjacency: adjacency, Delta: s.delta, CoefficientSD: 1, Work: predictionWork, Seed: 1,
	}, asked, s.epsilon*grown, factors[1]*s.epsilon*grown, factors[2]*s.epsilon*grown)
	if err != nil {
		return nil, err
	}
	for i, c := range candidates {
		w := worth{Epsilon: factors[i] * s.epsilon}
		if c.Parameters != nil {
			w.ESS, w.Least = figure(c.ESS()), figure(leastESS(c))
		}
		p.Predicted = append(p.Predicted, w)
	}
	return p, nil
}

// command is the command that runs the plan.
func (s *planSettings) command(model string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "dpmcmc sample --data FILE.csv --schema FILE.toml --epsilon %v --delta %v --model %s", s.epsilon,
		s.delta, model)
	if s.adjacency != "substitute" {
		fmt.Fprintf(&b, " --adjacency %s", s.adjacency)
	}
	for _, v := range s.Settings.Given() {
		if v.Value == true {
			fmt.Fprintf(&b, " --%s", v.Name)
		} else {
			fmt.Fprintf(&b, " --%s %v", v.Name, v.Value)
		}
	}
	return b.String() + " --out run/"
}

// words is the answer as a data steward reads it.
func (p *purchase) words() string {
	var b strings.Builder
	this := p.Predicted[0]
	headline := "Enough to use: the chain explores its posterior."
	if this.Least == nil || *this.Least < chains.LeastESS {
		headline = "Not enough: the chain would not explore its posterior."
	}
	fmt.Fprintf(&b, "%s\n\nε = %s at δ = %s, unconditional (%s)\n", headline, roundedUp(p.Epsilon), roundedUp(p.Delta),
		p.Adjacency)
	fmt.Fprintf(&b, "  %d records, %d columns, model %s\n  kernel %s\n", p.Records, p.Features, p.Model, p.Kernel)
	for _, v := range p.Settings.Given() {
		if v.Name != "kernel" {
			text := fmt.Sprint(v.Value)
			if x, ok := v.Value.(float64); ok {
				text = short(x)
			}
			fmt.Fprintf(&b, "  %s %s\n", v.Name, text)
		}
	}
	if t := p.Settings.Temperature; t < 1 {
		fmt.Fprintf(&b, "  intervals %.1f times as wide as at temperature 1\n", 1/math.Sqrt(t))
	}
	fmt.Fprintf(&b, "\nPredicted effective sample size after warm-up, on simulated data\n  ε         mean over "+
		"parameters  least\n")
	for _, w := range p.Predicted {
		ess, least := "–", "–"
		if w.ESS != nil && w.Least != nil {
			ess, least = short3(*w.ESS), short3(*w.Least)
		}
		fmt.Fprintf(&b, "  %-8s  %-20s  %s\n", short3(w.Epsilon), ess, least)
	}
	fmt.Fprintf(&b, "\nA usable summary needs %d.", chains.LeastESS)
	if k, err := chains.Describe(p.Kernel); err == nil && !k.Anchored {
		fmt.Fprintf(&b, " Half the temperature gives about twice the sample size.")
	}
	fmt.Fprintf(&b, "\nNo record was looked at, so this cost no privacy.\n\n%s\n", p.Command)
	return b.String()
}
