package prices

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/accountant/pld"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/plot"
	"github.com/dpmcmc/dpmcmc/internal/runs"
	"github.com/dpmcmc/dpmcmc/planning"
)

// Cost is what releases cost, as it was asked.
type Cost struct {
	event        accountant.Event
	askedEpsilon bool // the alternatives are of ε; otherwise of δ
	guarantee    accountant.Guarantee
	lower        *float64    // a lower bound on what was asked, if asked for
	numerical    *pld.Result // nil where there is none
	closed       string      // why there is none
	orders       planning.Curve
}

// CostQuestion is what is asked about releases.
type CostQuestion struct {
	AskEpsilon     bool // at Delta; otherwise δ at Epsilon
	Epsilon, Delta float64
	Classic        bool      // the classic conversion too
	Lower          bool      // the lower bound of numerical composition too
	Orders         []float64 // Rényi orders to list; nil for round ones and the best
}

// CostOf asks the accountant and the numerical one.
func CostOf(e accountant.Event, q CostQuestion) (*Cost, error) {
	a := &Cost{event: e, askedEpsilon: q.AskEpsilon}
	if err := a.ask(q); err != nil {
		return nil, err
	}
	if q.Classic {
		g, err := e.ClassicEpsilon(q.Delta)
		if err != nil {
			return nil, err
		}
		a.guarantee.Alternatives["rdp-classic"] = g.Epsilon
	}
	a.addOrders(q.Orders)
	return a, nil
}

// ask fills in the guarantee, its lower bound if that is asked for, and why there is no numerical
// one.
func (a *Cost) ask(q CostQuestion) (err error) {
	if q.AskEpsilon && q.Delta == 0 {
		a.closed = "at δ = 0 only pure costs compose"
		a.guarantee, err = a.event.Epsilon(0)
		return err
	}
	known, refine := a.event.Delta, a.event.RefineDelta
	at, lower := q.Epsilon, func(at float64) float64 { return min(a.numerical.LowerDelta(at), a.guarantee.Delta) }
	if q.AskEpsilon {
		known, refine = a.event.Epsilon, a.event.RefineEpsilon
		at, lower = q.Delta, func(at float64) float64 { return min(a.numerical.LowerEpsilon(at), a.guarantee.Epsilon) }
	}
	a.guarantee, a.numerical, err = refine(at)
	var not *accountant.NotNumericalError
	if errors.As(err, &not) {
		a.closed = not.Reason
		a.guarantee, err = known(at)
		return err
	}
	if err == nil && q.Lower {
		a.lower = runs.Figure(lower(at))
	}
	return err
}

// defaultOrders are listed unless others are asked for.
var defaultOrders = []float64{1.5, 2, 3, 4, 8, 16, 32, 64, 128, 256}

// addOrders tabulates the Rényi cost, at the default orders and the best one if
// none are given.
func (a *Cost) addOrders(orders []float64) {
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

// costReport is the cost for programs; infinite figures are null.
type costReport struct {
	guaranteeReport
	Orders       []orderCost         `json:"orders"`
	Alternatives map[string]*float64 `json:"alternatives"`
	LowerBound   *float64            `json:"lower_bound,omitempty"`
	NotNumerical string              `json:"not_numerical,omitempty"` // why
}

// Report is the one object of --json.
func (a *Cost) Report() any {
	r := costReport{
		guaranteeReport: reported(a.guarantee), LowerBound: a.lower, NotNumerical: a.closed,
		Alternatives: make(map[string]*float64, len(a.guarantee.Alternatives)),
	}
	for name, v := range a.guarantee.Alternatives {
		r.Alternatives[name] = runs.Figure(v)
	}
	for i, o := range a.orders.X {
		r.Orders = append(r.Orders, orderCost{o, runs.Figure(a.orders.Y[i])})
	}
	return r
}

// Words is the answer as a data steward reads it.
func (a *Cost) Words() string {
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
		fmt.Fprintf(&b, "  Some pair of adjacent data sets attains at least %s.\n", Short(*a.lower))
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
		fmt.Fprintf(&b, "  %-15s %s\n", name, RoundedUp(a.guarantee.Alternatives[name]))
	}
	fmt.Fprintf(&b, "\nRényi cost\n")
	table = tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "order\tcost\t\n")
	for i, o := range a.orders.X {
		fmt.Fprintf(table, "%s\t%s\t\n", Short(o), RoundedUp(a.orders.Y[i]))
	}
	table.Flush()
	return b.String()
}

// Panels are its charts.
func (a *Cost) Panels() []plot.Panel {
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
func (a *Cost) profilePanel() plot.Panel {
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
