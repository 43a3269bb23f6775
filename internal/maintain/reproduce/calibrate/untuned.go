package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/anchors"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/targets"
)

// shape is a kind of table that no default was tuned to: what its schema says, and how
// its records' cells are drawn.
type shape struct {
	records  int
	features int
	column   func(j int) data.Column
	row      func(cells []float64, rng *rand.Rand)
	effect   float64 // of a feature's standard deviation on the linear predictor, typically
	offset   float64 // of the linear predictor
}

// shapes are the kinds of table for -untuned.
var shapes = map[string]shape{
	"plain":     {2000, 5, number(-3, 3), normals, 0.7, 0},
	"small":     {150, 3, number(-3, 3), normals, 0.7, 0},
	"heavy":     {2000, 5, number(-40, 40), heavyTails, 0.7, 0},
	"scaled":    {2000, 5, scaledNumber, heavyTails, 0.7, 0},
	"rare":      {2000, 5, number(0, 1), rareOnes, 0.5, -0.5},
	"collinear": {2000, 5, number(-3, 3), nearlyOne, 0.7, 0},
	"imbalance": {5000, 4, number(-3, 3), normals, 0.7, -4},
	"wide":      {2000, 4, number(-30, 30), normals, 0.7, 0},
	"uncentred": {2000, 4, number(0, 100), uncentred, 0.7, 0},
	"levels":    {5000, 6, fiveLevels, levels, 0.5, 0},
	"separable": {2000, 3, number(-3, 3), normals, 100, 0},
}

func number(lower, upper float64) func(int) data.Column {
	return func(int) data.Column { return data.Column{Kind: data.Number, Lower: lower, Upper: upper} }
}

func scaledNumber(int) data.Column {
	return data.Column{Kind: data.Number, Lower: -40, Upper: 40, Scale: 2}
}

func fiveLevels(int) data.Column {
	return data.Column{Kind: data.Category, Levels: []string{"0", "1", "2", "3", "4"}}
}

func normals(cells []float64, rng *rand.Rand) {
	for j := range cells {
		cells[j] = rng.NormFloat64()
	}
}

// heavyTails are Student-t with 2 degrees of freedom, together.
func heavyTails(cells []float64, rng *rand.Rand) {
	by := 1 / math.Sqrt(rng.ExpFloat64())
	for j := range cells {
		cells[j] = by * rng.NormFloat64()
	}
}

// rareOnes are indicators of one record in twenty, after a first column of numbers.
func rareOnes(cells []float64, rng *rand.Rand) {
	cells[0] = rng.Float64()
	for j := 1; j < len(cells); j++ {
		cells[j] = 0
		if rng.IntN(20) == 0 {
			cells[j] = 1
		}
	}
}

func nearlyOne(cells []float64, rng *rand.Rand) {
	common := rng.NormFloat64()
	for j := range cells {
		cells[j] = 0.95*common + math.Sqrt(1-0.95*0.95)*rng.NormFloat64()
	}
}

func uncentred(cells []float64, rng *rand.Rand) {
	for j := range cells {
		cells[j] = 80 + 5*rng.NormFloat64()
	}
}

// levels have shares of 8 to 1 of each other.
func levels(cells []float64, rng *rand.Rand) {
	for j := range cells {
		cells[j] = math.Floor(5 * math.Pow(rng.Float64(), 2))
	}
}

// draw makes a table of the shape with responses of the family, and its true coefficients.
func (s shape) draw(family string, rng *rand.Rand) (*data.Table, []float64, error) {
	schema := data.Schema{Confirmed: true, Records: s.records}
	var csv strings.Builder
	for j := range s.features {
		c := s.column(j)
		c.Name, c.Role = fmt.Sprintf("x%d", j+1), data.Feature
		schema.Columns = append(schema.Columns, c)
		csv.WriteString(c.Name + ",")
	}
	target := data.Column{Name: "y", Role: data.Target, Kind: data.Binary, Labels: []string{"0", "1"}}
	if family == "softmax" {
		target = data.Column{Name: "y", Role: data.Target, Kind: data.Category, Levels: []string{"0", "1", "2"}}
	}
	if counts(family) {
		target = data.Column{Name: "y", Role: data.Target, Kind: data.Number, Upper: mostCount, Center: 0, Scale: 1}
	}
	schema.Columns = append(schema.Columns, target)
	csv.WriteString("y\n")
	cells := make([]float64, s.features)
	for range s.records {
		s.row(cells, rng)
		for _, v := range cells {
			csv.WriteString(strconv.FormatFloat(v, 'g', -1, 64) + ",")
		}
		csv.WriteString("0\n")
	}
	t, err := data.Read(context.Background(), strings.NewReader(csv.String()), "simulated", &schema)
	if err != nil {
		return nil, nil, err
	}
	truth := s.truth(t, rng)
	if family == "softmax" {
		return t, ofClasses(t, slices.Concat(truth, s.truth(t, rng), s.truth(t, rng)), rng), nil
	}
	for i := range t.Y {
		t.Y[i] = respond(family, floats.Dot(t.Row(i), truth), rng)
	}
	return t, truth, nil
}

