package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/accountant/pld"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/plot"
	"github.com/dpmcmc/dpmcmc/internal/runs"
	"github.com/dpmcmc/dpmcmc/planning"
)

// costAnswer is what account found out.
type costAnswer struct {
	event        accountant.Event
	askedEpsilon bool // the alternatives are of ε; otherwise of δ
	guarantee    accountant.Guarantee
	lower        *float64    // a lower bound on what was asked, with --pld
	numerical    *pld.Result // nil where there is none
	closed       string      // why there is none
	orders       planning.Curve
}

// defaultOrders are listed unless --orders says otherwise.
var defaultOrders = []float64{1.5, 2, 3, 4, 8, 16, 32, 64, 128, 256}

// addOrders tabulates the Rényi cost, at the default orders and the best one if
// none are given.
func (a *costAnswer) addOrders(orders []float64) {
	if orders == nil {
		orders = slices.Clone(defaultOrders)
		if o := a.guarantee.Order; o > 1 && !math.IsInf(o, 1) {
			orders = append(orders, o)
		}
		slices.Sort(orders)
		orders = slices.Compact(orders)
	}
	a.orders = planning.Curve{X: orders}
	for _, o := range orders {
		a.orders.Y = append(a.orders.Y, a.event.RDP(o))
	}
}

// orderCost is one point of a Rényi curve as JSON.
type orderCost struct {
	Order float64  `json:"order"`
	RDP   *float64 `json:"rdp"`
}

// accountReport is the one object of --json; infinite figures are null.
type accountReport struct {
	Epsilon      *float64            `json:"epsilon"`
	Delta        *float64            `json:"delta"`
	Adjacency    string              `json:"adjacency"`
	Guarantee    string              `json:"guarantee"`
	Method       string              `json:"method"`
	Theorem      string              `json:"theorem"`
	Order        *float64            `json:"order"`
	Orders       []orderCost         `json:"orders"`
	Alternatives map[string]*float64 `json:"alternatives"`
	LowerBound   *float64            `json:"lower_bound,omitempty"`
	NotNumerical string              `json:"not_numerical,omitempty"` // why
}

func (a *costAnswer) report() accountReport {
	g := a.guarantee
	r := accountReport{
		Epsilon: runs.Figure(g.Epsilon), Delta: runs.Figure(g.Delta), Adjacency: g.Adjacency.String(),
		Guarantee: "unconditional", Method: g.Method, Theorem: g.Theorem, Order: runs.Figure(g.Order), LowerBound: a.lower,
		NotNumerical: a.closed,
		Alternatives: make(map[string]*float64, len(g.Alternatives)),
	}
	for name, v := range g.Alternatives {
		r.Alternatives[name] = runs.Figure(v)
	}
	for i, o := range a.orders.X {
		r.Orders = append(r.Orders, orderCost{o, runs.Figure(a.orders.Y[i])})
	}
	return r
}

// words is the answer as a data steward reads it.
func (a *costAnswer) words() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Releases\n")
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, m := range a.event.Mechanisms() {
		fmt.Fprintf(table, "  %d\t× %s\n", m.Count, describe(m))
	}
	table.Flush()
	if len(a.event.Mechanisms()) == 0 {
		fmt.Fprintf(&b, "  none\n")
	}
	fmt.Fprintf(&b, "\n%s", guaranteeWords(a.guarantee))
	if a.closed != "" {
		fmt.Fprintf(&b, "  Not composed numerically: %s.\n", a.closed)
	}
	if a.lower != nil {
		fmt.Fprintf(&b, "  Some pair of adjacent data sets attains at least %s.\n", short(*a.lower))
	}
	for _, r := range chains.Remarks(a.guarantee.Epsilon, 0, 0) {
		fmt.Fprintf(&b, "  %s\n", r)
	}
	asked := "δ"
	if a.askedEpsilon {
		asked = "ε"
	}
	fmt.Fprintf(&b, "\nValid bounds on %s\n", asked)
	for _, name := range slices.Sorted(maps.Keys(a.guarantee.Alternatives)) {
		fmt.Fprintf(&b, "  %-15s %s\n", name, roundedUp(a.guarantee.Alternatives[name]))
	}
	fmt.Fprintf(&b, "\nRényi cost\n")
	table = tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "order\tcost\t\n")
	for i, o := range a.orders.X {
		fmt.Fprintf(table, "%s\t%s\t\n", short(o), roundedUp(a.orders.Y[i]))
	}
	table.Flush()
	return b.String()
}

