package accountant

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// seeds are documents for the fuzzers: one of every kind, and the published examples.
func seeds(f *testing.F) {
	f.Helper()
	for _, text := range []string{
		`{"adjacency":"substitute","events":[{"kind":"gaussian","noise_multiplier":2.0,"count":100}]}`,
		`{"adjacency":"add_remove","events":[{"kind":"sampled","scheme":"poisson","rate":0.01,` +
			`"event":{"kind":"gaussian","noise_multiplier":1.0},"count":10000}]}`,
		`{"adjacency":"substitute","events":[{"kind":"sampled","scheme":"without_replacement","records":1000,"batch":10,` +
			`"event":{"kind":"bounded_range","range":0.063}}]}`,
		`{"adjacency":"substitute","events":[{"kind":"laplace","noise_multiplier":1.0},{"kind":"pure","epsilon":0.1},` +
			`{"kind":"zcdp","rho":0.01}]}`,
		`{"adjacency":"substitute","events":[{"kind":"composed",` +
			`"events":[{"kind":"approximate","epsilon":0.1,"delta":1e-8}]}]}`,
		`{"adjacency":"substitute","events":[{"kind":"group","rows":3,` +
			`"event":{"kind":"randomized_response","epsilon":0.5,"categories":4}}]}`,
		`{"adjacency":"substitute","events":[{"kind":"substitution","event":{"kind":"gaussian","noise_multiplier":"inf"}}]}`,
		`{"adjacency":"substitute","events":[{"kind":"isotropic_bit","scale":0.1},` +
			`{"kind":"penalty_bit","variance":4,"contribution":0.1},{"kind":"barker_thm2","batch":100}]}`,
		`{"version":2,"adjacency":"","events":null}`, `{"adjacency":"substitute","adjacency":"add_remove","events":[]}`, `[`,
		`null`, "",
	} {
		f.Add([]byte(text))
	}
	paths, err := filepath.Glob(filepath.Join("..", "docs", "events", "*.json"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
}

// FuzzEvent: no document makes the reader panic, and what it accepts is written and
// read again as the same event, with costs that are numbers and not negative.
func FuzzEvent(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		var e Event
		if err := json.Unmarshal(text, &e); err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		if e.adj == 0 { // the JSON null leaves a value as it is
			return
		}
		again, err := json.Marshal(e)
		if err != nil {
			t.Fatalf("%s was read and cannot be written: %v", text, err)
		}
		var o Event
		if err := json.Unmarshal(again, &o); err != nil || !o.Equal(e) {
			t.Fatalf("%s was written as %s: %v", text, again, err)
		}
		if len(e.parts) > 4 || nested(e, 0) {
			return // prices take long
		}
		if rdp := e.RDP(3); math.IsNaN(rdp) || rdp < 0 {
			t.Errorf("%s costs %v at order 3", text, rdp)
		}
	})
}

// nested reports events whose price takes more than microseconds.
func nested(e Event, depth int) bool {
	for _, p := range e.parts {
		if p.memo != nil {
			return true
		}
		for _, f := range p.m.fields() {
			if inner, ok := f.value.(Event); ok && (depth > 2 || nested(inner, depth+1)) {
				return true
			}
		}
	}
	return false
}

// FuzzBudget: no document makes the reader panic, and what it accepts is restored.
func FuzzBudget(f *testing.F) {
	f.Add([]byte(`{"epsilon":1,"delta":1e-6,"spent":{"version":1,"adjacency":"substitute",` +
		`"events":[{"kind":"gaussian","noise_multiplier":20}]}}`))
	f.Add([]byte(`{"epsilon":1,"delta":1e-6,"order":20,"spent":{"adjacency":"add_remove","events":[]}}`))
	f.Add([]byte(`{"epsilon":-1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		b := new(Budget)
		if err := json.Unmarshal(text, b); err != nil || b.config == (BudgetConfig{}) {
			return
		}
		again, err := json.Marshal(b)
		if err != nil {
			t.Fatalf("%s was read and cannot be written: %v", text, err)
		}
		o := new(Budget)
		if err := json.Unmarshal(again, o); err != nil || o.config != b.config || !o.Events().Equal(b.Events()) {
			t.Errorf("%s was written as %s: %v", text, again, err)
		}
	})
}
