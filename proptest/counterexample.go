package proptest

import (
	"fmt"
	"math"
	"strings"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/targets"
)

// source writes numbers as Go does.
func source(v []float64) string {
	if v == nil {
		return "nil"
	}
	if len(v) > 500 {
		return repeated(v)
	}
	parts := make([]string, len(v))
	for i, x := range v {
		switch {
		case math.IsNaN(x):
			parts[i] = "math.NaN()"
		case math.IsInf(x, 1):
			parts[i] = "math.Inf(1)"
		case math.IsInf(x, -1):
			parts[i] = "math.Inf(-1)"
		case x == 0 && math.Signbit(x):
			parts[i] = "math.Copysign(0, -1)"
		default:
			parts[i] = fmt.Sprint(x)
		}
	}
	return "[]float64{" + strings.Join(parts, ", ") + "}"
}

// repeated writes many numbers in parts, of which those that repeat a few are written once.
func repeated(v []float64) string {
	var parts []string
	from := 0 // of what has no part yet
	flush := func(to int) {
		for ; from < to; from += 100 {
			parts = append(parts, source(v[from:min(to, from+100)]))
		}
	}
	for i := 0; i < len(v); {
		most, period := 0, 0
		for q := 1; q <= 64 && i+q < len(v); q++ {
			n := q
			for i+n < len(v) && identical(v[i+n], v[i+n-q]) {
				n++
			}
			if n -= n % q; n > 2*q && n > most {
				most, period = n, q
			}
		}
		if most == 0 { // it may repeat from the next one on
			i++
			continue
		}
		flush(i)
		parts = append(parts, fmt.Sprintf("slices.Repeat(%s, %d)", source(v[i:i+period]), most/period))
		i += most
		from = i
	}
	flush(len(v))
	return "slices.Concat(" + strings.Join(parts, ", ") + ")"
}

func sourceOfRecords(r curator.Records) string {
	s := fmt.Sprintf("curator.Records{X: %s, Features: %d", source(r.X), r.Features)
	if r.Y != nil {
		s += ", Y: " + source(r.Y)
	}
	if r.Radius != 0 {
		s += fmt.Sprintf(", Radius: %v", r.Radius)
	}
	if r.RowsPerPerson != 0 {
		s += fmt.Sprintf(", RowsPerPerson: %d", r.RowsPerPerson)
	}
	return s + "}"
}

func sourceOfRows(r targets.Rows) string {
	s := fmt.Sprintf("targets.Rows{X: %s, P: %d", source(r.X), r.P)
	if r.Y != nil {
		s += ", Y: " + source(r.Y)
	}
	return s + "}"
}

// goTest is a test to be copied below a package clause: its lines between the braces.
func goTest(lines ...string) string {
	text := "func TestCounterexample(t *testing.T) {\n\t\t" + strings.Join(lines, "\n\t\t") + "\n\t}"
	imports := ""
	for _, path := range []string{"math", "slices", "testing", "github.com/dpmcmc/dpmcmc/accountant",
		"github.com/dpmcmc/dpmcmc/curator", "github.com/dpmcmc/dpmcmc/proptest", "github.com/dpmcmc/dpmcmc/targets"} {
		if strings.Contains(text, path[strings.LastIndex(path, "/")+1:]+".") {
			imports += fmt.Sprintf("\n\t\t%q", path)
		}
	}
	return "\nas a test:\n\timport (" + imports + "\n\t)\n\n\t" + text
}

func (c kernelCheck) reproduceReplay(from, to curator.Records, steps int64) string {
	return goTest(
		"// Step "+fmt.Sprint(steps)+" of a chain recorded over from differs when it is replayed over to.",
		"from := "+sourceOfRecords(from),
		"to := "+sourceOfRecords(to),
		fmt.Sprintf("proptest.CheckReplay(t, yourFactory, from, to, proptest.KernelOptions{Adjacency: accountant.%s, "+
			"Start: %s, Steps: %d, Seed: %d})",
			c.adjacency(), source(c.o.Start), steps, c.o.Seed))
}

func (c kernelCheck) reproduceInvariance(n int) string {
	more := falseAlarm(c.o.FalseAlarm)
	if c.o.Reversible {
		more += ", Reversible: true"
	}
	if c.o.Transition != nil {
		more += ", Transition: yourTransition"
	}
	return goTest(fmt.Sprintf("proptest.CheckInvariance(t, yourFactory, proptest.KernelOptions{Adjacency: "+
		"accountant.%s, Start: %s, Stride: %d, Replicates: %d, Seed: %d,",
		c.adjacency(), source(c.o.Start), c.o.Stride, n, c.o.Seed),
		"\tRecords: "+sourceOfRecords(c.o.Records)+", Exact: yourExact"+more+"})")
}

// falseAlarm is the option, where it is not the default.
func falseAlarm(rate float64) string {
	if rate == 1e-6 {
		return ""
	}
	return fmt.Sprintf(", FalseAlarm: %v", rate)
}

func (c kernelCheck) adjacency() string {
	if c.o.Adjacency == 1 {
		return "Substitute"
	}
	return "AddRemove"
}
