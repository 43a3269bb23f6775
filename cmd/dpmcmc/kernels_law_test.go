package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/experiment"
	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
	"github.com/dpmcmc/dpmcmc/internal/forecasts"
)

// lawful are flags of every kernel, and of the variants that a kernel's settings make of
// it.
func lawful() []string {
	all := chains.Names()
	return append(all, "penalty --proposal guided", "penalty-ratio --proposal guided", "dphmc --acceptance penalty",
		"dpsgld --schedule polynomial", "dpsgld --as-published", "barker --proposal one-component",
		"barker --batch 300 --fixed-batch --test corrected:2")
}

// TestEveryKernelUnderEveryCommand: whatever the registry of kernels holds is sampled,
// is planned at exactly the price that sample charges, is tuned, and is compared.
func TestEveryKernelUnderEveryCommand(t *testing.T) {
	for _, flags := range lawful() {
		t.Run(flags, func(t *testing.T) {
			kernel, more, _ := strings.Cut(flags, " ")
			given := append([]string{"--kernel", kernel}, strings.Fields(more)...)
			c := certified(t, append(given, "--data", small, "--iterations", "60", "--chains", "2")...)
			if c.Epsilon > 1 || c.Epsilon < 0.98 {
				t.Errorf("sample spends ε = %v of 1", c.Epsilon)
			}
			event, err := c.Event()
			if err != nil {
				t.Fatal(err)
			}
			charged, err := event.Epsilon(c.Delta) // of which the certificate states the least bound
			if p := plan(t, planFlags(c)); err != nil || p.Value != charged.Epsilon || c.Epsilon > p.Value {
				t.Errorf("sample charges ε = %v (%v), plan says %v for %s", charged.Epsilon, err, p.Value, planFlags(c))
			}
			if more != "" {
				return
			}
			k, err := chains.Describe(kernel)
			if err != nil {
				t.Fatal(err)
			}
			start := "--start prior-mean "
			if k.Anchored {
				start = "" // it finds its own
			}
			code, out, errw := call(t.Context(),
				strings.Fields("tune --records 300 --features 2 --model logistic --epsilon 1 --delta 1e-6 --work 1e5 "+
					start+"--coefficient-sd 1 --iterations 60 --json --kernels "+kernel)...)
			var tuned struct{ Candidates []forecasts.Row }
			if err := json.Unmarshal([]byte(out), &tuned); err != nil || code != exitOK || len(tuned.Candidates) == 0 ||
				tuned.Candidates[0].Kernel != kernel {
				t.Errorf("tune: exit code %d, %s %s", code, out, errw)
			}
			m, err := methods.ByName(kernel)
			if err != nil {
				t.Fatal(err)
			}
			offered := map[string]bool{}
			for _, s := range m.Settings {
				offered[s.Name] = true
			}
			for _, v := range chains.Table() {
				if k.Knows(v) && v.Name != "kernel" && !offered[v.Name] {
					t.Errorf("compare does not offer %s of %s", v.Name, kernel)
				}
			}
		})
	}
}

// TestEveryKernelIsCompared: a comparison runs each kernel of the registry on its
// defaults, and gives each a row.
func TestEveryKernelIsCompared(t *testing.T) {
	var text strings.Builder
	text.WriteString("name = \"all\"\nepsilons = [1]\ndelta = 1e-6\nrepeats = 1\n[data]\nsimulate = \"logistic\"\n" +
		"records = [200]\nfeatures = 1\ntest-records = 40\n[model]\nname = \"logistic\"\nprior-sd = 1\n" +
		"[reference]\nchains = 1\nwarmup = 40\ndraws = 40\n")
	for _, kernel := range chains.Names() {
		fmt.Fprintf(&text, "[[method]]\nname = %q\nsettings = { iterations = 20 }\n", kernel)
	}
	config := writeText(t, filepath.Join(t.TempDir(), "all.toml"), text.String())
	code, out, errw := call(t.Context(), "compare", "--config", config, "--json")
	var got experiment.Results
	if err := json.Unmarshal([]byte(out), &got); code != exitOK || err != nil {
		t.Fatalf("exit code %d, %v: %s", code, err, errw)
	}
	drawn := map[string]int{}
	for _, r := range got.Cells {
		if r.Error != "" {
			t.Errorf("%s: %s", r.Method, r.Error)
		}
		drawn[r.Method] = r.Draws
	}
	for _, kernel := range chains.Names() {
		if drawn[kernel] == 0 {
			t.Errorf("%s is compared without a draw", kernel)
		}
	}
}

// planFlags are those that price the run of a certificate.
func planFlags(c chains.Certificate) string {
	flags := fmt.Sprintf("--solve epsilon --epsilon 2 --delta %v --model %s --records %d --radius %v --dimension %d",
		c.Delta, c.Model, c.Records, c.Radius, len(c.Columns))
	for _, s := range c.Settings.Given() {
		switch s.Value {
		case true:
			flags += " --" + s.Name
		default:
			flags += fmt.Sprintf(" --%s %v", s.Name, s.Value)
		}
	}
	return strings.Replace(flags, "--start-share 0.25", "--start-epsilon 0.25", 1) // of the run's ε = 1
}

// TestEveryFlagOfSampleIsPlanned: a setting of sample is one of plan, so that the one
// becomes the other by its verb.
func TestEveryFlagOfSampleIsPlanned(t *testing.T) {
	sample, planned, tuned := newSample().Flags(), newPlan().Flags(), newTune().Flags()
	for _, v := range chains.Table() {
		if sample.Lookup(v.Name) == nil || planned.Lookup(v.Name) == nil {
			t.Errorf("--%s is not a flag of sample and plan", v.Name)
		}
		if tuned.Lookup(v.Name) == nil && tuned.Lookup(v.Name+"s") == nil {
			t.Errorf("--%s is not a flag of tune", v.Name)
		}
		if v.Help == "" {
			t.Errorf("%s has no help", v.Name)
		}
	}
}
