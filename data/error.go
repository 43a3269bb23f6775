package data

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrUnconfirmed is returned for a schema that no person has confirmed. Bounds,
// levels and counts read off the records are not public knowledge.
var ErrUnconfirmed = errors.New("data: the schema is not confirmed: make sure that its bounds, levels and number of " +
	"records are public knowledge and not read off the records, then set confirmed = true")

// Error says what is wrong at one place of a file. It may show a cell, so it is
// for the holder of the data only.
type Error struct {
	File   string // name of the file, as given
	Line   int    // line of the file, from 1; line breaks inside quotes count
	Column int    // byte within the line, from 1
	Name   string // column of the table, or key of a schema, if one is concerned
	Value  string // what was found, in full
	// Found describes what was found when Value alone would not say it.
	Found   string
	Allowed string // what is allowed there
	Do      string // what to do about it
}

// Error returns the message on one line, with a long value cut short.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "data: %s:%d:%d: found ", e.File, e.Line, e.Column)
	if e.Found != "" {
		b.WriteString(e.Found)
	} else {
		b.WriteString(quote(e.Value))
	}
	if e.Name != "" {
		fmt.Fprintf(&b, " in column %s", quote(e.Name))
	}
	fmt.Fprintf(&b, "; allowed: %s; do: %s", e.Allowed, e.Do)
	return b.String()
}

// quote returns s quoted on one line, shortened to what a reader needs.
func quote(s string) string {
	const most = 60
	if len(s) <= most {
		return strconv.Quote(s)
	}
	return strconv.Quote(strings.ToValidUTF8(s[:most], "")) + "…"
}

// quoteList returns the quoted strings separated by commas, shortened to what a
// reader needs.
func quoteList(list []string) string {
	const most = 20
	var b strings.Builder
	for i, s := range list[:min(most, len(list))] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(s))
	}
	if more := len(list) - most; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}
