package runs

import (
	"strings"
	"testing"
)

// TestDecodeEventsSaysWhere: errors name the file, and the line and the column, in characters,
// of the text or of the innermost event that is wrong.
func TestDecodeEventsSaysWhere(t *testing.T) {
	const head = `{"adjacency":"substitute","events":[`
	for name, c := range map[string]struct{ text, want string }{
		"empty":            {" \n\t", "standard input is empty"},
		"malformed":        {head + "\n {\"kind\":\"pure\",}]}", "standard input:2:17: "},
		"cut off":          {head, "standard input:1:36: "},
		"trailing":         {head + "]} x", "standard input:1:40: "},
		"a list":           {"[1]", "found a JSON array"},
		"events an object": {`{"adjacency":"substitute","events":{}}`, ":1:36: found a JSON object"},
		"NaN":              {head + `{"kind":"pure","epsilon":NaN}]}`, ":1:62: "},
		"unknown kind": {head + "\n {\"kind\":\"pure\",\"epsilon\":1},\n   {\"kind\":\"guassian\"}]}",
			`:3:4: event 1: accountant: unknown kind "guassian"`},
		"unknown field": {head + `{"kind":"pure","epsilon":1,"eps":2}]}`,
			`:1:37: event 0: accountant: pure: unknown field "eps"`},
		"nested": {head +
			"{\"kind\":\"composed\",\"events\":[{\"kind\":\"pure\",\"epsilon\":1},\n{\"kind\":\"pure\"}]}]}",
			`:2:1: event 0: event 1: `},
		"under substitution": {head + "{\"kind\":\"substitution\",\"event\":\n  {\"kind\":\"pure\",\"epsilon\":-1}}]}",
			`:2:3: `},
		"no adjacency":    {`{"events":[]}`, `"adjacency" is required`},
		"other adjacency": {`{"adjacency":"swap","events":[]}`, `adjacency "swap"`},
		"no events":       {`{"adjacency":"substitute"}`, `"events" is required`},
		"negative noise":  {head + `{"kind":"gaussian","noise_multiplier":-2}]}`, "noise multiplier -2"},
		"rate above 1": {head +
			`{"kind":"sampled","scheme":"poisson","rate":1.5,"event":{"kind":"gaussian","noise_multiplier":1}}]}`, "rate 1.5"},
		"batch too large": {head +
			`{"kind":"sampled","scheme":"without_replacement","records":10,"batch":11,"event":{"kind":"pure","epsilon":1}}]}`,
			"batch 11"},
		"negative count": {head + `{"kind":"pure","epsilon":1,"count":-1}]}`, "count -1"},
	} {
		if _, err := DecodeEvents("standard input", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
	marked := "\xef\xbb\xbf" + head + `{"kind":"pure","epsilon":1}]}` // the byte order mark of Windows editors
	if e, err := DecodeEvents("events.json", []byte(marked)); err != nil || len(e.Mechanisms()) != 1 {
		t.Errorf("%v, %v", e, err)
	}
}
