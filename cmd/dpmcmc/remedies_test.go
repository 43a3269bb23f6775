package main

import (
	"regexp"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/forecasts"
)

// foreseeShortly makes forecasts on one simulated table, for tests of what they do not change.
func foreseeShortly(t *testing.T) {
	t.Helper()
	usual := forecasts.Tables
	t.Cleanup(func() { forecasts.Tables = usual })
	forecasts.Tables = 1
}

// TestRemediesAreServed: a run that is predicted to show nothing is refused with a simpler model, an ε
// and a number of records, and with each of them by itself it is made.
func TestRemediesAreServed(t *testing.T) {
	foreseeShortly(t)
	sample := func(records, epsilon string, more ...string) (int, string) {
		code, out, errw := plainly(t, append([]string{"sample", "--data", "builtin:logistic?d=1&n=" + records,
			"--epsilon", epsilon, "--delta", "1e-6", "--insecure-seed", "3"}, more...)...)
		return code, errw + out
	}
	beta := []string{"--loss", "beta", "--beta", "1.5"}
	code, said := sample("600", "3", beta...)
	found := regexp.MustCompile(`enough:\n  --loss log without --beta\n  --epsilon (\d+)\n  (\d+) records, at this ε\n`).
		FindStringSubmatch(said)
	if code != exitRefused || found == nil {
		t.Fatalf("exit %d: %s", code, said)
	}
	for name, again := range map[string]func() (int, string){
		"loss":    func() (int, string) { return sample("600", "3") },
		"ε":       func() (int, string) { return sample("600", found[1], beta...) },
		"records": func() (int, string) { return sample(found[2], "3", beta...) },
	} {
		if code, said := again(); code != exitOK {
			t.Errorf("another %s: exit %d: %s", name, code, said)
		}
	}
}
