package accountant

import (
	"encoding/json"
	"strings"
	"testing"
)

// contract is the input printed in the command's contract (cli.md).
const contract = `{"adjacency":"substitute","events":[
 {"kind":"gaussian","noise_multiplier":2.0,"count":100},
 {"kind":"sampled","scheme":"poisson","rate":0.01,"event":{"kind":"gaussian","noise_multiplier":1.0},"count":10000},
 {"kind":"sampled","scheme":"without_replacement","records":1000000,"batch":1000,
  "event":{"kind":"bounded_range","range":0.063},"count":20000},
 {"kind":"laplace","noise_multiplier":1.0},{"kind":"pure","epsilon":0.1},{"kind":"zcdp","rho":0.01},
 {"kind":"randomized_response","epsilon":0.5},{"kind":"composed","events":[{"kind":"zcdp","rho":0.5}]},
 {"kind":"approximate","epsilon":0.1,"delta":1e-8}]}`

func TestJSONContract(t *testing.T) {
	var e Event
	if err := json.Unmarshal([]byte(contract), &e); err != nil {
		t.Fatal(err)
	}
	poisson, _ := poisson(0.01)
	fixed, _ := withoutReplacement(1_000_000, 1000)
	want := must(Compose(
		must(must(Gaussian(Substitute, 2)).Times(100)),
		must(must(must(Gaussian(Substitute, 1)).on(poisson)).Times(10000)),
		must(must(must(BoundedRange(Substitute, 0.063)).on(fixed)).Times(20000)),
		must(Laplace(Substitute, 1)), must(Pure(Substitute, 0.1)), must(ZCDP(Substitute, 0.01)),
		must(RandomizedResponse(Substitute, 0.5, 2)), must(ZCDP(Substitute, 0.5)), must(Approximate(Substitute, 0.1, 1e-8))))
	if !e.Equal(want) {
		t.Errorf("read %v, want %v", e, want)
	}
	if len(e.Mechanisms()) != 9 || e.Mechanisms()[1].Inner.Mechanisms()[0].Kind != "gaussian" ||
		e.Mechanisms()[1].sampling != poisson {
		t.Errorf("mechanisms %+v", e.Mechanisms())
	}
}

func TestJSONRefusals(t *testing.T) {
	for _, c := range []struct{ text, named string }{
		{`{"adjacency":"substitute","events":[{"kind":"gausian","noise_multiplier":1}]}`, `"gausian"`},
		{`{"adjacency":"substitute","events":[{"kind":"gaussian","noise":1}]}`, `"noise_multiplier"`},
		{`{"adjacency":"substitute","events":[{"kind":"gaussian","noise_multiplier":1,"sigma":2}]}`, `"sigma"`},
		{`{"adjacency":"substitute","events":[{"kind":"gaussian","noise_multiplier":"1"}]}`, `"noise_multiplier"`},
		{`{"adjacency":"substitute","events":[{"kind":"gaussian","noise_multiplier":null}]}`, `"noise_multiplier"`},
		{`{"adjacency":"substitute","events":[{"kind":"gaussian","noise_multiplier":-1}]}`, `-1`},
		{`{"adjacency":"substitute","events":[{"kind":"gaussian","noise_multiplier":1,"count":1.5}]}`, `"count"`},
		{`{"adjacency":"substitute","events":[{"kind":"gaussian","noise_multiplier":1,"count":-5}]}`, `-5`},
		{`{"adjacency":"substitute","events":[{"noise_multiplier":1}]}`, `"kind"`},
		{`{"adjacency":"substitute","events":[1]}`, `"kind"`},
		{`{"adjacency":"substitute","events":[null]}`, `"kind"`},
		{`{"adjacency":"replace","events":[]}`, `"replace"`},
		{`{"events":[]}`, `adjacency`},
		{`{"adjacency":"substitute"}`, `"events"`},
		{`{"adjacency":"substitute","events":[],"orders":[2]}`, `orders`},
		{`{"version":2,"adjacency":"substitute","events":[]}`, `version 2`},
		{`{"adjacency":"substitute","events":[]} x`, `x`},
		{`{"adjacency":"add_remove","events":[{"kind":"barker_thm2","batch":1000}]}`, `barker_thm2`},
		{`{"adjacency":"add_remove","events":[{"kind":"substitution","event":{"kind":"zcdp","rho":1}}]}`, `substitution`},
		{`{"adjacency":"substitute","events":[{"kind":"sampled","scheme":"shuffle",` +
			`"event":{"kind":"zcdp","rho":1}}]}`, `"shuffle"`},
		{`{"adjacency":"substitute","events":[{"kind":"sampled","scheme":"poisson","rate":2,` +
			`"event":{"kind":"zcdp","rho":1}}]}`, `rate 2`},
		{`{"adjacency":"substitute","events":[{"kind":"sampled","scheme":"poisson","rate":0.5,` +
			`"event":{"kind":"zcdp","rho":1}}]}`, `Substitution`},
		{`{"adjacency":"substitute","events":[{"kind":"sampled","scheme":"without_replacement","records":5,"batch":6,` +
			`"event":{"kind":"zcdp","rho":1}}]}`, `batch 6`},
		{`{"adjacency":"substitute","events":[{"kind":"sampled","scheme":"poisson","rate":0.5,"batch":6,` +
			`"event":{"kind":"gaussian","noise_multiplier":1}}]}`, `"batch"`},
	} {
		var e Event
		err := json.Unmarshal([]byte(c.text), &e)
		if err == nil {
			t.Errorf("%s: no error", c.text)
		} else if !strings.Contains(err.Error(), c.named) {
			t.Errorf("%s: error %q does not name %s", c.text, err, c.named)
		}
	}
	if _, err := json.Marshal(Event{}); err == nil {
		t.Error("the zero Event was written")
	}
}

