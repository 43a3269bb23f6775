package runs

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/stancsv"
)

// Warmup is the share of each chain that summaries leave out, as a flag.
type Warmup struct {
	Share float64
	Given bool
}

// DefaultWarmup says what stands for a warm-up that is not given.
const DefaultWarmup = "by default 0.5, and 0.25 of anchored chains, which start near their posterior"

// Set reads the share.
func (w *Warmup) Set(text string) error {
	share, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("%q is not a number", text)
	}
	*w = Warmup{share, true}
	return nil
}

// String implements pflag.Value.
func (w *Warmup) String() string {
	if w == nil || !w.Given {
		return ""
	}
	return strconv.FormatFloat(w.Share, 'g', -1, 64)
}

// Type is what --help calls it.
func (w *Warmup) Type() string { return "float" }

// Check reports a share out of range.
func (w Warmup) Check() error {
	if !(w.Share >= 0 && w.Share < 1) {
		return fmt.Errorf("--warmup is %v; it is the share of each chain to leave out, in [0, 1)", w.Share)
	}
	return nil
}

// Over is the share of chains with these settings.
func (w Warmup) Over(s chains.Settings) float64 {
	if w.Given {
		return w.Share
	}
	return s.Warmup()
}

// Foreseen is the share for forecasts, which take zero for the default.
func (w Warmup) Foreseen() float64 {
	if w.Given {
		return max(w.Share, math.SmallestNonzeroFloat64)
	}
	return 0
}

// of is the share of a chain with a header: by default what the header says.
func (w Warmup) of(h stancsv.Header) float64 {
	if !w.Given && h.NumWarmup+h.NumSamples > 0 {
		return float64(h.NumWarmup) / float64(h.NumWarmup+h.NumSamples)
	}
	return w.Share
}

// Kept are the draws after warm-up. A chain that was stopped has its share of warm-up.
func (w Warmup) Kept(c *stancsv.Chain) [][]float64 {
	h, draws := c.Header, slices.Concat(c.Warmup, c.Draws)
	if !w.Given && (!h.SaveWarmup || len(draws) == (h.NumWarmup+h.NumSamples)/max(1, h.Thin)) {
		return c.Draws
	}
	return draws[int(w.of(h)*float64(len(draws))):]
}