// ofClasses draws a table's classes, and returns the coefficients less their mean over classes.
func ofClasses(t *data.Table, truth []float64, rng *rand.Rand) []float64 {
	d := t.Features()
	for i := range t.Y {
		best := math.Inf(-1)
		for k := 0; k*d < len(truth); k++ { // the highest with errors of Gumbel's law is the class
			if v := floats.Dot(t.Row(i), truth[k*d:(k+1)*d]) - math.Log(rng.ExpFloat64()); v > best {
				best, t.Y[i] = v, float64(k)
			}
		}
	}
	out := slices.Clone(truth)
	for j := range out {
		for k := j % d; k < len(truth); k += d {
			out[j] -= truth[k] * float64(d) / float64(len(truth))
		}
	}
	return out
}

// truth draws coefficients of a typical effect a standard deviation, and an intercept that
// centres the linear predictor on the offset.
func (s shape) truth(t *data.Table, rng *rand.Rand) []float64 {
	d := t.Features()
	n := float64(t.Records)
	truth, mean := make([]float64, d), make([]float64, d)
	for j := range d {
		square := 0.0
		for i := range t.Records {
			mean[j] += t.Row(i)[j] / n
			square += t.Row(i)[j] * t.Row(i)[j] / n
		}
		if sd := math.Sqrt(square - mean[j]*mean[j]); j > 0 {
			truth[j] = s.effect * rng.NormFloat64() / max(sd, 1e-3)
		}
	}
	centre := s.offset
	for j := 1; j < d; j++ {
		centre -= truth[j] * mean[j]
	}
	truth[0] = centre / mean[0]
	return truth
}

const mostCount = 20

func counts(family string) bool { return family == "poisson" || family == "negative-binomial" }

func respond(family string, eta float64, rng *rand.Rand) float64 {
	switch family {
	case "poisson", "negative-binomial":
		mean := math.Exp(min(eta, 30))
		if family == "negative-binomial" { // of dispersion 1
			mean *= rng.ExpFloat64()
		}
		count := 0.0
		for at := rng.ExpFloat64(); at < mean && count < mostCount; at += rng.ExpFloat64() {
			count++
		}
		return count
	case "cauchit": // a link that no model has
		if eta+math.Tan(math.Pi*(rng.Float64()-0.5)) > 0 {
			return 1
		}
		return 0
	case "probit":
		if eta+rng.NormFloat64() > 0 {
			return 1
		}
		return 0
	case "cloglog":
		if rng.ExpFloat64() < math.Exp(eta) {
			return 1
		}
		return 0
	case "loglog":
		if rng.ExpFloat64() < math.Exp(-eta) {
			return 0
		}
		return 1
	}
	if rng.Float64() < 1/(1+math.Exp(-eta)) {
		return 1
	}
	return 0
}

// heard is what the intervals of the releases with one verdict held.
type heard struct {
	releases    int
	enough      int     // of them, with 0.85 or more of the means held
	mean, truth float64 // sums of the parts held; truth is NaN where it is not known
	least       float64 // part of the mean held in a release
	ratio       float64 // sum of mean logarithms of standard deviations over those without privacy
}

// link is that of the responses of kinds that are held out, else the family's.
var link string

// untunedTables measures default runs on tables of a kind, or on a public table, against
// their verdicts: how often 90% intervals hold the posterior mean without privacy, and the
// truth.
func untunedTables(name string) error {
	if name == "held-out" {
		return heldOut()
	}
	_, err := untunedRuns(name)
	return err
}

