package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// mostLabels is how many labels fit on an axis.
const mostLabels = 8

// linearTicks labels multiples of 1, 2 or 5 times a power of ten.
type linearTicks struct{}

func (linearTicks) Ticks(low, high float64) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/2)))
	for i := 0; (high-low)/step > mostLabels-1; i++ {
		step *= []float64{2, 2.5, 2}[i%3]
	}
	var out []plot.Tick
	for k := math.Ceil(low/step - 1e-9); k*step <= high*(1+1e-12)+1e-9*step; k++ {
		v := k*step + 0 // not −0
		out = append(out, plot.Tick{Value: v, Label: number(v, step)})
	}
	return out
}

// number writes a tick's value to the precision of its step.
func number(v, step float64) string {
	if math.Abs(v) >= 1e5 || v != 0 && math.Abs(v) < 1e-4 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', max(0, int(math.Ceil(-math.Log10(step)-1e-9))), 64)
}

// logTicks labels powers of ten, fewer of them on a wide axis, and 2 and 5 times
// them on a narrow one; the multiples between have unlabelled ticks.
type logTicks struct{}

func (logTicks) Ticks(low, high float64) []plot.Tick {
	first, last := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	every := (last-first)/mostLabels + 1
	decades := math.Log10(high / low)
	var out []plot.Tick
	for k := first; k <= last; k++ {
		for m := 1; m <= 9; m++ {
			t := plot.Tick{Value: float64(m) * math.Pow10(k)}
			if t.Value < low*(1-1e-12) || t.Value > high*(1+1e-12) {
				continue
			}
			switch {
			case m == 1 && (k%every == 0 || decades < 2):
				t.Label = power(m, k)
			case m == 1:
			case decades >= 4:
				continue
			case decades < 1 || decades < 2 && (m == 2 || m == 5):
				t.Label = power(m, k)
			}
			out = append(out, t)
		}
	}
	return out
}

// power writes m·10^k: as a decimal where that is short.
func power(m, k int) string {
	switch {
	case k >= 0 && k <= 4:
		return strconv.Itoa(m) + strings.Repeat("0", k)
	case k < 0 && k >= -3:
		return fmt.Sprintf("%.*f", -k, float64(m)*math.Pow10(k))
	}
	ten := "10" + superscript.Replace(strconv.Itoa(k))
	if m == 1 {
		return ten
	}
	return fmt.Sprintf("%d·%s", m, ten)
}

var superscript = strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶",
	"7", "⁷", "8", "⁸", "9", "⁹")
