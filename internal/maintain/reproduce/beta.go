package main

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/dpmcmc/dpmcmc/internal/plot"
)

func init() {
	for _, model := range []string{"linear", "logistic"} {
		for _, dirty := range []bool{false, true} {
			c := betaCell{model: model, dirty: dirty}
			figures[c.figure()] = figure{
				"does the β divergence make private MCMC better? " + model + " regression, " + c.condition() + ": docs/beta.md",
				func(ctx context.Context, s settings) error { return betaFigure(ctx, s, c) },
			}
		}
	}
}

var betaEpsilons = []float64{0.3, 1, 3}

const (
	betaN     = 4000
	betaDelta = 1e-6
	betaTests = 4000 // clean records that predictions are scored on
	betaSteps = 500
)

// betaArms are what is compared; all spend the same (ε, δ) on the same records.
// Under the log loss a record's gradient, times τ, is clipped at two public lengths: the
// longer one is the bound of logistic regression with rows of length 2, the other
// that of β ≈ 1.4. The β losses are clipped where their certificates are, which no
// record notices; for linear regression, whose certificates allow for the least σ,
// one of them also at length 1.
var betaArms = []betaArm{
	{name: "log loss, clip 2", beta: 1, tau: 1, clip: 2},
	{name: "log loss, clip 1", beta: 1, tau: 1, clip: 1},
	{name: "log loss, clip 2, τ = 0.3", beta: 1, tau: 0.3, clip: 0.3 * 2},
	{name: "β = 1.1", beta: 1.1, tau: 1},
	{name: "β = 1.33", beta: 1.33, tau: 1},
	{name: "β = 1.5", beta: 1.5, tau: 1},
	{name: "β = 2", beta: 2, tau: 1},
	{name: "β = 1.5, clip 1", beta: 1.5, tau: 1, clip: 1, linear: true},
}

// betaCell is one setting, with the scores of its repeats.
type betaCell struct {
	model string
	dirty bool
	eps   float64
	arm   betaArm
	runs  []betaScore
}

// betaFigure runs all cells of a model and a condition one after the other.
func betaFigure(ctx context.Context, s settings, of betaCell) error {
	var cells []*betaCell
	goals := map[betaGoal]*betaReference{}
	for _, arm := range betaArms {
		if arm.linear && of.model != "linear" {
			continue // the certificate is shorter there
		}
		for _, eps := range betaEpsilons {
			c := &betaCell{model: of.model, dirty: of.dirty, eps: eps, arm: arm}
			if err := s.betaFill(ctx, c, goals); err != nil {
				return fmt.Errorf("ε = %v, %s: %w", c.eps, c.arm.name, err)
			}
			cells = append(cells, c)
			// a long run: show that it goes on
			fmt.Fprintf(s.log, "ε = %v, %s: %.3f\n", c.eps, c.arm.name,
				median(c.of(func(b betaScore) float64 { return b.meanError })))
		}
	}
	return s.betaReport(of, cells)
}

// betaFill makes a cell's repeats; streams depend on names, not on order. What has no noise
// of privacy is computed once for all ε and clips.
func (s settings) betaFill(ctx context.Context, c *betaCell, goals map[betaGoal]*betaReference) error {
	c.runs = make([]betaScore, s.count(20))
	var lock sync.Mutex
	return eachRepeat(len(c.runs), func(r int) (err error) {
		goal := betaGoal{c.arm.beta, c.arm.tau, r}
		lock.Lock()
		g := goals[goal]
		lock.Unlock()
		if g == nil {
			if g, err = s.betaReference(c, r); err != nil {
				return err
			}
			lock.Lock()
			goals[goal] = g
			lock.Unlock()
		}
		c.runs[r], err = s.betaRun(ctx, c, g, r)
		return err
	})
}

// of lists one score of a cell's repeats.
func (c *betaCell) of(score func(betaScore) float64) []float64 {
	all := make([]float64, len(c.runs))
	for i, r := range c.runs {
		all[i] = score(r)
	}
	return all
}

// figure names the cell's figure.
func (c *betaCell) figure() string {
	if c.dirty {
		return "beta-" + c.model + "-dirty"
	}
	return "beta-" + c.model
}

func (c *betaCell) condition() string {
	switch {
	case !c.dirty:
		return "clean"
	case c.model == "logistic":
		return "labels flipped"
	}
	return "outliers"
}

// betaReport writes a figure's CSV and SVG; cells are sorted by arm.
func (s settings) betaReport(of betaCell, cells []*betaCell) error {
	score := "AUC"
	if of.model == "linear" {
		score = "RMSE"
	}
	tab := newTable("ε", "loss", "error of the mean", "quartiles", "without privacy", "sd ratio", "coverage of 90%", score,
		score+" without privacy", "clip", "step")
	title := of.model + " regression, " + of.condition()
	distances := plot.Panel{Title: title + ": medians, quartiles", XLabel: "ε",
		YLabel: "distance of the mean to the truth", LogX: true, LogY: true}
	cover := plot.Panel{Title: title, XLabel: "ε", YLabel: "coverage of 90% intervals", LogX: true}
	for i := 0; i < len(cells); i += len(betaEpsilons) {
		k := i / len(betaEpsilons)
		off, held := curve{name: cells[i].arm.name}, plot.Line{Style: k + 1}
		for _, c := range cells[i : i+len(betaEpsilons)] {
			all, covered := c.betaRow(tab)
			x := c.eps * math.Pow(1.04, float64(k)-3.5) // set apart a little, so that bars can be seen
			off.add(x, all)
			held.X, held.Y = append(held.X, x), append(held.Y, covered)
		}
		line := off.line()
		line.Style = k + 1
		distances.Lines, cover.Lines = append(distances.Lines, line), append(cover.Lines, held)
	}
	cover.Lines = append(cover.Lines, plot.Line{Name: "nominal", X: []float64{0.25, 3.6}, Y: []float64{0.9, 0.9},
		Dashed: true})
	return s.save(of.figure(), tab, 2, distances, cover)
}

// betaRow adds a cell's row and returns the errors of its means and the coverage.
func (c *betaCell) betaRow(tab *table) (off []float64, covered float64) {
	off = c.of(func(b betaScore) float64 { return b.meanError })
	covered, _ = meanAndError(c.of(func(b betaScore) float64 { return b.coverage }))
	predict, _ := meanAndError(c.of(func(b betaScore) float64 { return b.prediction }))
	best, _ := meanAndError(c.of(func(b betaScore) float64 { return b.freePrediction }))
	tab.add(c.eps, c.arm.name, median(off), fmt.Sprintf("%.3g–%.3g", quantile(off, 0.25), quantile(off, 0.75)),
		median(c.of(func(b betaScore) float64 { return b.freeError })),
		median(c.of(func(b betaScore) float64 { return b.sdRatio })),
		fmt.Sprintf("%.2f", covered), predict, best, c.runs[0].clip, c.runs[0].step)
	return off, covered
}
