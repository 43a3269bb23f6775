package stancsv

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Header is what the comment lines before the draws say. NumSamples, Thin and
// NumChains are the fields CmdStan's readers compute with.
type Header struct {
	// StanVersion is the major, minor and patch number of the CmdStan whose file
	// shape this is. Zero is written as 2.36.0.
	StanVersion [3]int
	// Model is the model's name. Required.
	Model string
	// Started is when the run began, in UTC. The zero time leaves the line out.
	Started time.Time
	// NumSamples and NumWarmup count iterations after and during warm-up, before
	// thinning; SaveWarmup says that the warm-up draws are in the file too.
	NumSamples, NumWarmup int
	SaveWarmup            bool
	// Thin is the number of iterations per draw kept. Zero is written as 1.
	Thin int
	// Adapt describes warm-up adaptation; the zero value is written as not engaged.
	Adapt Adapt
	// Algorithm, Metric, MaxDepth, Engine and StepSize describe the sampler, such
	// as dp_barker, unit_e, 0, mh and the public step size. Algorithm is
	// required; an empty Metric is written as unit_e.
	Algorithm, Metric string
	MaxDepth          int
	Engine            string
	StepSize          float64
	// NumChains is the number of chains in this file's process. Zero is written
	// as 1. ID is this chain's number, from 1.
	NumChains, ID int
	// DataFile is the data's path, Init the starting point (a file, or the radius
	// of random ones), Seed a public seed.
	DataFile, Init string
	Seed           uint64
	// Output is this file's path and DiagnosticFile another's; Refresh and SigFigs
	// are CmdStan's settings of these names, for show. A SigFigs of 0 is written
	// as CmdStan's -1: all digits.
	Output, DiagnosticFile string
	Refresh, SigFigs       int
	// Extra holds the keys of our own in their order, after all others. Each
	// starts with dp_; readers take the last of equal keys.
	Extra []Pair
}

// Adapt is CmdStan's block on warm-up adaptation.
type Adapt struct {
	Engaged                        bool
	Gamma, Delta, Kappa, T0        float64
	InitBuffer, TermBuffer, Window int
	SaveMetric                     bool
}

// StanAdapt returns CmdStan's default adaptation settings.
func StanAdapt() Adapt {
	return Adapt{
		Engaged: true, Gamma: 0.05, Delta: 0.8, Kappa: 0.75, T0: 10,
		InitBuffer: 75, TermBuffer: 50, Window: 25,
	}
}

// Pair is one "key = value" line.
type Pair struct{ Key, Value string }

// extraPrefix starts the keys of [Header.Extra].
const extraPrefix = "dp_"

// startedLayout is how CmdStan writes a time.
const startedLayout = "2006-01-02 15:04:05 UTC"

// withDefaults returns h with the documented meaning of its zero values.
func (h Header) withDefaults() Header {
	if h.StanVersion == [3]int{} {
		h.StanVersion = [3]int{2, 36, 0}
	}
	if h.Adapt == (Adapt{}) {
		h.Adapt = StanAdapt()
		h.Adapt.Engaged = false
	}
	h.Metric = cmp.Or(h.Metric, "unit_e")
	h.SigFigs = cmp.Or(h.SigFigs, -1)
	h.Thin = max(h.Thin, 1)
	h.NumChains = max(h.NumChains, 1)
	return h
}

// check returns why h cannot be written.
func (h Header) check() error {
	if h.Model == "" || h.Algorithm == "" {
		return fmt.Errorf("stancsv: the header has model %q and algorithm %q, and needs both: readers look for them", h.Model,
			h.Algorithm)
	}
	if h.NumSamples < 0 || h.NumWarmup < 0 || h.Thin < 0 || h.NumChains < 0 {
		return fmt.Errorf("stancsv: num_samples %d, num_warmup %d, thin %d, num_chains %d: none can be negative",
			h.NumSamples, h.NumWarmup, h.Thin, h.NumChains)
	}
	for _, value := range []string{h.Model, h.Algorithm, h.Metric, h.Engine, h.DataFile, h.Init, h.Output,
		h.DiagnosticFile} {
		if strings.ContainsFunc(value, unicode.IsControl) {
			return fmt.Errorf("stancsv: the header value %q has a control character, which would break its line; remove it",
				value)
		}
	}
	for _, extra := range h.Extra {
		if !strings.HasPrefix(extra.Key, extraPrefix) || strings.ContainsFunc(extra.Key, notKeyRune) {
			return fmt.Errorf("stancsv: the header key %q must be %s followed by letters, digits and _", extra.Key, extraPrefix)
		}
		if strings.ContainsFunc(extra.Value, unicode.IsControl) {
			return fmt.Errorf("stancsv: the header value %q of %s has a control character, "+
				"which would break its line; remove it", extra.Value, extra.Key)
		}
	}
	return nil
}

