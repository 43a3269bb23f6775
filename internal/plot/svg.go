package plot

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Line is one curve. Points beyond 1e100, infinite and missing ones, and
// those below 1e-300 on a logarithmic axis are left out.
type Line struct {
	// Name is the legend's text; a line without one is not in the legend.
	Name string
	// X and Y hold the points, equally many. Required.
	X, Y []float64
	// Low and High are the ends of a vertical bar through each point, as many as
	// there are points; a bar whose ends the axes cannot show is left out. Defaults
	// to none.
	Low, High []float64
	// Dashed draws a thin grey reference line instead of a coloured curve.
	Dashed bool
	// Style, from 1 on, chooses the colour and dashes, so that a curve looks the same
	// in several panels. Defaults to 0, the next in order.
	Style int
	// Dots draws the points alone, unconnected.
	Dots bool
}

// Mark is a point to point out.
type Mark struct {
	Name string
	X, Y float64
}

// Panel is one chart.
type Panel struct {
	// Title and the axes' labels, with units, in printable characters.
	Title, XLabel, YLabel string
	// LogX and LogY choose logarithmic axes.
	LogX, LogY bool
	// Lines are drawn in order. At least one needs a point to show.
	Lines []Line
	// Marks are drawn over the lines.
	Marks []Mark
	// Share ends the vertical axis at 1, which no value exceeds.
	Share bool
	// Beside puts one legend of all panels beside them, instead of one into each.
	Beside bool

	entries *[]entry // of the legend
}

// entry is a line of a legend.
type entry struct {
	name  string
	drawn plot.Thumbnailer
}

// The size of a panel.
const (
	panelWidth  = 5.6 * vg.Inch
	panelHeight = 4.2 * vg.Inch
)

// SVG writes the panels side by side as one SVG document. Errors: no panel, a
// panel without a point to show, a line whose X and Y differ in length, and
// those of w.
func SVG(w io.Writer, panels ...Panel) error { return Grid(w, len(panels), panels...) }

// Grid is SVG with the panels in rows of the given number of columns, the last
// row perhaps shorter.
func Grid(w io.Writer, columns int, panels ...Panel) error {
	if len(panels) == 0 {
		return errors.New("plot: no panel was given")
	}
	row, entries := make([]*plot.Plot, len(panels)), make([]entry, 0, len(panels))
	for i, p := range panels {
		own := []entry{}
		p.entries = &own
		var err error
		if row[i], err = p.build(); err != nil {
			return fmt.Errorf("plot: %q: %w", p.Title, err)
		}
		if p.Beside {
			entries = append(entries, own...)
			continue
		}
		for _, e := range own {
			row[i].Legend.Add(e.name, e.drawn)
		}
	}
	columns = min(max(columns, 1), len(panels))
	beside, room := legendBeside(entries)
	var rows [][]*plot.Plot
	for len(row) > 0 {
		n := min(columns, len(row))
		rows, row = append(rows, slices.Grow(row[:n:n], columns)[:columns]), row[n:]
	}
	canvas := vgsvg.New(vg.Length(columns)*panelWidth+room, vg.Length(len(rows))*panelHeight)
	whole := draw.New(canvas)
	tiles := draw.Tiles{
		Rows: len(rows), Cols: columns, PadX: 0.3 * vg.Inch, PadY: 0.2 * vg.Inch,
		PadTop: 0.12 * vg.Inch, PadBottom: 0.12 * vg.Inch, PadLeft: 0.12 * vg.Inch, PadRight: 0.2 * vg.Inch,
	}
	for i, line := range plot.Align(rows, tiles, draw.Crop(whole, 0, -room, 0, 0)) {
		for j, c := range line {
			if rows[i][j] != nil {
				rows[i][j].Draw(c)
			}
		}
	}
	if room > 0 {
		beside.Draw(draw.Crop(whole, whole.Max.X-room, 0, 0, -0.6*vg.Inch))
	}
	var text bytes.Buffer
	if _, err := canvas.WriteTo(&text); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	_, err := w.Write(bytes.ReplaceAll(text.Bytes(), []byte("font-family:"+fontFamily+";"),
		[]byte("font-family:'"+fontFamily+"',Arial,Helvetica,sans-serif;")))
	return err
}

// fontFamily measures like Arial and Helvetica, so that a reader without it sees
// the same layout.
const fontFamily = "Liberation Sans"

func sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// palette is that of Okabe and Ito (2008).
var palette = []color.RGBA{
	{0x00, 0x72, 0xB2, 0xFF}, {0xD5, 0x5E, 0x00, 0xFF}, {0x00, 0x9E, 0x73, 0xFF},
	{0xCC, 0x79, 0xA7, 0xFF}, {0xE6, 0x9F, 0x00, 0xFF}, {0x56, 0xB4, 0xE9, 0xFF},
}

// dashes keep curves that coincide, or are printed without colour, apart.
var dashes = [][]vg.Length{nil, {vg.Points(7), vg.Points(4)}, {vg.Points(2), vg.Points(4)},
	{vg.Points(7), vg.Points(3), vg.Points(2), vg.Points(3)}}

var (
	grey      = color.Gray{0x70}
	lightGrey = color.Gray{0xE2}
)

// build lays a panel out.
func (p Panel) build() (*plot.Plot, error) {
	out := plot.New()
	out.Title.Text, out.Title.Padding = p.Title, vg.Points(10)
	out.Title.TextStyle.Font = sans(14)
	p.axis(&out.X, p.XLabel, p.LogX)
	p.axis(&out.Y, p.YLabel, p.LogY)
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = lightGrey, lightGrey
	out.Add(grid)

	var shown plotter.XYs
	colours := 0
	for _, l := range p.Lines {
		if len(l.X) != len(l.Y) {
			return nil, fmt.Errorf("line %q has %d values of x and %d of y", l.Name, len(l.X), len(l.Y))
		}
		points := p.visible(l.X, l.Y)
		if len(points) == 0 {
			continue
		}
		shown = append(shown, points...)
		style := colours
		if l.Style > 0 {
			style = l.Style - 1
		} else if !l.Dashed {
			colours++
		}
		if err := p.draw(out, l, points, style); err != nil {
			return nil, err
		}
	}
	if len(shown) == 0 {
		return nil, errors.New("no line has a point to show: every value is infinite, missing or, on a logarithmic axis, " +
			"not positive")
	}
	if err := p.mark(out); err != nil {
		return nil, err
	}
	p.widen(out)
	if !p.Beside {
		p.placeLegend(out, shown)
	}
	return out, nil
}

// legendBeside is one legend of the entries, each once, and the room that it needs.
func legendBeside(entries []entry) (l plot.Legend, room vg.Length) {
	l = plot.NewLegend()
	styleLegend(&l)
	l.Top, l.Left = true, true
	seen := map[string]bool{}
	for _, e := range entries {
		if !seen[e.name] {
			seen[e.name] = true
			l.Add(e.name, e.drawn)
			room = max(room, l.TextStyle.Width(e.name)+l.ThumbnailWidth+0.4*vg.Inch)
		}
	}
	return l, room
}

func styleLegend(l *plot.Legend) {
	l.TextStyle.Font = sans(10)
	l.ThumbnailWidth, l.Padding = vg.Points(24), vg.Points(2)
}

// draw adds a line's curve or dots, and its bars, in the given colour.
func (p Panel) draw(out *plot.Plot, l Line, points plotter.XYs, colour int) error {
	style := draw.LineStyle{Color: palette[colour%len(palette)], Width: vg.Points(1.8), Dashes: dashes[colour%len(dashes)]}
	if l.Dashed {
		style = draw.LineStyle{Color: grey, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(4), vg.Points(3)}}
	}
	var drawn plot.Thumbnailer
	if l.Dots {
		s, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		s.Shape, s.Color, s.Radius = draw.CircleGlyph{}, style.Color, vg.Points(1.2)
		out.Add(s)
		drawn = s
	} else {
		c, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		c.LineStyle = style
		out.Add(c)
		drawn = c
	}
	if l.Name != "" {
		*p.entries = append(*p.entries, entry{l.Name, drawn})
	}
	return p.bars(out, l, style)
}

// bars adds a line's vertical bars.
func (p Panel) bars(out *plot.Plot, l Line, style draw.LineStyle) error {
	if l.Low == nil && l.High == nil {
		return nil
	}
	if len(l.Low) != len(l.X) || len(l.High) != len(l.X) {
		return fmt.Errorf("line %q has %d values of x, %d of low and %d of high", l.Name, len(l.X), len(l.Low), len(l.High))
	}
	var b bars
	for i, x := range l.X {
		if shows(x, p.LogX) && shows(l.Y[i], p.LogY) && shows(l.Low[i], p.LogY) && shows(l.High[i], p.LogY) {
			half := (l.High[i] - l.Low[i]) / 2
			b.XYs = append(b.XYs, plotter.XY{X: x, Y: l.Low[i] + half})
			b.YErrors = append(b.YErrors, struct{ Low, High float64 }{half, half})
		}
	}
	if len(b.XYs) == 0 {
		return nil
	}
	e, err := plotter.NewYErrorBars(b)
	if err != nil {
		return err
	}
	e.Color, e.Width, e.CapWidth = style.Color, vg.Points(1), vg.Points(5)
	out.Add(e)
	return nil
}

