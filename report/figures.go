package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/diag"
)

// intervals draws every parameter's median, and its 50% and 90% intervals where they may be
// used. Where one scale would leave some too short to see, each is on a scale of its own around 0.
func intervals(rows []row, usable bool) (drawing template.HTML, own bool) {
	const line = 22.0
	height := line*float64(len(rows)) + 44
	c := newCanvas(640, height, "Median of each parameter, with 50% and 90% intervals where they may be used")
	c.left = 190
	own = usable && !legible(rows)
	lo, hi := math.Inf(1), math.Inf(-1)
	units := make([]float64, len(rows))
	for i, r := range rows {
		units[i] = 1
		low, high := r.Median, r.Median
		if usable {
			if unit := max(math.Abs(r.Q5), math.Abs(r.Q95)); own && unit > 0 {
				units[i] = unit
			}
			low, high = min(0, r.Q5/units[i]), max(0, r.Q95/units[i])
		}
		if !math.IsNaN(low + high) {
			lo, hi = min(lo, low), max(hi, high)
		}
	}
	lo, hi = widened(lo, hi)
	pad := (hi - lo) * 0.04
	c.axes(lo-pad, hi+pad, float64(len(rows))-0.5, -0.5, !own, false)
	if own {
		c.text(c.px(0), c.height-8, "middle", "0")
	}
	if c.x0 < 0 && c.x1 > 0 {
		c.line("zero", 0, c.y0, 0, c.y1)
	}
	for i, r := range rows {
		y := float64(i)
		c.text(c.left-8, c.py(y)+4, "end", shortened(r.Name, 28))
		if usable && !math.IsNaN(r.Q5+r.Q95) {
			all := pooled(r.Parameter.Chains)
			c.line("thin", r.Q5/units[i], y, r.Q95/units[i], y)
			c.line("thick", diag.Quantile(all, 0.25)/units[i], y, diag.Quantile(all, 0.75)/units[i], y)
		}
		c.dot("point", r.Median/units[i], y, 3.5)
	}
	return c.done(), own
}

// legible reports whether all intervals can be seen on one scale that has 0.
func legible(rows []row) bool {
	const shortest = 1. / 60 // of the width, about the size of a dot
	lo, hi, least := 0.0, 0.0, math.Inf(1)
	for _, r := range rows {
		if w := r.Q95 - r.Q5; w > 0 && !math.IsInf(w, 1) {
			lo, hi, least = min(lo, r.Q5), max(hi, r.Q95), min(least, w)
		}
	}
	return least >= shortest*(hi-lo)
}

// traces draws the chains against the iteration, each thinned to what the width
// can show.
func traces(p Parameter) template.HTML {
	const most = 400
	c := newCanvas(330, 140, "Trace of "+p.Name)
	lo, hi := extent(p.Chains)
	longest := 0
	for _, chain := range p.Chains {
		longest = max(longest, len(chain))
	}
	c.axes(0, float64(max(longest, 1)), lo, hi, true, true)
	for i, chain := range p.Chains {
		every := max(1, len(chain)/most)
		var x, y []float64
		for j := 0; j < len(chain); j += every {
			x, y = append(x, float64(j)), append(y, chain[j])
		}
		c.path("trace "+colour(i), x, y)
	}
	return c.done()
}

// ranks draws each chain's histogram of ranks among all draws: level when the
// chains agree (Vehtari et al. 2021). A single chain is compared half by half.
func ranks(p Parameter) template.HTML {
	const bins = 20
	chains, label := p.Chains, "Ranks of the chains of "+p.Name+", level when they agree"
	if len(chains) == 1 {
		half := len(chains[0]) / 2
		chains = [][]float64{chains[0][:half], chains[0][half:]}
		label = "Ranks of the two halves of the chain of " + p.Name + ", level when they agree"
	}
	c := newCanvas(330, 140, label)
	all := pooled(chains)
	counts := make([][]float64, len(chains))
	most := 0.0
	for i, chain := range chains {
		counts[i] = make([]float64, bins)
		if len(chain) == 0 || len(all) == 0 {
			continue
		}
		for _, v := range chain {
			at, _ := slices.BinarySearch(all, v)
			end, _ := slices.BinarySearch(all, math.Nextafter(v, math.Inf(1)))
			rank := (float64(at) + float64(end)) / 2 // ties share their mean
			counts[i][min(bins-1, int(rank/float64(len(all))*bins))] += bins / float64(len(chain))
		}
		most = max(most, slices.Max(counts[i]))
	}
	c.axes(0, 1, 0, max(2, most), true, true)
	c.line("zero", 0, 1, 1, 1)
	for i, count := range counts {
		var x, y []float64
		for b, v := range count {
			x = append(x, float64(b)/bins, float64(b+1)/bins)
			y = append(y, v, v)
		}
		c.path("trace "+colour(i), x, y)
	}
	return c.done()
}

