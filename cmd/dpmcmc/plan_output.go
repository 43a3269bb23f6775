package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/plot"
	"github.com/dpmcmc/dpmcmc/internal/runs"
	"github.com/dpmcmc/dpmcmc/planning"
)

// explore tabulates what lies around the plan.
func (a *planAnswer) explore() error {
	if err := a.compareWorst(); err != nil {
		return err
	}
	asked := a.iterations()
	if asked < 1 {
		return nil
	}
	for factor := 1.0 / 16; factor <= 16; factor *= 2 {
		if n := int64(factor * float64(asked)); n >= 1 && n <= mostSteps/a.plan.Settings.Chains {
			a.counts = append(a.counts, n)
		}
	}
	own := a.batchSize(a.plan.Settings)
	choices, err := a.affordable([]int64{own / 100, own / 10, own, own * 10, own * 100, a.asked.public.records})
	if err != nil {
		return err
	}
	for _, alternative := range choices {
		c, err := planning.EpsilonCurve(a.batchName(alternative.Settings), alternative.CostAt, a.counts, a.guarantee.Delta)
		if err != nil {
			return err
		}
		a.lengths = append(a.lengths, c)
	}
	if a.asked.plot == "" {
		return nil
	}
	return a.exploreBatches()
}

// farDearer is how many times a plan's ε another batch size may cost before it,
// and sizes farther off, are of no interest. Their costs are slow to compute.
const farDearer = 20

// affordable are the plans with batches of the given sizes, the answer's own among
// them, from the smallest: out to the first that a theorem does not cover or that is
// far dearer.
func (a *planAnswer) affordable(sizes []int64) ([]*chains.Plan, error) {
	out := []*chains.Plan{a.plan}
	if !a.hasBatches() {
		return out, nil
	}
	own := a.batchSize(a.plan.Settings)
	sizes = slices.DeleteFunc(sizes, func(b int64) bool { return b < 1 || b > a.asked.public.records || b == own })
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	larger, _ := slices.BinarySearch(sizes, own)
	walk := func(i, by int) error {
		for ; i >= 0 && i < len(sizes); i += by {
			alternative, e, err := a.withBatch(sizes[i])
			if err != nil {
				return nil
			}
			g, err := e.Epsilon(a.guarantee.Delta)
			if err != nil || g.Epsilon > farDearer*max(a.guarantee.Epsilon, 0.01) {
				return err
			}
			out = append(out, alternative)
		}
		return nil
	}
	err := walk(larger-1, -1)
	slices.Reverse(out)
	return out, errors.Join(err, walk(larger, 1))
}

// hasBatches reports whether the kernel can work on batches.
func (a *planAnswer) hasBatches() bool {
	k, err := chains.Describe(a.asked.Kernel)
	return err == nil && slices.Contains(k.Own, "batch")
}

// batchSize is the expected number of records in a step.
func (a *planAnswer) batchSize(s chains.Settings) int64 {
	switch {
	case s.FullData || s.Batch == 0 && s.Rate == 0:
		return a.asked.public.records
	case s.Rate != 0:
		return max(1, int64(math.Round(s.Rate*float64(a.asked.public.records))))
	}
	return s.Batch
}

// withBatch is the plan with batches of another size, drawn in the same way, and what
// it costs; the number of records means all of them.
func (a *planAnswer) withBatch(size int64) (*chains.Plan, accountant.Event, error) {
	s := a.asked
	s.Settings = a.plan.Settings
	s.FullData, s.Rate, s.Batch = size == s.public.records, 0, size
	if s.FullData {
		s.Batch, s.FixedBatch = 0, false
	}
	p, err := s.priced()
	if err != nil {
		return nil, accountant.Event{}, err
	}
	e, err := p.CostAt(a.iterations())
	return p, e, err
}

func (a *planAnswer) batchName(s chains.Settings) string {
	if size := a.batchSize(s); size != a.asked.public.records || !s.FullData && a.hasBatches() {
		return fmt.Sprintf("batch %d", size)
	}
	return "full data"
}

// exploreBatches tabulates ε against the batch size, for --plot.
func (a *planAnswer) exploreBatches() error {
	choices, err := a.affordable(planning.Ladder(max(1, a.asked.public.records/100_000), a.asked.public.records, 24))
	if err != nil {
		return err
	}
	for _, alternative := range choices {
		e, err := alternative.CostAt(a.iterations())
		if err != nil {
			return err
		}
		g, err := e.Epsilon(a.guarantee.Delta)
		if err != nil {
			return err
		}
		a.batches.X = append(a.batches.X, float64(a.batchSize(alternative.Settings)))
		a.batches.Y = append(a.batches.Y, g.Epsilon)
	}
	return nil
}

// planReport is the one object of --json; infinite figures are null.
type planReport struct {
	Solve         string          `json:"solve"`
	Value         *float64        `json:"value"`
	AtEnd         bool            `json:"whole_range_fits"`
	Epsilon       *float64        `json:"epsilon"`
	Delta         *float64        `json:"delta"`
	Adjacency     string          `json:"adjacency"`
	Guarantee     string          `json:"guarantee"`
	Method        string          `json:"method"`
	Theorem       string          `json:"theorem"`
	Order         *float64        `json:"order"`
	Kernel        string          `json:"kernel"`
	Iterations    int64           `json:"iterations"`
	Chains        int64           `json:"chains"`
	Settings      chains.Settings `json:"settings"`
	RowsPerPerson int             `json:"rows_per_person"`
	Event         json.RawMessage `json:"event"`
	Alternatives  []lengthRow     `json:"alternatives"`
	WorstCase     *worstCase      `json:"worst_case,omitempty"`
}

