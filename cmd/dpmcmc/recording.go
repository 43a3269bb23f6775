package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/internal/runs"
	"github.com/dpmcmc/dpmcmc/kernels/draws"
	"github.com/dpmcmc/dpmcmc/kernels/journal"
	"github.com/dpmcmc/dpmcmc/ledger"
)

// record begins the journal of a run that was charged.
func (s *sampleSettings) record(
	flags *pflag.FlagSet, session *chains.Session, sink *draws.Sink,
) (*runs.Recording, error) {
	set := session.Plan.Settings
	settings, err := json.Marshal(set)
	if err != nil {
		return nil, err
	}
	cost, err := session.Plan.Cost()
	if err != nil {
		return nil, err
	}
	event, err := json.Marshal(cost)
	if err != nil {
		return nil, err
	}
	h := journal.Head{
		Run: s.accounts.Note.Run, Flags: s.kept(flags), Settings: settings, Event: event,
		Chains: int(set.Chains), Iterations: set.Iterations, Thin: s.thin,
	}
	if h.Run == "" {
		h.Run = ledger.NewRun()
	}
	j, err := journal.Create(filepath.Join(s.out, runs.JournalFile), h)
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	return runs.NewRecording(j, session, sink), nil
}

// kept are the flags that a run needs to go on: those given, and what stands for those
// that were not.
func (s *sampleSettings) kept(flags *pflag.FlagSet) map[string]string {
	kept := map[string]string{}
	flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"config", "json", "tune", "same-people"}, f.Name) {
			kept[f.Name] = f.Value.String()
		}
	})
	delete(kept, "out") // that is the folder itself, which may have been moved
	kept["data"] = s.data
	if !strings.HasPrefix(s.data, data.BuiltinPrefix) {
		for _, name := range []string{"data", "schema"} {
			if path, err := filepath.Abs(kept[name]); err == nil {
				kept[name] = path
			}
		}
	}
	kept["epsilon"], kept["delta"] = strconv.FormatFloat(s.epsilon, 'g', -1, 64), strconv.FormatFloat(s.delta, 'g', -1, 64)
	kept["thin"] = strconv.FormatInt(s.thin, 10)
	return kept
}
