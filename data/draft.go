package data

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What a draft makes of texts that are not numbers: more different ones, or longer
// ones, are taken for names or notes.
const (
	maxLevels = 20
	maxLevel  = 100
)

// draftWarning stands above every draft.
const draftWarning = `# WARNING: DRAFT READ OFF THE DATA. NOT PUBLIC KNOWLEDGE, NOT PRIVATE.
#
# The bounds, levels, labels and the number of records below were read off the
# records. A bound that is the largest value in the table gives that record away,
# and every guarantee of a private analysis assumes that this file says nothing
# about the records. Do not share this draft.
#
# For each line, write down what you knew before you saw the data: what the
# questionnaire, the instrument or the law allows. Then set confirmed = true.
`

// Draft reads the CSV file at path and drafts a schema for it in TOML, as text for
// a person to correct: what it says was read off the records, so it is neither
// public nor private, says so at its top, and is not confirmed. A draft of a file
// that can be loaded at all is a valid schema, and the file loads under it once it
// is confirmed.
//
// The response is the column named target, or with "" the one that looks most like a response.
//
// Errors are those of Read that concern the text itself, and a target that is no column or cannot be a
// response.
func Draft(ctx context.Context, path, target string) ([]byte, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return DraftReader(ctx, f, path, target)
}

// DraftReader is [Draft] for CSV text from r, called name in errors.
func DraftReader(ctx context.Context, r io.Reader, name, target string) ([]byte, error) {
	s, err := newScanner(ctx, r, name, 0)
	if err != nil {
		return nil, err
	}
	columns, err := tallyHeader(s)
	if err != nil {
		return nil, err
	}
	add := func(i int, text []byte) { columns[i].add(text, s.cellLine) }
	records := 0
	for ; ; records++ {
		some, err := s.more()
		if err != nil {
			return nil, err
		}
		if !some {
			break
		}
		if err := s.record(len(columns), add); err != nil {
			return nil, err
		}
	}
	if records == 0 {
		return nil, &Error{File: name, Line: s.line, Column: s.column(), Found: "a header without records",
			Allowed: "at least one record", Do: "check that this is the right file"}
	}
	n := custom(columns)
	response := draftTarget(columns, n)
	if target != "" {
		if response, err = namedTarget(columns, n, records, name, target); err != nil {
			return nil, err
		}
	}
	return writeDraft(name, records, s.delimiter, columns, n, response), nil
}

// tallyHeader reads the header of a file to be drafted.
func tallyHeader(s *scanner) ([]*tally, error) {
	names, err := s.header()
	if err != nil {
		return nil, err
	}
	columns := make([]*tally, len(names))
	seen := make(map[string]bool)
	for i, n := range names {
		if n.text == "" || seen[n.text] || !utf8.ValidString(n.text) {
			return nil, &Error{File: s.file, Line: n.line, Column: n.column, Value: n.text,
				Allowed: "names in the header that are not empty, all different, and in UTF-8", Do: "correct the header"}
		}
		seen[n.text] = true
		columns[i] = newTally(n.text)
	}
	return columns, nil
}

// options returns the texts of the column in order, numbers by size.
func (t *tally) options() []string {
	list := make([]string, 0, len(t.texts))
	for text := range t.texts {
		list = append(list, text)
	}
	slices.SortFunc(list, func(a, b string) int {
		if x, ok := parseNumber([]byte(a)); ok {
			if y, ok := parseNumber([]byte(b)); ok && x != y {
				return cmp.Compare(x, y)
			}
		}
		return strings.Compare(a, b)
	})
	return list
}

// response reports whether a name says that its column is a response.
func response(name string) bool {
	return slices.Contains([]string{"target", "y", "label", "class", "outcome", "response"}, strings.ToLower(name))
}

// draftTarget returns the column that looks most like a response: one whose name
// says so, else the last, if it can be one; -1 if there is none.
func draftTarget(columns []*tally, n numberText) int {
	named := slices.IndexFunc(columns, func(t *tally) bool { return t.canRespond(n) && response(t.name) })
	if last := len(columns) - 1; named < 0 && columns[last].canRespond(n) {
		return last
	}
	return named
}

// canRespond reports whether the column can be the response as it is.
func (t *tally) canRespond(n numberText) bool {
	kind := t.kind(n)
	return t.missing == 0 && (kind == Binary || kind == Category || kind == Number && t.bad(n) == "")
}