// lengthRow is ε at one number of iterations, for every batch size.
type lengthRow struct {
	Iterations int64               `json:"iterations"`
	Epsilon    map[string]*float64 `json:"epsilon"`
}

func (a *planAnswer) report() planReport {
	g, s := a.guarantee, a.asked
	event, err := json.Marshal(a.event)
	if err != nil {
		panic("dpmcmc: a priced event must marshal: " + err.Error())
	}
	r := planReport{
		Solve: s.solve, Value: runs.Figure(a.value), AtEnd: a.atEnd,
		Epsilon: runs.Figure(g.Epsilon), Delta: runs.Figure(g.Delta),
		Adjacency: g.Adjacency.String(), Guarantee: "unconditional", Method: g.Method, Theorem: g.Theorem,
		Order:  runs.Figure(g.Order),
		Kernel: s.Kernel, Iterations: a.iterations(), Chains: a.plan.Settings.Chains,
		Settings: a.plan.Settings, RowsPerPerson: s.public.rowsPerPerson,
		Event: event, WorstCase: a.worst,
	}
	for i, n := range a.counts {
		row := lengthRow{n, make(map[string]*float64)}
		for _, c := range a.lengths {
			row.Epsilon[c.Name] = runs.Figure(c.Y[i])
		}
		r.Alternatives = append(r.Alternatives, row)
	}
	return r
}

// words is the plan as a data steward reads it.
func (a *planAnswer) words() string {
	var b strings.Builder
	s := a.asked
	fmt.Fprintf(&b, "%s = %s\n", s.solve, valueText(a.value))
	if a.atEnd {
		fmt.Fprintf(&b, "  The budget covers every value that is looked at; this is the dearest.\n")
	}
	fmt.Fprintf(&b, "\n%s", guaranteeWords(a.guarantee))
	fmt.Fprintf(&b, "  Run: %d steps of %d chain(s), %s, %d records, at most %d of one person\n",
		a.iterations(), a.plan.Settings.Chains, a.batchName(a.plan.Settings), s.public.records, s.public.rowsPerPerson)
	for _, m := range a.event.Mechanisms() {
		fmt.Fprintf(&b, "  Released: %d × %s\n", m.Count, describe(m))
	}
	for _, r := range chains.Remarks(a.guarantee.Epsilon, a.guarantee.Delta, s.public.records) {
		fmt.Fprintf(&b, "  %s\n", r)
	}
	if w := a.worst; w != nil {
		fmt.Fprintf(&b, "\nCost of a step at order %s\n", short(w.Order))
		fmt.Fprintf(&b, "  averaged over the move  %s  (charged; the same in every dimension)\n", roundedUp(w.Averaged))
		fmt.Fprintf(&b, "  its worst direction     %s  (%s times as much; moves of length step·√%d)\n", roundedUp(w.Worst),
			short3(w.Ratio), w.Dimension)
	}
	a.tabulate(&b)
	return b.String()
}

// valueText writes a solved value: integers whole, others with every digit that
// the budget was checked for.
func valueText(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "∞"
	case v == math.Trunc(v) && math.Abs(v) <= mostSteps:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func short3(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// tabulate prints ε against iterations at the batch sizes.
func (a *planAnswer) tabulate(b *strings.Builder) {
	if len(a.lengths) == 0 {
		return
	}
	fmt.Fprintf(b, "\nε at δ = %s for other lengths of the run\n", roundedUp(a.guarantee.Delta))
	table := tabwriter.NewWriter(b, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "iterations\t")
	for _, c := range a.lengths {
		fmt.Fprintf(table, "%s\t", c.Name)
	}
	fmt.Fprintln(table)
	for i, n := range a.counts {
		fmt.Fprintf(table, "%d\t", n)
		for _, c := range a.lengths {
			fmt.Fprintf(table, "%s\t", short3(c.Y[i]))
		}
		fmt.Fprintln(table)
	}
	table.Flush()
}

// panels are the charts of --plot.
func (a *planAnswer) panels() []plot.Panel {
	s, g := a.asked, a.guarantee
	lengths := plot.Panel{
		Title:  fmt.Sprintf("ε against iterations, δ = %s, %v", roundedUp(g.Delta), g.Adjacency),
		XLabel: "iterations", YLabel: "ε", LogX: true, LogY: true,
		Marks: []plot.Mark{{Name: "this plan", X: float64(a.iterations()), Y: g.Epsilon}},
	}
	for _, c := range a.lengths {
		lengths.Lines = append(lengths.Lines, plot.Line{Name: c.Name, X: c.X, Y: c.Y})
	}
	panels := []plot.Panel{lengths}
	if len(a.batches.X) > 1 {
		panels = append(panels, plot.Panel{
			Title:  fmt.Sprintf("ε against the batch size, %d iterations", a.iterations()),
			XLabel: "records in a batch", YLabel: "ε", LogX: true, LogY: true,
			Lines: []plot.Line{{Name: s.Kernel, X: a.batches.X, Y: a.batches.Y}},
			Marks: []plot.Mark{{Name: "this plan", X: float64(a.batchSize(a.plan.Settings)), Y: g.Epsilon}},
		})
	}
	if s.epsilon > 0 {
		for i, p := range panels {
			if len(p.Lines) == 0 {
				continue
			}
			x := p.Lines[0].X
			panels[i].Lines = append(p.Lines, plot.Line{
				Name: "budget", X: []float64{x[0], x[len(x)-1]}, Y: []float64{s.epsilon, s.epsilon}, Dashed: true,
			})
		}
	}
	return panels
}
