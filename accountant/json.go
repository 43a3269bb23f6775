package accountant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode"
)

// documentVersion is the version of the JSON form. A document without one is
// read as this version; kinds and fields never change meaning within it.
const documentVersion = 1

// document is the JSON form of an Event.
type document struct {
	Version   int               `json:"version,omitempty"`
	Adjacency Adjacency         `json:"adjacency"`
	Events    []json.RawMessage `json:"events"`
}

// MarshalJSON writes {"version":1,"adjacency":…,"events":[…]}, one entry per
// mechanism with its kind, parameters and count. The zero Event is an error.
func (e Event) MarshalJSON() ([]byte, error) {
	if err := e.valid(); err != nil {
		return nil, err
	}
	entries, err := e.Entries()
	if err != nil {
		return nil, err
	}
	return json.Marshal(document{documentVersion, e.adj, entries})
}

// Entries returns the "events" list of the JSON form.
func (e Event) Entries() ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(e.parts))
	for i, p := range e.parts {
		b, err := p.entry()
		if err != nil {
			return nil, err
		}
		out[i] = b
	}
	return out, nil
}

func (p part) entry() (json.RawMessage, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"kind":%q`, p.m.kind())
	for _, f := range p.m.fields() {
		var value []byte
		var err error
		switch v := f.value.(type) {
		case float64:
			value, err = encodeFloat(v)
		case Event:
			value, err = v.inner()
		default:
			value, err = json.Marshal(v)
		}
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, ",%q:%s", f.name, value)
	}
	if p.count != 1 {
		fmt.Fprintf(&b, `,"count":%d`, p.count)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encodeFloat writes +Inf, which JSON has no number for, as a string.
func encodeFloat(x float64) ([]byte, error) {
	if math.IsInf(x, 1) {
		return []byte(`"inf"`), nil
	}
	return json.Marshal(x)
}

// inner writes an event inside another one: a single entry, or "composed".
func (e Event) inner() (json.RawMessage, error) {
	entries, err := e.Entries()
	if err != nil {
		return nil, err
	}
	if len(entries) == 1 {
		return entries[0], nil
	}
	return json.Marshal(struct {
		Kind   string            `json:"kind"`
		Events []json.RawMessage `json:"events"`
	}{"composed", entries})
}

// UnmarshalJSON reads a document as MarshalJSON writes it, or written by hand
// (the command's --events). Unknown kinds, fields and versions are refused by
// name, as are repeated and missing ones.
func (e *Event) UnmarshalJSON(data []byte) error {
	var d document
	if err := strict(data, &d); err != nil {
		return fmt.Errorf("accountant: events document: %w", err)
	}
	if d.Version != 0 && d.Version != documentVersion {
		return fmt.Errorf("accountant: events document: version %d: this software reads version %d", d.Version,
			documentVersion)
	}
	if d.Adjacency.check() != nil {
		return fmt.Errorf("accountant: events document: \"adjacency\" is required: \"substitute\" or \"add_remove\"")
	}
	if d.Events == nil {
		return fmt.Errorf("accountant: events document: \"events\" is required: a list of events")
	}
	out, err := decodeList(d.Adjacency, d.Events)
	if err != nil {
		return err
	}
	*e = out
	return nil
}

// strict decodes one JSON value, refusing unknown fields and trailing text.
func strict(data []byte, into any) error {
	if err := uniqueKeys(json.NewDecoder(bytes.NewReader(data))); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("unexpected text after the document")
	}
	return nil
}

// folded is one spelling of all those that the decoder takes for one key.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, name)
}

// uniqueKeys reports an object, at any depth, that has a key twice, in upper or
// lower case: the decoder would silently keep the last. Malformed text is left to
// the decoder.
func uniqueKeys(dec *json.Decoder) error {
	type level struct {
		seen map[string]bool // nil in an array
		key  bool            // the next token is a key
	}
	var stack []level
	for {
		token, err := dec.Token()
		if err != nil {
			return nil
		}
		if n := len(stack); n > 0 && stack[n-1].seen != nil {
			top := &stack[n-1]
			if name, ok := token.(string); ok && top.key {
				key := folded(name)
				if top.seen[key] {
					return fmt.Errorf("%q is given twice; give it once", name)
				}
				top.seen[key], top.key = true, false
				continue
			}
			top.key = true
		}
		switch token {
		case json.Delim('{'):
			stack = append(stack, level{map[string]bool{}, true})
		case json.Delim('['):
			stack = append(stack, level{})
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:len(stack)-1]
		}
	}
}

func decodeList(adj Adjacency, entries []json.RawMessage) (Event, error) {
	all := []Event{empty(adj)}
	for i, raw := range entries {
		e, err := decodeEntry(adj, raw)
		if err != nil {
			return Event{}, fmt.Errorf("event %d: %w", i, err)
		}
		all = append(all, e)
	}
	return Compose(all...)
}

// fieldsOf is an entry under decoding; every field must be taken.
type fieldsOf struct {
	kind   string
	values map[string]json.RawMessage
	err    error
}

func decodeEntry(adj Adjacency, raw json.RawMessage) (Event, error) {
	f := &fieldsOf{}
	if err := json.Unmarshal(raw, &f.values); err != nil || f.values == nil {
		return Event{}, fmt.Errorf("accountant: an event must be a JSON object with a \"kind\", found %.40s", raw)
	}
	f.kind = f.text("kind")
	if f.err != nil {
		return Event{}, f.err
	}
	k := kind(f.kind)
	if k == nil {
		return Event{}, fmt.Errorf("accountant: unknown kind %q: known are %s", f.kind, strings.Join(kinds(), ", "))
	}
	count := int64(1)
	if _, ok := f.values["count"]; ok {
		count = f.integer("count")
	}
	e, err := k.read(adj, f)
	switch {
	case f.err != nil:
		return Event{}, f.err
	case len(f.values) > 0:
		return Event{}, fmt.Errorf("accountant: %s: unknown field %q", f.kind, firstKey(f.values))
	case err != nil:
		return Event{}, err
	}
	return e.Times(count)
}

func (f *fieldsOf) take(name string, into any) {
	raw, ok := f.values[name]
	delete(f.values, name)
	if f.err != nil {
		return
	}
	if !ok {
		f.err = fmt.Errorf("accountant: %s: field %q is required", strings.TrimSpace(f.kind+" event"), name)
		return
	}
	if bytes.Equal(raw, []byte("null")) || json.Unmarshal(raw, into) != nil {
		f.err = fmt.Errorf("accountant: %s: field %q has the unusable value %.40s", f.kind, name, raw)
	}
}

func (f *fieldsOf) text(name string) (s string) { f.take(name, &s); return s }

func (f *fieldsOf) integer(name string) (n int64) { f.take(name, &n); return n }

func (f *fieldsOf) number(name string) (x float64) {
	if string(f.values[name]) == `"inf"` {
		delete(f.values, name)
		return math.Inf(1)
	}
	f.take(name, &x)
	return x
}

func (f *fieldsOf) event(adj Adjacency, name string) Event {
	var raw json.RawMessage
	f.take(name, &raw)
	if f.err != nil {
		return Event{}
	}
	e, err := decodeEntry(adj, raw)
	f.err = err
	return e
}