// notKeyRune reports whether r may not stand in a key.
func notKeyRune(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

// The columns in which CmdStan nests header lines.
const (
	top   = ""
	inner = "  "
	deep  = "    "
	adapt = "      "
	hmc   = "        "
)

// appendTo appends the header's lines to b, marking values that are CmdStan's
// defaults as CmdStan does.
func (h Header) appendTo(b []byte) []byte {
	h = h.withDefaults()
	block := func(indent, name string) { b = fmt.Appendf(b, "# %s%s\n", indent, name) }
	set := func(indent, key, value string) { b = fmt.Appendf(b, "# %s%s = %s\n", indent, key, value) }
	def := func(indent, key, value, standard string) {
		if value == standard {
			value += " (Default)"
		}
		set(indent, key, value)
	}
	set(top, "stan_version_major", strconv.Itoa(h.StanVersion[0]))
	set(top, "stan_version_minor", strconv.Itoa(h.StanVersion[1]))
	set(top, "stan_version_patch", strconv.Itoa(h.StanVersion[2]))
	set(top, "model", h.Model)
	if !h.Started.IsZero() {
		set(top, "start_datetime", h.Started.UTC().Format(startedLayout))
	}
	def(top, "method", "sample", "sample")
	block(inner, "sample")
	def(deep, "num_samples", strconv.Itoa(h.NumSamples), "1000")
	def(deep, "num_warmup", strconv.Itoa(h.NumWarmup), "1000")
	def(deep, "save_warmup", bit(h.SaveWarmup), "0")
	def(deep, "thin", strconv.Itoa(h.Thin), "1")
	block(deep, "adapt")
	standard := StanAdapt()
	def(adapt, "engaged", bit(h.Adapt.Engaged), bit(standard.Engaged))
	def(adapt, "gamma", number(h.Adapt.Gamma), number(standard.Gamma))
	def(adapt, "delta", number(h.Adapt.Delta), number(standard.Delta))
	def(adapt, "kappa", number(h.Adapt.Kappa), number(standard.Kappa))
	def(adapt, "t0", number(h.Adapt.T0), number(standard.T0))
	def(adapt, "init_buffer", strconv.Itoa(h.Adapt.InitBuffer), strconv.Itoa(standard.InitBuffer))
	def(adapt, "term_buffer", strconv.Itoa(h.Adapt.TermBuffer), strconv.Itoa(standard.TermBuffer))
	def(adapt, "window", strconv.Itoa(h.Adapt.Window), strconv.Itoa(standard.Window))
	def(adapt, "save_metric", bit(h.Adapt.SaveMetric), bit(standard.SaveMetric))
	set(deep, "algorithm", h.Algorithm)
	set(hmc, "metric", h.Metric)
	set(hmc, "max_depth", strconv.Itoa(h.MaxDepth))
	set(hmc, "engine", h.Engine)
	set(hmc, "stepsize", number(h.StepSize))
	def(deep, "num_chains", strconv.Itoa(h.NumChains), "1")
	set(top, "id", strconv.Itoa(h.ID))
	block(top, "data")
	set(inner, "file", h.DataFile)
	def(top, "init", h.Init, "2")
	block(top, "random")
	set(inner, "seed", strconv.FormatUint(h.Seed, 10))
	block(top, "output")
	set(inner, "file", h.Output)
	def(inner, "diagnostic_file", h.DiagnosticFile, "")
	def(inner, "refresh", strconv.Itoa(h.Refresh), "100")
	def(inner, "sig_figs", strconv.Itoa(h.SigFigs), "-1")
	for _, extra := range h.Extra {
		set(top, extra.Key, extra.Value)
	}
	return b
}

// bit writes a boolean as CmdStan does.
func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// number writes the shortest text that reads back as x.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
