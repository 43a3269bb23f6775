package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// parse reads an SVG to its end and returns its texts.
func parse(t rapid.TB, svg []byte) (texts []string) {
	t.Helper()
	dec := xml.NewDecoder(bytes.NewReader(svg))
	inText := false
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			inText = e.Name.Local == "text"
			for _, a := range e.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Fatalf("%s of a %s is %q", a.Name.Local, e.Name.Local, a.Value)
				}
			}
		case xml.CharData:
			if inText {
				texts = append(texts, string(e))
			}
		case xml.EndElement:
			inText = false
		}
	}
}

// TestSVGIsWellFormed draws anything, NaN and ±Inf and markup included: the
// result is an error or a well-formed document without a number missing.
func TestSVGIsWellFormed(t *testing.T) {
	value := rapid.OneOf(rapid.Float64Range(-10, 1e6), rapid.Float64Range(0, 1e-12),
		rapid.SampledFrom([]float64{0, 1, math.NaN(), math.Inf(1), math.Inf(-1), 1e-300, 1e300}))
	rapid.Check(t, func(t *rapid.T) {
		p := Panel{Title: "a < b & \"c\"", XLabel: rapid.StringMatching(`[ -~αεδ]*`).Draw(t, "label"), YLabel: "ε",
			LogX: rapid.Bool().Draw(t, "log x"), LogY: rapid.Bool().Draw(t, "log y")}
		for range rapid.IntRange(1, 3).Draw(t, "lines") {
			x := rapid.SliceOfN(value, 0, 5).Draw(t, "x")
			y := rapid.SliceOfN(value, len(x), len(x)).Draw(t, "y")
			p.Lines = append(p.Lines, Line{Name: "<line>", X: x, Y: y, Dashed: rapid.Bool().Draw(t, "dashed")})
		}
		p.Marks = []Mark{{"here", value.Draw(t, "mark x"), value.Draw(t, "mark y")}}
		var b bytes.Buffer
		err := SVG(&b, p, p)
		shows := slices.ContainsFunc(p.Lines, func(l Line) bool { return len(p.visible(l.X, l.Y)) > 0 })
		if (err == nil) != shows {
			t.Fatalf("error %v with points to show: %v", err, shows)
		}
		if err == nil {
			parse(t, b.Bytes())
		}
	})
}

// TestSVGShowsWhatItWasGiven: titles, labels and names are there, once a panel,
// and every line has its colour.
func TestSVGShowsWhatItWasGiven(t *testing.T) {
	p := Panel{Title: "ε against iterations", XLabel: "iterations", YLabel: "ε at δ = 1e-6", LogX: true,
		Lines: []Line{{Name: "batch 100", X: []float64{1, 10, 100}, Y: []float64{0.1, 0.2, math.Inf(1)}}}}
	var one, two bytes.Buffer
	if err := SVG(&one, p); err != nil {
		t.Fatal(err)
	}
	p.Lines = append(p.Lines, Line{Name: "batch 200", X: []float64{1, 10}, Y: []float64{0.15, 0.3}})
	if err := SVG(&two, p); err != nil {
		t.Fatal(err)
	}
	texts := parse(t, one.Bytes())
	for _, want := range []string{p.Title, p.XLabel, p.YLabel, "batch 100", "1", "10"} {
		if n := len(slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s != want })); n != 1 {
			t.Errorf("%q is shown %d times among %q", want, n, texts)
		}
	}
	const first, second = "#0072B2", "#D55E00"
	for _, c := range []struct {
		svg    []byte
		colour string
		want   bool
	}{{one.Bytes(), first, true}, {one.Bytes(), second, false}, {two.Bytes(), first, true}, {two.Bytes(), second, true}} {
		if got := bytes.Contains(c.svg, []byte(c.colour)); got != c.want {
			t.Errorf("colour %s is used: %v; want %v", c.colour, got, c.want)
		}
	}
}

// TestGrid: three panels in two columns are twice as high as they are in a row,
// all three are there, and a line's bars reach to their ends.
func TestGrid(t *testing.T) {
	p := Panel{Title: "one", Lines: []Line{{X: []float64{1, 2}, Y: []float64{1, 2}, Low: []float64{0.5, 1},
		High: []float64{2, 70}, Dots: true}}}
	var row, grid bytes.Buffer
	if err := SVG(&row, p, p, p); err != nil {
		t.Fatal(err)
	}
	if err := Grid(&grid, 2, p, p, p); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		svg  string
		size string
	}{"row": {row.String(), `width="1209.6pt" height="302.4pt"`},
		"grid": {grid.String(), `width="806.4pt" height="604.8pt"`}} {
		if !strings.Contains(c.svg, c.size) {
			t.Errorf("%s: no %s in %.300q", name, c.size, c.svg)
		}
		texts := parse(t, []byte(c.svg))
		for text, want := range map[string]int{"one": 3, "60": 3} {
			if n := len(slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s != text })); n != want {
				t.Errorf("%s: %q is shown %d times among %q, want %d", name, text, n, texts, want)
			}
		}
	}
}

