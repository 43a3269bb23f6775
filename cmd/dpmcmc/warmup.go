package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/stancsv"
)

// warmup is the share of each chain that summaries leave out, as a flag.
type warmup struct {
	share float64
	given bool
}

const defaultWarmup = "by default 0.5, and 0.25 of anchored chains, which start near their posterior"

// Set, String and Type make a flag of it.
func (w *warmup) Set(text string) error {
	share, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("%q is not a number", text)
	}
	*w = warmup{share, true}
	return nil
}

func (w *warmup) String() string {
	if w == nil || !w.given {
		return ""
	}
	return strconv.FormatFloat(w.share, 'g', -1, 64)
}

func (w *warmup) Type() string { return "float" }

func (w warmup) check() error {
	if !(w.share >= 0 && w.share < 1) {
		return fmt.Errorf("--warmup is %v; it is the share of each chain to leave out, in [0, 1)", w.share)
	}
	return nil
}

// over is the share of chains with these settings.
func (w warmup) over(s chains.Settings) float64 {
	if w.given {
		return w.share
	}
	return s.Warmup()
}

// foreseen is the share for forecasts, which take zero for the default.
func (w warmup) foreseen() float64 {
	if w.given {
		return max(w.share, math.SmallestNonzeroFloat64)
	}
	return 0
}

// of is the share of a chain with a header: by default what the header says.
func (w warmup) of(h stancsv.Header) float64 {
	if !w.given && h.NumWarmup+h.NumSamples > 0 {
		return float64(h.NumWarmup) / float64(h.NumWarmup+h.NumSamples)
	}
	return w.share
}

// kept are the draws after warm-up. A chain that was stopped has its share of warm-up.
func (w warmup) kept(c *stancsv.Chain) [][]float64 {
	h, draws := c.Header, slices.Concat(c.Warmup, c.Draws)
	if !w.given && (!h.SaveWarmup || len(draws) == (h.NumWarmup+h.NumSamples)/max(1, h.Thin)) {
		return c.Draws
	}
	return draws[int(w.of(h)*float64(len(draws))):]
}
