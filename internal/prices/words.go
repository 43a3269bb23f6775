package prices

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// guaranteeWords states an ε with everything that belongs to it: δ, adjacency,
// theorem, and what it is conditional on.
func guaranteeWords(g accountant.Guarantee) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ε = %s at δ = %s, unconditional\n", RoundedUp(g.Epsilon), RoundedUp(g.Delta))
	neighbours := "one record is replaced, and their number is public"
	if g.Adjacency == accountant.AddRemove {
		neighbours = "one record is added or removed"
	}
	fmt.Fprintf(&b, "  Adjacency: %v (%s)\n", g.Adjacency, neighbours)
	fmt.Fprintf(&b, "  Accounting: %s; %s", g.Method, g.Theorem)
	if g.Order > 0 {
		fmt.Fprintf(&b, "; order %s", Short(g.Order))
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
		args = append(args, name+" "+Short(m.Params[name]))
	}
	if len(m.Inner.Mechanisms()) > 0 {
		args = append(args, "of "+m.Inner.String())
	}
	return m.Kind + "(" + strings.Join(args, ", ") + ")"
}

// Short writes a number to six digits.
func Short(v float64) string {
	if math.IsInf(v, 1) {
		return "∞"
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// RoundedUp writes a cost to six digits, rounded up like all privacy arithmetic
// (a part in 10⁹ of slack keeps a cost of 1 from reading 1.00001).
func RoundedUp(v float64) string {
	text := Short(v)
	near, err := strconv.ParseFloat(text, 64)
	if err != nil || near*(1+1e-9) >= v {
		return text
	}
	return Short(near + math.Pow(10, math.Floor(math.Log10(v))-5))
}

// valueText writes a solved value: integers whole, others with every digit that
// the budget was checked for.
func valueText(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "∞"
	case v == math.Trunc(v) && math.Abs(v) <= MostSteps:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Short3 writes a number to three digits.
func Short3(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