// TestStyle: a style chooses a curve's colour, whatever is drawn before it.
func TestStyle(t *testing.T) {
	line := func(style int) Line { return Line{X: []float64{0, 1}, Y: []float64{0, 1}, Style: style} }
	colours := func(lines ...Line) [3]bool {
		var b bytes.Buffer
		if err := SVG(&b, Panel{Lines: lines}); err != nil {
			t.Fatal(err)
		}
		var has [3]bool
		for i, c := range palette[:3] {
			has[i] = strings.Contains(b.String(), fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B))
		}
		return has
	}
	for _, c := range []struct {
		lines []Line
		want  [3]bool
	}{
		{[]Line{line(0), line(0)}, [3]bool{true, true, false}},
		{[]Line{line(3)}, [3]bool{false, false, true}},
		{[]Line{line(3), line(0)}, [3]bool{true, false, true}},
		{[]Line{line(2), line(2)}, [3]bool{false, true, false}},
	} {
		if got := colours(c.lines...); got != c.want {
			t.Errorf("colours %v, want %v", got, c.want)
		}
	}
}

func TestSVGRefusals(t *testing.T) {
	ok := Line{X: []float64{1}, Y: []float64{1}}
	for name, c := range map[string]struct {
		panels []Panel
		want   string
	}{
		"no panel":     {nil, "no panel"},
		"no line":      {[]Panel{{Title: "empty"}}, "no line has a point"},
		"all infinite": {[]Panel{{Lines: []Line{{X: []float64{1}, Y: []float64{math.Inf(1)}}}}}, "no line has a point"},
		"uneven": {[]Panel{{Lines: []Line{{Name: "l", X: []float64{1, 2}, Y: []float64{1}}}}},
			"2 values of x and 1 of y"},
		"second broken": {[]Panel{{Title: "first", Lines: []Line{ok}}, {Title: "second"}}, `"second"`},
	} {
		if err := SVG(io.Discard, c.panels...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v; want one that says %q", name, err, c.want)
		}
	}
	if err := SVG(io.Discard, Panel{Lines: []Line{{Name: "b", X: []float64{1}, Y: []float64{1},
		Low: []float64{0}}}}); err == nil || !strings.Contains(err.Error(), "1 of low and 0 of high") {
		t.Errorf("half a bar gives %v", err)
	}
	broken := errors.New("disk full")
	if err := SVG(failing{broken}, Panel{Title: "t", Lines: []Line{ok}}); !errors.Is(err, broken) {
		t.Errorf("a failing writer gives %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestTicks(t *testing.T) {
	labels := func(logarithmic bool, low, high float64) string {
		ticks := linearTicks{}.Ticks(low, high)
		if logarithmic {
			ticks = logTicks{}.Ticks(low, high)
		}
		var out []string
		for _, k := range ticks {
			if k.Label != "" {
				out = append(out, k.Label)
			}
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		log       bool
		low, high float64
		want      string
	}{
		{false, 0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{false, 0, 18, "0 5 10 15"},
		{false, -3, 4, "-3 -2 -1 0 1 2 3 4"},
		{false, 0, 0.00042, "0.0000 0.0001 0.0002 0.0003 0.0004"},
		{true, 100, 1e6, "100 1000 10000 10⁵ 10⁶"},
		{true, 1e-15, 1e-2, "10⁻¹⁴ 10⁻¹² 10⁻¹⁰ 10⁻⁸ 10⁻⁶ 10⁻⁴ 0.01"},
		{true, 3, 40, "5 10 20"},
		{true, 2e5, 6e5, "2·10⁵ 3·10⁵ 4·10⁵ 5·10⁵ 6·10⁵"},
		{true, 0.02, 0.5, "0.02 0.05 0.1 0.2 0.5"},
	} {
		if got := labels(c.log, c.low, c.high); got != c.want {
			t.Errorf("log %v, %v to %v: %q; want %q", c.log, c.low, c.high, got, c.want)
		}
	}
}

// TestFewLabels: no range of either kind overfills an axis.
func TestFewLabels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := math.Pow(10, rapid.Float64Range(-300, 300).Draw(t, "low"))
		high := low * math.Pow(10, rapid.Float64Range(0.01, 300).Draw(t, "decades"))
		if math.IsInf(high, 1) {
			return
		}
		n := 0
		for _, k := range (logTicks{}).Ticks(low, high) {
			if k.Label != "" {
				n++
			}
		}
		if n > 9 {
			t.Fatalf("%d labels from %v to %v on a logarithmic axis", n, low, high)
		}
		if n := len((linearTicks{}).Ticks(low, high)); n > mostLabels || n < 2 {
			t.Fatalf("%d labels from %v to %v on a linear axis", n, low, high)
		}
	})
}