// guaranteeWords states an ε with everything that belongs to it: δ, adjacency,
// theorem, and what it is conditional on.
func guaranteeWords(g accountant.Guarantee) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ε = %s at δ = %s, unconditional\n", roundedUp(g.Epsilon), roundedUp(g.Delta))
	neighbours := "one record is replaced, and their number is public"
	if g.Adjacency == accountant.AddRemove {
		neighbours = "one record is added or removed"
	}
	fmt.Fprintf(&b, "  Adjacency: %v (%s)\n", g.Adjacency, neighbours)
	fmt.Fprintf(&b, "  Accounting: %s; %s", g.Method, g.Theorem)
	if g.Order > 0 {
		fmt.Fprintf(&b, "; order %s", short(g.Order))
	}
	b.WriteByte('\n')
	return b.String()
}

// describe writes one mechanism, without its count.
func describe(m accountant.Mechanism) string {
	if m.Kind == "sampled" {
		return fmt.Sprintf("%v of %v", m.Sampling, m.Inner)
	}
	var args []string
	for _, name := range slices.Sorted(maps.Keys(m.Params)) {
		args = append(args, name+" "+short(m.Params[name]))
	}
	if len(m.Inner.Mechanisms()) > 0 {
		args = append(args, "of "+m.Inner.String())
	}
	return m.Kind + "(" + strings.Join(args, ", ") + ")"
}

// short writes a number to six digits.
func short(v float64) string {
	if math.IsInf(v, 1) {
		return "∞"
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// roundedUp writes a cost to six digits, rounded up like all privacy arithmetic
// (a part in 10⁹ of slack keeps a cost of 1 from reading 1.00001).
func roundedUp(v float64) string {
	text := short(v)
	near, err := strconv.ParseFloat(text, 64)
	if err != nil || near*(1+1e-9) >= v {
		return text
	}
	return short(near + math.Pow(10, math.Floor(math.Log10(v))-5))
}

// panels are the charts of --plot.
func (a *costAnswer) panels() []plot.Panel {
	g := a.guarantee
	top := 256.0
	if !math.IsInf(g.Order, 1) {
		top = max(top, 4*g.Order)
	}
	var renyi plot.Line
	for _, o := range planning.Geometric(1.0625-1, top, 80) {
		renyi.X, renyi.Y = append(renyi.X, 1+o), append(renyi.Y, a.event.RDP(1+o))
	}
	cost := plot.Panel{
		Title: "Rényi cost", XLabel: "order", YLabel: "ε(order)", LogX: true, LogY: true, Lines: []plot.Line{renyi},
	}
	if g.Order > 1 && !math.IsInf(g.Order, 1) {
		cost.Marks = []plot.Mark{{Name: "best order", X: g.Order, Y: a.event.RDP(g.Order)}}
	}
	return []plot.Panel{cost, a.profilePanel()}
}

// profilePanel is the chart of δ against ε, down to a thousandth of the answer's
// δ.
func (a *costAnswer) profilePanel() plot.Panel {
	g := a.guarantee
	p := plot.Panel{
		Title: "δ against ε, " + g.Adjacency.String(), XLabel: "ε", YLabel: "δ", LogY: true,
		Marks: []plot.Mark{{Name: "answer", X: g.Epsilon, Y: g.Delta}},
	}
	end := 2 * g.Epsilon
	if least, err := a.event.Epsilon(max(g.Delta, 1e-300) / 1000); err == nil && !math.IsInf(least.Epsilon, 1) {
		end = least.Epsilon
	}
	profile, numerical := plot.Line{Name: "best closed form"}, plot.Line{Name: "numerical"}
	for i := range 81 {
		eps := end * float64(i) / 80
		if d, err := a.event.Delta(eps); err == nil {
			profile.X, profile.Y = append(profile.X, eps), append(profile.Y, d.Delta)
		}
		if a.numerical != nil {
			numerical.X, numerical.Y = append(numerical.X, eps), append(numerical.Y, a.numerical.Delta(eps))
		}
	}
	p.Lines = []plot.Line{profile, numerical}
	return p
}

// drawFile draws panels into an SVG file.
func drawFile(path string, panels []plot.Panel) error {
	var b bytes.Buffer
	if err := plot.SVG(&b, panels...); err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	return nil
}

// printJSON prints one indented object.
func printJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