// densities draws the posterior's histogram, and the prior's where there is one.
func densities(p Parameter, usable bool) template.HTML {
	if !usable || len(p.Prior) == 0 {
		return ""
	}
	const bins = 40
	post, prior := pooled(p.Chains), slices.Sorted(slices.Values(p.Prior))
	lo, hi := diag.Quantile(post, 0.001), diag.Quantile(post, 0.999)
	spread := hi - lo
	lo, hi = widened(lo-spread, hi+spread)
	a, b := histogram(post, lo, hi, bins), histogram(prior, lo, hi, bins)
	c := newCanvas(330, 140, "Prior and posterior of "+p.Name)
	c.axes(lo, hi, 0, max(slices.Max(a), slices.Max(b))*1.05, true, false)
	var x []float64
	for i := range bins {
		x = append(x, lo+(hi-lo)*(float64(i)+0.5)/bins)
	}
	c.path("trace c0", x, a)
	c.path("prior", x, b)
	return c.done()
}

// pairs draws the joint draws of the least mixed parameters.
func pairs(rows []row) template.HTML {
	if len(rows) < 2 {
		return ""
	}
	var out template.HTML
	for i := range rows {
		for j := range i {
			out += pair(rows[j].Parameter, rows[i].Parameter)
		}
	}
	return out
}

func pair(a, b Parameter) template.HTML {
	const most = 600
	c := newCanvas(300, 240, fmt.Sprintf("Draws of %s against %s", b.Name, a.Name))
	c.bottom -= 14
	x0, x1 := extent(a.Chains)
	y0, y1 := extent(b.Chains)
	c.axes(x0, x1, y0, y1, false, true)
	for _, v := range ticks(c.x0, c.x1) {
		c.text(c.px(v), c.bottom+14, "middle", short(v))
	}
	c.text((c.left+c.right)/2, c.height-4, "middle", shortened(a.Name, 20)+" →, ↑ "+shortened(b.Name, 20))
	for k := range a.Chains {
		n := min(len(a.Chains[k]), len(b.Chains[k]))
		for i := 0; i < n; i += max(1, n*len(a.Chains)/most) {
			c.dot("draw "+colour(k), a.Chains[k][i], b.Chains[k][i], 1.6)
		}
	}
	return c.done()
}

// extent is the range of all finite draws.
func extent(chains [][]float64) (lo, hi float64) {
	all := pooled(chains)
	if len(all) == 0 {
		return 0, 1
	}
	return all[0], all[len(all)-1]
}

// pooled is all finite draws, sorted.
func pooled(chains [][]float64) []float64 {
	var all []float64
	for _, chain := range chains {
		for _, v := range chain {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				all = append(all, v)
			}
		}
	}
	slices.Sort(all)
	return all
}

// histogram is a density estimate on equal bins of [lo, hi].
func histogram(values []float64, lo, hi float64, bins int) []float64 {
	density := make([]float64, bins)
	for _, v := range values {
		if i := int(math.Floor((v - lo) / (hi - lo) * float64(bins))); i >= 0 && i < bins {
			density[i] += float64(bins) / (hi - lo) / float64(len(values))
		}
	}
	return density
}

// shortened cuts a long name in the middle.
func shortened(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most/2]) + "…" + string(r[len(r)-most/2+1:])
}
