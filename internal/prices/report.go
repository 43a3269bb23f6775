package prices

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/plot"
	"github.com/dpmcmc/dpmcmc/internal/runs"
)

// guaranteeReport is an ε for programs, with everything that belongs to it; infinite figures
// are null.
type guaranteeReport struct {
	Epsilon   *float64 `json:"epsilon"`
	Delta     *float64 `json:"delta"`
	Adjacency string   `json:"adjacency"`
	Guarantee string   `json:"guarantee"`
	Method    string   `json:"method"`
	Theorem   string   `json:"theorem"`
	Order     *float64 `json:"order"`
}

func reported(g accountant.Guarantee) guaranteeReport {
	return guaranteeReport{runs.Figure(g.Epsilon), runs.Figure(g.Delta), g.Adjacency.String(), "unconditional",
		g.Method, g.Theorem, runs.Figure(g.Order)}
}

// planReport is the plan for programs; infinite figures are null.
type planReport struct {
	Solve string   `json:"solve"`
	Value *float64 `json:"value"`
	AtEnd bool     `json:"whole_range_fits"`
	guaranteeReport
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

// Report is the one object of --json.
func (a *Answer) Report() any {
	s := a.asked
	event, err := json.Marshal(a.event)
	if err != nil {
		panic("dpmcmc: a priced event must marshal: " + err.Error())
	}
	r := planReport{
		Solve: s.Solve, Value: runs.Figure(a.value), AtEnd: a.atEnd,
		guaranteeReport: reported(a.guarantee),
		Kernel:          s.Kernel, Iterations: a.iterations(), Chains: a.plan.Settings.Chains,
		Settings: a.plan.Settings, RowsPerPerson: s.RowsPerPerson,
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

// Words is the plan as a data steward reads it.
func (a *Answer) Words() string {
	var b strings.Builder
	s := a.asked
	fmt.Fprintf(&b, "%s = %s\n", s.Solve, valueText(a.value))
	if a.atEnd {
		fmt.Fprintf(&b, "  The budget covers every value that is looked at; this is the dearest.\n")
	}
	fmt.Fprintf(&b, "\n%s", guaranteeWords(a.guarantee))
	fmt.Fprintf(&b, "  Run: %d steps of %d chain(s), %s, %d records, at most %d of one person\n",
		a.iterations(), a.plan.Settings.Chains, a.batchName(a.plan.Settings), s.Records, s.RowsPerPerson)
	for _, m := range a.event.Mechanisms() {
		fmt.Fprintf(&b, "  Released: %d × %s\n", m.Count, describe(m))
	}
	for _, r := range chains.Remarks(a.guarantee.Epsilon, a.guarantee.Delta, s.Records) {
		fmt.Fprintf(&b, "  %s\n", r)
	}
	if w := a.worst; w != nil {
		fmt.Fprintf(&b, "\nCost of a step at order %s\n", Short(w.Order))
		fmt.Fprintf(&b, "  averaged over the move  %s  (charged; the same in every dimension)\n", RoundedUp(w.Averaged))
		fmt.Fprintf(&b, "  its worst direction     %s  (%s times as much; moves of length step·√%d)\n", RoundedUp(w.Worst),
			Short3(w.Ratio), w.Dimension)
	}
	a.tabulate(&b)
	return b.String()
}

// tabulate prints ε against iterations at the batch sizes.
func (a *Answer) tabulate(b *strings.Builder) {
	if len(a.lengths) == 0 {
		return
	}
	fmt.Fprintf(b, "\nε at δ = %s for other lengths of the run\n", RoundedUp(a.guarantee.Delta))
	table := tabwriter.NewWriter(b, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "iterations\t")
	for _, c := range a.lengths {
		fmt.Fprintf(table, "%s\t", c.Name)
	}
	fmt.Fprintln(table)
	for i, n := range a.counts {
		fmt.Fprintf(table, "%d\t", n)
		for _, c := range a.lengths {
			fmt.Fprintf(table, "%s\t", Short3(c.Y[i]))
		}
		fmt.Fprintln(table)
	}
	table.Flush()
}

// Panels are its charts.
func (a *Answer) Panels() []plot.Panel {
	s, g := a.asked, a.guarantee
	lengths := plot.Panel{
		Title:  fmt.Sprintf("ε against iterations, δ = %s, %v", RoundedUp(g.Delta), g.Adjacency),
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
	if s.Epsilon > 0 {
		for i, p := range panels {
			if len(p.Lines) == 0 {
				continue
			}
			x := p.Lines[0].X
			panels[i].Lines = append(p.Lines, plot.Line{
				Name: "budget", X: []float64{x[0], x[len(x)-1]}, Y: []float64{s.Epsilon, s.Epsilon}, Dashed: true,
			})
		}
	}
	return panels
}
