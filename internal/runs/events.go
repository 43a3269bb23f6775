package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"unicode/utf8"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/ledger"
)

// DecodeEvents reads an events document. Errors name the file, and the line and
// the column of the text, or of the event, that is wrong.
func DecodeEvents(name string, text []byte) (accountant.Event, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(text)) == 0 {
		return accountant.Event{}, fmt.Errorf(`--events: %s is empty; it must hold {"adjacency":"substitute","events":[…]}`,
			name)
	}
	if c, ok := AsCertificate(text); ok {
		return certifiedEvents(name, c)
	}
	var e accountant.Event
	err := e.UnmarshalJSON(text)
	if err == nil {
		return e, nil
	}
	line, column := position(text, errorOffset(text, err))
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		err = fmt.Errorf(`found a JSON %s; the document has the form {"adjacency":"substitute","events":[…]}`, mismatch.Value)
	}
	if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
		err = fmt.Errorf(`found no JSON (%w); it must hold {"adjacency":"substitute","events":[…]}, as a run's `+
			`certificate.json does`, syntax)
	}
	return accountant.Event{}, fmt.Errorf("--events: %s:%d:%d: %w", name, line, column, err)
}

// AsCertificate reads a run's certificate, if the text is one.
func AsCertificate(text []byte) (c chains.Certificate, ok bool) {
	err := json.Unmarshal(text, &c)
	return c, err == nil && c.SoftwareVersion != "" && c.Kernel != ""
}

// certifiedEvents are the releases of a run.
func certifiedEvents(name string, c chains.Certificate) (e accountant.Event, err error) {
	if c.Insecure {
		return e, fmt.Errorf("--events: %s is of a run with --insecure-seed, which is not private at any ε", name)
	}
	if e, err = c.Event(); err != nil {
		return e, fmt.Errorf("--events: the certificate %s: %w", name, err)
	}
	return e, nil
}

// errorOffset finds where in the text an error arose.
func errorOffset(text []byte, err error) int {
	var raw json.RawMessage
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(text, &raw), &syntax) {
		return max(0, int(syntax.Offset)-1)
	}
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return max(0, int(mismatch.Offset)-1)
	}
	var head struct {
		Adjacency accountant.Adjacency `json:"adjacency"`
	}
	start := len(text) - len(bytes.TrimLeft(text, " \t\r\n"))
	if json.Unmarshal(text, &head) != nil || head.Adjacency == 0 {
		return start
	}
	return culprit(head.Adjacency, text, start)
}

// culprit descends from an object that is in error at an offset to the innermost
// event in it that is wrong by itself.
func culprit(adj accountant.Adjacency, object []byte, offset int) int {
	var head struct {
		Kind string `json:"kind"`
	}
	if json.Unmarshal(object, &head) == nil && head.Kind == "substitution" {
		adj = accountant.AddRemove
	}
	object = bytes.TrimLeft(object, " \t\r\n")
	for _, inner := range innerEvents(object) {
		alone, err := json.Marshal(map[string]any{"adjacency": adj, "events": []json.RawMessage{inner.text}})
		if err != nil || new(accountant.Event).UnmarshalJSON(alone) != nil {
			return culprit(adj, inner.text, offset+inner.offset)
		}
	}
	return offset
}

// value is a JSON value and where it starts in the text around it.
type value struct {
	text   json.RawMessage
	offset int
}

// innerEvents lists the values of an object's "event" and "events".
func innerEvents(object []byte) []value {
	var out []value
	dec := json.NewDecoder(bytes.NewReader(object))
	next := func() (v value, ok bool) {
		if !dec.More() || dec.Decode(&v.text) != nil {
			return value{}, false
		}
		v.offset = int(dec.InputOffset()) - len(v.text)
		return v, true
	}
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return out
		}
		v, ok := next()
		switch {
		case !ok:
			return out
		case key == "event":
			out = append(out, v)
		case key == "events":
			out = append(out, elements(v)...)
		}
	}
	return out
}

// elements lists an array's values.
func elements(array value) []value {
	var out []value
	dec := json.NewDecoder(bytes.NewReader(array.text))
	if open, err := dec.Token(); err != nil || open != json.Delim('[') {
		return nil
	}
	for dec.More() {
		var v value
		if dec.Decode(&v.text) != nil {
			return out
		}
		v.offset = array.offset + int(dec.InputOffset()) - len(v.text)
		out = append(out, v)
	}
	return out
}

// position turns an offset into a line and a column, both from 1; the column
// counts characters.
func position(text []byte, offset int) (line, column int) {
	before := text[:min(offset, len(text))]
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
}

// CheckCertificate checks that the charges which a certificate names paid for what it
// states, and that the ledger has its hash.
func CheckCertificate(l *ledger.Ledger, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	c, ok := AsCertificate(text)
	if !ok {
		return fmt.Errorf("it is not the certificate of a run")
	}
	event, err := c.Event()
	if err != nil {
		return err
	}
	if c.Ledger == nil {
		return fmt.Errorf("it names no ledger: the run kept no accounts (--no-ledger, or simulated data)")
	}
	r, err := l.Run(c.Ledger.Run)
	if err != nil {
		return err
	}
	if r.ID != c.Ledger.ID {
		return fmt.Errorf("the run was charged to another ledger, which was called %s then", c.Ledger.File)
	}
	if err := r.Covers(event, c.Ledger.Entries); err != nil {
		return err
	}
	if hash := ledger.CertificateHash(text); hash != r.Certificate {
		return fmt.Errorf("its hash is %.12s…, and the ledger has %.12s… for the run: "+
			"the file was changed, or is an older one",
			hash, r.Certificate)
	}
	return nil
}