// namedTarget returns the column that is asked for as the response.
func namedTarget(columns []*tally, n numberText, records int, file, target string) (int, error) {
	i := slices.IndexFunc(columns, func(t *tally) bool { return t.name == target })
	if i < 0 {
		var names []string
		for _, t := range columns {
			names = append(names, t.name)
		}
		return 0, &Error{File: file, Line: 1, Column: 1, Found: "no column " + quote(target), Allowed: quoteList(names),
			Do: "take the response's name from the header"}
	}
	t := columns[i]
	why := t.unfit(n, records)
	if why == "" && t.canRespond(n) {
		return i, nil
	}
	e := &Error{File: file, Line: 1, Column: 1, Name: target,
		Allowed: fmt.Sprintf("a response that is a number, or one of 2 to %d short texts, in each record", maxLevels),
		Do:      "correct the column, or name another one"}
	switch {
	case t.missing != 0:
		e.Line, e.Found = t.missing, "a missing response"
	case why != "":
		e.Found = "no response, since " + why + ","
	default:
		e.Line, e.Found, e.Value = t.badLine, "a text among numbers", t.bad(n)
	}
	return 0, e
}

// readOff ends every line that says something about the records.
const readOff = "  # read off the data"

func writeDraft(file string, records int, delimiter byte, columns []*tally, n numberText, target int) []byte {
	var b bytes.Buffer
	b.WriteString(draftWarning)
	fmt.Fprintf(&b, "\ndescription = %s\nconfirmed = false\n", tomlString("drafted from "+file))
	fmt.Fprintf(&b, "records = %d%s; public under substitution\n", records, readOff)
	b.WriteString("rows_per_person = 1  # the largest number of rows one person may own; the file cannot tell\n")
	b.WriteString("intercept = true\n")
	if delimiter != ',' {
		fmt.Fprintf(&b, "delimiter = %q\n", string(delimiter))
	}
	if n.decimal != 0 {
		fmt.Fprintf(&b, "decimal = %q\n", string(n.decimal))
	}
	if n.thousands != 0 {
		fmt.Fprintf(&b, "thousands = %q\n", string(n.thousands))
	}
	if target < 0 {
		b.WriteString("# No column looks like a response: change a role to \"target\" if one is.\n")
	}
	for i, t := range columns {
		role := Feature
		if i == target {
			role = Target
		}
		t.write(&b, role, n, records)
	}
	return b.Bytes()
}

// write writes the column's part of a draft.
func (t *tally) write(b *bytes.Buffer, role Role, n numberText, records int) {
	kind, why := t.kind(n), t.unfit(n, records)
	fmt.Fprintf(b, "\n[[column]]\nname = %s\n", tomlString(t.name))
	if response(t.name) && t.missing != 0 {
		fmt.Fprintf(b, "# It looks like a response, but line %d has none: fill it in, then role = \"target\".\n", t.missing)
	}
	if why != "" {
		fmt.Fprintf(b, "role = %q  # %s\n", Ignore, why)
		return
	}
	fmt.Fprintf(b, "role = %q\nkind = %q\n", role, kind)
	impute, options := "", t.options()
	switch kind {
	case Number:
		r := t.spanOf(n)
		impute = tomlFloat(r.lower + (r.upper-r.lower)/2)
		fmt.Fprintf(b, "lower = %s%s\nupper = %s%s\noutside = %q\n", tomlFloat(r.lower), readOff, tomlFloat(r.upper), readOff,
			OutsideClamp)
		b.WriteString(t.standard(role, r.lower, r.upper))
	case Category:
		fmt.Fprintf(b, "levels = %s%s\n", tomlStrings(options), readOff)
		if role != Target {
			fmt.Fprintf(b, "reference = %s\n", tomlString(options[0]))
		}
	case Binary:
		impute = tomlString(options[0])
		fmt.Fprintf(b, "labels = %s  # negative, positive; read off the data\n", tomlStrings(options))
	}
	bad := t.bad(n)
	if kind != Number {
		bad = ""
	}
	if bad != "" {
		fmt.Fprintf(b, "# Line %d holds %s, which is no number: correct it, or let it count as missing.\n", t.badLine,
			tomlString(bad))
		fmt.Fprintf(b, "missing_tokens = %s%s\n", tomlStrings(append(defaultMissingTokens(), bad)), readOff)
	}
	switch {
	case t.missing == 0 && bad == "":
		fmt.Fprintf(b, "missing = %q\n", MissingRefuse)
	case kind == Category:
		fmt.Fprintf(b, "missing = %q\n", MissingLevel)
	default:
		fmt.Fprintf(b, "missing = %q\nimpute = %s%s\n", MissingImpute, impute, readOff)
	}
}

// tomlFloat writes a number as TOML; a bare integer might not fit 64 bits.
func tomlFloat(v float64) string {
	s := strconv.FormatFloat(v, 'g', -1, 64)
	if math.Abs(v) >= 1<<53 && !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// tomlString writes valid UTF-8 as a TOML basic string.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, "\\u%04X", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// tomlStrings writes an array of strings.
func tomlStrings(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = tomlString(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