// untunedRuns prints the same, and returns it by verdict.
func untunedRuns(name string) (map[string]*heard, error) {
	byVerdict := map[string]*heard{}
	known := map[bool]*fit{} // of a public table, which is the same each time
	for i := range *sets {
		rng := rand.New(rand.NewPCG(*seed, uint64(i)))
		table, truth, err := untunedTable(name, rng)
		if err != nil {
			return nil, err
		}
		options := models.Options{Prior: *prior, PriorSD: *priorSD, Dispersion: dispersion()}
		model, err := models.New(*family, &table.Shape, options)
		if err != nil {
			return nil, err
		}
		table = model.Weigh(table)
		result, err := byDefault(table, model, uint64(i))
		if err != nil {
			return nil, err
		}
		fitted := result.Certificate.Settings.AnchorFit == anchors.Fitted.String()
		exact := known[fitted]
		if exact == nil || truth != nil {
			if exact, err = withoutPrivacy(table, model, fitted, uint64(i)); err != nil {
				return nil, err
			}
			known[fitted] = exact
		}
		// Few draws are not held against a run: what is measured are the doubts.
		headline := "Usable"
		if doubt := chains.Gravest(result.Certificate.Doubts); doubt != nil {
			headline = doubt.Headline
		}
		h := byVerdict[headline]
		if h == nil {
			h = &heard{least: 1}
			byVerdict[headline] = h
		}
		h.add(result, exact.means, exact.sds, truth)
	}
	for headline, h := range byVerdict {
		n := float64(h.releases)
		fmt.Printf("%s %s %s ε %v: %3d of %d, hold the mean %.3f (least %.2f), the truth %.3f, sd ratio %.2f: %s\n",
			*family, link, name, *epsilon, h.releases, *sets, h.mean/n, h.least, h.truth/n, math.Exp(h.ratio/n), headline)
	}
	return byVerdict, nil
}

// add adds a release: the part of the means, and of the truth, that its intervals hold.
func (h *heard) add(result *chains.Result, means, sds, truth []float64) {
	if truth == nil {
		truth = slices.Repeat([]float64{math.NaN()}, len(means))
		h.truth = math.NaN()
	}
	held := 0.0
	for j := range means {
		sum := diag.Summarize(column(result.Draws, j))
		in := func(v float64) float64 {
			if v >= sum.Q5 && v <= sum.Q95 {
				return 1 / float64(len(means))
			}
			return 0
		}
		held += in(means[j])
		h.truth += in(truth[j])
		h.ratio += math.Log(sum.SD/sds[j]) / float64(len(means))
	}
	h.releases++
	if held >= 0.85-1e-9 {
		h.enough++
	}
	h.mean, h.least = h.mean+held, min(h.least, held)
}

func dispersion() float64 {
	if *family == "negative-binomial" {
		return 1
	}
	return 0
}

func untunedTable(name string, rng *rand.Rand) (*data.Table, []float64, error) {
	for _, kinds := range []map[string]shape{shapes, heldOutShapes} {
		if s, ok := kinds[name]; ok {
			return s.draw(cmp.Or(link, *family), rng)
		}
	}
	t, err := load(name, *radius)
	return t, nil, err
}

// fit is a posterior's means and standard deviations.
type fit struct{ means, sds []float64 }

// withoutPrivacy is that of the records.
func withoutPrivacy(t *data.Table, m *models.Model, fitted bool, seed uint64) (*fit, error) {
	rows := targets.Rows{X: t.X, Y: t.Y, P: t.Features()}
	drawn, err := methods.SamplePosterior(context.Background(), m, rows, fitted,
		nuts.Config{Chains: 2, Warmup: 250, Draws: 250, Metric: nuts.Dense, Seed: seed, Workers: 1})
	if err != nil {
		return nil, err
	}
	var all [][][]float64
	for _, c := range drawn {
		for _, draw := range c.Draws {
			m.Output(draw, draw)
		}
		all = append(all, c.Draws)
	}
	out := &fit{}
	for j := range m.Target.Dim() {
		s := diag.Summarize(column(all, j))
		out.means, out.sds = append(out.means, s.Mean), append(out.sds, s.SD)
	}
	return out, nil
}

// byDefault is a run of all defaults, but for the number of draws.
func byDefault(t *data.Table, m *models.Model, seed uint64) (*chains.Result, error) {
	run, err := session(t, m, chains.Settings{Iterations: int64(*draws), ESS: *least}, seed)
	if err != nil {
		return nil, err
	}
	return run.Run(context.Background(), m, chains.Options{})
}

// session is one of a run on a public seed, which is not private.
func session(t *data.Table, m *models.Model, s chains.Settings, seed uint64) (*chains.Session, error) {
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: *epsilon, Delta: delta,
		Adjacency: accountant.Substitute})
	if err != nil {
		return nil, err
	}
	records, err := chains.Seal(m, t, budget, curator.InsecureSeed(seed))
	if err != nil {
		return nil, err
	}
	plan, err := chains.Choose(s, chains.ProblemOn(m, records))
	if err != nil {
		return nil, err
	}
	return plan.Open(records, seed)
}

func column(draws [][][]float64, j int) [][]float64 {
	out := make([][]float64, len(draws))
	for c, chain := range draws {
		for _, draw := range chain {
			out[c] = append(out[c], draw[j])
		}
	}
	return out
}