type bars struct {
	plotter.XYs
	plotter.YErrors
}

func (p Panel) axis(a *plot.Axis, label string, log bool) {
	a.Label.Text, a.Label.Padding = label, vg.Points(6)
	a.Label.TextStyle.Font = sans(11)
	a.Tick.Label.Font = sans(10)
	a.LineStyle.Color, a.Tick.LineStyle.Color = grey, grey
	a.Padding = 0
	a.Tick.Marker = linearTicks{}
	if log {
		a.Scale, a.Tick.Marker = plot.LogScale{}, logTicks{}
	}
}

// visible are the points that the axes can show.
func (p Panel) visible(x, y []float64) plotter.XYs {
	var out plotter.XYs
	for i := range x {
		if shows(x[i], p.LogX) && shows(y[i], p.LogY) {
			out = append(out, plotter.XY{X: x[i], Y: y[i]})
		}
	}
	return out
}

// The numbers that charts show; layout computes with their squares and ratios.
const (
	largest  = 1e100
	smallest = 1e-300 // on logarithmic axes
	flat     = 1e-30  // the least length of an axis
)

func shows(v float64, log bool) bool {
	return math.Abs(v) <= largest && (!log || v >= smallest)
}

func (p Panel) mark(out *plot.Plot) error {
	for _, m := range p.Marks {
		points := p.visible([]float64{m.X}, []float64{m.Y})
		if len(points) == 0 {
			continue
		}
		s, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		s.Shape, s.Color, s.Radius = draw.CircleGlyph{}, color.Black, vg.Points(3.5)
		out.Add(s)
		*p.entries = append(*p.entries, entry{m.Name, s})
	}
	return nil
}

// widen leaves room around curves that are flat or touch the top, and starts
// linear axes at 0 where the curves come near it.
func (p Panel) widen(out *plot.Plot) {
	for _, a := range []struct {
		axis *plot.Axis
		log  bool
	}{{&out.X, p.LogX}, {&out.Y, p.LogY}} {
		if !a.log && a.axis.Min > 0 && a.axis.Min < a.axis.Max/2 {
			a.axis.Min = 0
		}
		if size := max(math.Abs(a.axis.Min), math.Abs(a.axis.Max)); a.axis.Max-a.axis.Min > max(1e-6*size, flat) {
			continue
		}
		if a.log {
			a.axis.Min, a.axis.Max = a.axis.Min/2, a.axis.Max*2
		} else {
			room := max(0.5, math.Abs(a.axis.Max)/2)
			a.axis.Min, a.axis.Max = a.axis.Min-room, a.axis.Max+room
		}
	}
	if p.LogY {
		out.Y.Max *= math.Pow(out.Y.Max/out.Y.Min, 0.04)
	} else {
		out.Y.Max += 0.04 * (out.Y.Max - out.Y.Min)
	}
	if p.Share && !p.LogY {
		out.Y.Max = 1
	}
}

// placeLegend puts the legend into the corner from which the points stay away
// the most.
func (p Panel) placeLegend(out *plot.Plot, points plotter.XYs) {
	l := &out.Legend
	styleLegend(l)
	best := math.Inf(-1)
	for _, c := range []struct{ top, left bool }{{true, true}, {true, false}, {false, false}, {false, true}} {
		x, y := 1.0, 0.0
		if c.left {
			x = 0
		}
		if c.top {
			y = 1
		}
		nearest := math.Inf(1)
		for _, q := range points {
			dx := out.X.Scale.Normalize(out.X.Min, out.X.Max, q.X) - x
			dy := out.Y.Scale.Normalize(out.Y.Min, out.Y.Max, q.Y) - y
			nearest = min(nearest, math.Hypot(dx, dy))
		}
		if nearest > best {
			best, l.Top, l.Left = nearest, c.top, c.left
		}
	}
	l.XOffs, l.YOffs = vg.Points(-14), vg.Points(6)
	if l.Left {
		l.XOffs = vg.Points(6)
	}
	if l.Top {
		l.YOffs = vg.Points(-4)
	}
}
