package methods

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/chains"
)

// TestChainSettings: warm-up is left out, thinning thins, chains begin where they
// are told, and every state is one of the whole run's.
func TestChainSettings(t *testing.T) {
	p, rows := problem(t, "logistic", 200)
	m, err := ByName("barker")
	if err != nil {
		t.Fatal(err)
	}
	run := func(given map[string]any) [][][]float64 {
		t.Helper()
		given["iterations"], given["start"], given["proposal"] = int64(60), "4,-3", "truncated:5"
		mech, err := m.New(p, Budget{Epsilon: 1, Delta: 1e-5}, given)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(mech.Choice, "60 iterations") {
			t.Errorf("chosen: %s", mech.Choice)
		}
		r, err := mech.Run(t.Context(), rows, Seeded([32]byte{5}))
		if err != nil {
			t.Fatal(err)
		}
		return r.Chains
	}
	whole := run(map[string]any{"warmup": 0.0, "thin": int64(1)})
	if len(whole) != 1 || len(whole[0]) != 60 || math.Abs(whole[0][0][0]-4) > 1 || math.Abs(whole[0][0][1]+3) > 1 {
		t.Fatalf("%d chains, %d states, the first at %v; want 60 from (4, −3) on", len(whole), len(whole[0]), whole[0][0])
	}
	if got := run(map[string]any{"warmup": 0.25, "thin": int64(1)}); !reflect.DeepEqual(got[0], whole[0][15:]) {
		t.Errorf("a quarter of warm-up leaves %d states, want the last 45", len(got[0]))
	}
	thinned := run(map[string]any{"warmup": 0.5, "thin": int64(10)})
	if len(thinned[0]) != 3 || !reflect.DeepEqual(thinned[0][2], whole[0][59]) {
		t.Errorf("every tenth state after half is %d states ending in %v, want 3 ending in %v", len(thinned[0]), thinned[0],
			whole[0][59])
	}
	if two := run(map[string]any{"chains": int64(2)}); len(two) != 2 || reflect.DeepEqual(two[0], two[1]) {
		t.Error("two chains are one")
	}
}

// TestChainsMayBuyTheirStart: by default logistic chains do, within the budget.
func TestChainsMayBuyTheirStart(t *testing.T) {
	p, _ := problem(t, "logistic", 500)
	for start, want := range map[string]string{"auto": "start: optimum", "gradient": "start: gradient",
		"prior-mean": "start: prior-mean"} {
		mech, err := mustName(t, "barker").New(p, Budget{Epsilon: 1, Delta: 1e-5},
			map[string]any{"start": start, "iterations": int64(100)})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(mech.Choice, want) {
			t.Errorf("start = %q: chosen %q", start, mech.Choice)
		}
		if g, err := mech.Cost.Epsilon(1e-5); err != nil || !(g.Epsilon <= 1) {
			t.Errorf("start = %q costs %v, error %v", start, g.Epsilon, err)
		}
	}
}

// TestChainLoss: a chain may have a loss of its own, and its price follows.
func TestChainLoss(t *testing.T) {
	p, _ := problem(t, "linear", 200) // normal errors: the log loss has no bound, β loss has
	m := mustName(t, "barker")
	if _, err := m.New(p, Budget{Epsilon: 1, Delta: 1e-5},
		map[string]any{"loss": "beta", "beta": 1.5, "iterations": int64(50)}); err != nil {
		t.Error(err)
	}
	for _, given := range []map[string]any{{"loss": "beta"}, {"beta": 1.5}, {"loss": "log", "beta": 1.5},
		{"loss": "hinge"}, {"loss": "beta", "beta": 0.5}} {
		if _, err := m.New(p, Budget{Epsilon: 1, Delta: 1e-5}, given); err == nil {
			t.Errorf("%v was accepted", given)
		}
	}
	if got := kernelSettings("barker", settings{"temperature": 0.25, "start": "auto"}); got !=
		(chains.Settings{Kernel: "barker", Temperature: 0.25, Start: "auto"}) {
		t.Errorf("settings %+v", got)
	}
}

func mustName(t *testing.T, name string) *Method {
	t.Helper()
	m, err := ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
