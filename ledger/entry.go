package ledger

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// Kind says what an entry records.
type Kind string

// The kinds of entries.
const (
	Opened  Kind = "opened" // the first entry
	Charged Kind = "charge" // releases that were paid for
	Limited Kind = "limit"  // the limit was changed
	File    Kind = "file"   // a file is about the same people
	// Certified names the certificate of what a run was charged for.
	Certified Kind = "certificate"
	// Resumed says that a run went on, with what it was charged before.
	Resumed Kind = "resumed"
)

const (
	version = 1              // of the file's form
	maxText = 1024           // bytes of a note's text that are kept
	cut     = "…"            // ends a text that was longer
	tail    = `"previous":"` // begins the last field of every entry
)

// Note says who charges what for. Its texts are free and kept up to 1024 bytes.
type Note struct {
	// Who is the person or service that charges.
	Who string `json:"who,omitempty"`
	// Command is what they ran.
	Command string `json:"command,omitempty"`
	// Certificate is the hash of the certificate that states the releases.
	Certificate string `json:"certificate,omitempty"`
	// Run identifies the run whose entries belong together (NewRun).
	Run string `json:"run,omitempty"`
}

// NewRun returns a fresh identifier of a run.
func NewRun() string { return rand.Text() }

// Limit is what a ledger allows and how it adds up.
type Limit struct {
	// Adjacency is that of all charges. Required.
	Adjacency accountant.Adjacency `json:"adjacency"`
	// Epsilon is the most that may be spent; 0 for a ledger that only counts.
	Epsilon float64 `json:"epsilon,omitempty"`
	// Delta in (0, 1) is the total δ. Required.
	Delta float64 `json:"delta"`
	// Failure is the part of Delta for mechanisms that may fail outright, as (ε, δ) ones
	// do. Defaults to 0, which refuses them, with a limit. Without one their failures add
	// to the δ that is reported.
	Failure float64 `json:"failure,omitempty"`
	// Order is the Rényi order > 1 that charges are added up at. By default the first
	// charge sets it, to the one that leaves most to later charges.
	Order float64 `json:"order,omitempty"`
}

// Entry is one line of the accounts. Every entry carries the state after it.
type Entry struct {
	// Number counts entries from 0.
	Number int64     `json:"entry"`
	Kind   Kind      `json:"kind"`
	Time   time.Time `json:"time"`
	Note
	// Event is one release and Count their number, for a charge.
	Event *accountant.Event `json:"event,omitempty"`
	Count int64             `json:"count,omitempty"`
	// Epsilon is what a charge costs alone at the ledger's δ, and Cost its Rényi cost
	// at the ledger's order.
	Epsilon float64 `json:"epsilon,omitempty"`
	Cost    float64 `json:"cost,omitempty"`
	// Failure is the probability that a charge fails outright, beside its Cost.
	Failure float64 `json:"failure,omitempty"`
	// Label names the file of a File entry, and Print is its keyed fingerprint.
	Label string `json:"label,omitempty"`
	Print string `json:"print,omitempty"`
	// KeyHash is the hash of the fingerprints' key, in the first entry.
	KeyHash string `json:"key_hash,omitempty"`
	// Charges, TotalCost and TotalEpsilon are the number of charges so far, their
	// Rényi cost and the ε at the ledger's δ that it stands for.
	Charges      int64   `json:"charges"`
	TotalCost    float64 `json:"total_cost"`
	TotalEpsilon float64 `json:"total_epsilon"`
	// PlainEpsilon and PlainDelta are the sums of Epsilon and of the ledger's δ over all
	// charges so far: basic composition, which is often smaller for few charges.
	PlainEpsilon float64 `json:"plain_epsilon"`
	PlainDelta   float64 `json:"plain_delta"`
	// TotalFailure is the sum of Failure.
	TotalFailure float64 `json:"total_failure,omitempty"`
	// Limit is what the ledger allows from here on.
	Limit Limit `json:"limit"`
	// Version is that of the file's form, in the first entry.
	Version int `json:"version,omitempty"`
	// Previous is the hash of the entry before, empty for the first.
	Previous string `json:"previous"`
}

// encode returns an entry as it is kept.
func (e Entry) encode() ([]byte, error) {
	raw, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("ledger: entry %d cannot be written: %w", e.Number, err)
	}
	return raw, nil
}

// decode reads an entry as it is kept.
func decode(raw []byte) (Entry, error) {
	var e Entry
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return Entry{}, err
	}
	if dec.More() {
		return Entry{}, fmt.Errorf("text follows the entry")
	}
	return e, e.Limit.check()
}

// hash is that of an entry as it is kept.
func hash(raw []byte) string {
	h := sha256.Sum256(raw)
	return hex.EncodeToString(h[:])
}

// follows reports whether an entry as it is kept names the hash of the one before.
// The field is the last one, so that a long chain is checked without decoding it.
func follows(raw []byte, previous string) bool {
	return bytes.HasSuffix(raw, []byte(tail+previous+`"}`))
}

// short cuts a note's texts and makes them valid UTF-8.
func (n Note) short() Note {
	for _, s := range []*string{&n.Who, &n.Command, &n.Certificate, &n.Run} {
		*s = shorten(*s)
	}
	return n
}

func shorten(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxText {
		return s
	}
	end := maxText - len(cut)
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + cut
}
