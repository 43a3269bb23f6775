package stancsv

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// field returns where the value of a key is kept, or nil for a key that Header
// has no field for. The key file stands in two sections.
func (h *Header) field(section, key string) any {
	switch section + "." + key {
	case "data.file":
		return &h.DataFile
	case "output.file":
		return &h.Output
	}
	return map[string]any{
		"stan_version_major": &h.StanVersion[0], "stan_version_minor": &h.StanVersion[1],
		"stan_version_patch": &h.StanVersion[2],
		"model":              &h.Model, "start_datetime": &h.Started,
		"num_samples": &h.NumSamples, "num_warmup": &h.NumWarmup, "save_warmup": &h.SaveWarmup, "thin": &h.Thin,
		"engaged": &h.Adapt.Engaged, "gamma": &h.Adapt.Gamma, "delta": &h.Adapt.Delta, "kappa": &h.Adapt.Kappa,
		"t0":          &h.Adapt.T0,
		"init_buffer": &h.Adapt.InitBuffer, "term_buffer": &h.Adapt.TermBuffer, "window": &h.Adapt.Window,
		"save_metric": &h.Adapt.SaveMetric,
		"algorithm":   &h.Algorithm, "metric": &h.Metric, "max_depth": &h.MaxDepth, "engine": &h.Engine,
		"stepsize":   &h.StepSize,
		"num_chains": &h.NumChains, "id": &h.ID, "init": &h.Init, "seed": &h.Seed,
		"diagnostic_file": &h.DiagnosticFile, "refresh": &h.Refresh, "sig_figs": &h.SigFigs,
	}[key]
}

// set stores the value of a key, and keeps the keys of our own in order.
func (h *Header) set(section, key, value string) error {
	var err error
	switch at := h.field(section, key).(type) {
	case *string:
		*at = value
	case *int:
		*at, err = strconv.Atoi(value)
	case *uint64:
		*at, err = strconv.ParseUint(value, 10, 64)
	case *float64:
		*at, err = strconv.ParseFloat(value, 64)
	case *bool:
		*at, err = strconv.ParseBool(value)
	case *time.Time:
		*at, err = time.Parse(startedLayout, value)
	case nil:
		if strings.HasPrefix(key, extraPrefix) {
			h.Extra = append(h.Extra, Pair{key, value})
		}
	}
	if err != nil {
		return fmt.Errorf("%s = %q cannot be read", key, value)
	}
	return nil
}

// headerLine reads one comment line into h and returns the section it is in.
func (h *Header) headerLine(section, line string) (string, error) {
	text := strings.TrimLeft(line, "# \t")
	key, value, found := strings.Cut(text, "=")
	if !found {
		return strings.TrimSpace(text), nil
	}
	value = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "(Default)"))
	return section, h.set(section, strings.TrimSpace(key), value)
}
