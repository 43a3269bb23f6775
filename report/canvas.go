package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
)

// canvas collects one SVG drawing. Colours are CSS variables of the page, so
// that a drawing is readable on a dark screen and on paper.
type canvas struct {
	b             strings.Builder
	width, height float64
	// The plotting area, and the values at its edges.
	left, right, top, bottom float64
	x0, x1, y0, y1           float64
}

// newCanvas begins a drawing whose text alternative is label.
func newCanvas(width, height float64, label string) *canvas {
	c := &canvas{width: width, height: height, left: 52, right: width - 10, top: 10, bottom: height - 24}
	fmt.Fprintf(&c.b, `<svg viewBox="0 0 %g %g" style="max-width:%gpx" role="img" aria-label="%s" `+
		`xmlns="http://www.w3.org/2000/svg">`, width, height, 1.2*width, html.EscapeString(label))
	return c
}

// axes sets the ranges and draws the frame with ticks of the first and last
// round values of both.
func (c *canvas) axes(x0, x1, y0, y1 float64, xTicks, yTicks bool) {
	c.x0, c.x1 = widened(x0, x1)
	c.y0, c.y1 = widened(y0, y1)
	fmt.Fprintf(&c.b, `<rect class="frame" x="%g" y="%g" width="%.1f" height="%.1f"/>`,
		c.left, c.top, c.right-c.left, c.bottom-c.top)
	if xTicks {
		for _, v := range ticks(c.x0, c.x1) {
			c.text(c.px(v), c.height-8, "middle", short(v))
		}
	}
	if yTicks {
		for _, v := range ticks(c.y0, c.y1) {
			c.text(c.left-5, c.py(v)+4, "end", short(v))
		}
	}
}

// widened is a range that has a width.
func widened(lo, hi float64) (float64, float64) {
	switch {
	case math.IsNaN(lo) || math.IsNaN(hi) || math.IsInf(lo, 0) || math.IsInf(hi, 0):
		return 0, 1
	case lo == hi:
		pad := max(math.Abs(lo)*0.01, 1e-9)
		return lo - pad, hi + pad
	}
	return lo, hi
}

// ticks are three to six round values within a range: as few as there are.
func ticks(lo, hi float64) []float64 {
	decade := math.Pow(10, math.Floor(math.Log10(hi-lo))-1)
	step := decade
	for _, m := range []float64{2, 2.5, 5, 10, 20, 25} {
		if (hi-lo)/(decade*m) >= 3 {
			step = decade * m
		}
	}
	var list []float64
	for i := math.Ceil(lo / step); i*step <= hi && len(list) < 7; i++ {
		list = append(list, i*step+0) // no −0
	}
	return list
}

func (c *canvas) px(x float64) float64 { return c.left + (x-c.x0)/(c.x1-c.x0)*(c.right-c.left) }
func (c *canvas) py(y float64) float64 { return c.bottom - (y-c.y0)/(c.y1-c.y0)*(c.bottom-c.top) }

func (c *canvas) text(x, y float64, anchor, s string) {
	fmt.Fprintf(&c.b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, html.EscapeString(s))
}

func (c *canvas) line(class string, x0, y0, x1, y1 float64) {
	fmt.Fprintf(&c.b, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`,
		class, c.px(x0), c.py(y0), c.px(x1), c.py(y1))
}

// path draws a curve; points that are not finite are left out.
func (c *canvas) path(class string, x, y []float64) {
	fmt.Fprintf(&c.b, `<polyline class="%s" points="`, class)
	for i := range x {
		if px, py := c.px(x[i]), c.py(y[i]); !math.IsNaN(px+py) && !math.IsInf(px+py, 0) {
			fmt.Fprintf(&c.b, "%.1f,%.1f ", px, py)
		}
	}
	c.b.WriteString(`"/>`)
}

func (c *canvas) dot(class string, x, y, radius float64) {
	if px, py := c.px(x), c.py(y); !math.IsNaN(px+py) && !math.IsInf(px+py, 0) {
		fmt.Fprintf(&c.b, `<circle class="%s" cx="%.1f" cy="%.1f" r="%g"/>`, class, px, py, radius)
	}
}

// done is the drawing. All text in it was escaped.
func (c *canvas) done() template.HTML {
	c.b.WriteString("</svg>")
	return template.HTML(c.b.String())
}

// colour is the class of the i-th chain.
func colour(i int) string { return fmt.Sprintf("c%d", i%6) }
