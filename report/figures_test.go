package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/diag"
)

// TestTicks: three to six, all within the range, at multiples of a step of 1, 2, 2.5 or 5 times a power of ten.
func TestTicks(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		width := rapid.Float64Range(1e-6, 1e6).Draw(r, "width")
		lo := width * rapid.Float64Range(-20, 20).Draw(r, "from")
		list := ticks(lo, lo+width)
		if len(list) < 3 || len(list) > 6 || list[0] < lo || list[len(list)-1] > lo+width {
			r.Fatalf("%v in [%v, %v]", list, lo, lo+width)
		}
		step := list[1] - list[0]
		digits, _, _ := strings.Cut(fmt.Sprintf("%.3e", step), "e")
		if off := math.Abs(list[0]/step - math.Round(list[0]/step)); off > 1e-6 ||
			!slices.Contains([]string{"1.000", "2.000", "2.500", "5.000"}, digits) {
			r.Fatalf("%v are %v off multiples of %s", list, off, digits)
		}
	})
}

// TestIntervalScales: intervals that can be seen on one scale share it, with ticks, and others are around 0.
func TestIntervalScales(t *testing.T) {
	interval := func(q5, q95 float64) row {
		return row{Summary: diag.Summary{Median: (q5 + q95) / 2, Q5: q5, Q95: q95}}
	}
	for _, c := range []struct {
		rows   []row
		own    bool
		labels int
	}{{[]row{interval(-1, 1), interval(0.2, 0.4)}, false, 5}, {[]row{interval(-1, 1), interval(0.001, 0.002)}, true, 1}} {
		drawing, own := intervals(c.rows, true)
		if labels := strings.Count(string(drawing), `text-anchor="middle"`); own != c.own || labels != c.labels {
			t.Errorf("%v: own scales: %v, %d labels", c.rows, own, labels)
		}
	}
}