// TestRepeatedKeysAreRefused, at any depth; equal keys of different objects are
// not repeated.
func TestRepeatedKeysAreRefused(t *testing.T) {
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{`{"adjacency":"substitute","adjacency":"add_remove","events":[]}`, false},
		{`{"adjacency":"substitute","events":[{"kind":"gaussian","noise_multiplier":1,"noise_multiplier":2}]}`, false},
		{`{"adjacency":"substitute","events":[{"kind":"gaussian","noise_multiplier":1}],"EVENTS":[]}`, false},
		{`{"adjacency":"substitute","events":[{"kind":"gaussian","noise_multiplier":1}],"event\u017f":[]}`, false},
		{`{"adjacency":"substitute","events":[{"kind":"gaussian","noise_multiplier":1},` +
			`{"kind":"gaussian","noise_multiplier":1}]}`, true},
	} {
		var e Event
		if err := json.Unmarshal([]byte(c.text), &e); (err == nil) != c.ok {
			t.Errorf("%s: error %v", c.text, err)
		}
	}
}

// TestKindsStateTheirParameters: a kind reads the parameters that it lists, and asks for
// those that may not be left out.
func TestKindsStateTheirParameters(t *testing.T) {
	inner := `{"kind":"gaussian","noise_multiplier":4}`
	values := map[string]string{"event": inner, "events": "[" + inner + "]", "scheme": `"poisson"`, "delta": "1e-9",
		"rate": "0.1", "noise_multiplier": "4", "categories": "3", "batch": "1000", "records": "100000", "rows": "2",
		"dimension": "2", "steps": "20"}
	document := func(k jsonKind, leave string) string {
		fields := []string{`"kind":"` + k.name + `"`}
		for _, p := range k.parameters {
			name, _ := strings.CutSuffix(p, "?")
			v, ok := values[name]
			if !ok {
				v = "0.25"
			}
			if k.name == "sampled" && (name == "records" || name == "batch") || name == leave {
				continue
			}
			fields = append(fields, `"`+name+`":`+v)
		}
		return `{"adjacency":"substitute","events":[{` + strings.Join(fields, ",") + `}]}`
	}
	for _, k := range registry {
		var e Event
		if err := e.UnmarshalJSON([]byte(document(k, ""))); err != nil {
			t.Errorf("%s: %v", k.name, err)
		}
		for _, p := range k.parameters {
			name, optional := strings.CutSuffix(p, "?")
			err := e.UnmarshalJSON([]byte(document(k, name)))
			if !optional && (err == nil || !strings.Contains(err.Error(), `field "`+name+`" is required`)) {
				t.Errorf("%s without %s: %v", k.name, name, err)
			}
		}
	}
}
