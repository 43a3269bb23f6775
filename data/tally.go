package data

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// customs are the ways to write numbers that a draft tries, in the order of preference.
var customs = []numberText{
	{}, {decimal: ','}, {thousands: ','}, {thousands: '.', decimal: ','},
	{thousands: ' '}, {thousands: ' ', decimal: ','}, {thousands: '\''},
}

// tally is what a draft knows about a column.
type tally struct {
	name    string
	cells   int             // that are not missing
	missing int             // line of the first missing cell; 0 without one
	texts   map[string]bool // different cells, at most maxLevels+1
	free    bool            // a cell was too long or odd to be a level
	dates   bool            // every cell was a date
	rising  bool            // every cell was a whole number above the one before
	last    float64

	numbers []span // by custom
	oddText string // the only text that is no number under any custom
	oddMany bool   // there are several
	badLine int    // where oddText stands first
}

// span is a range of numbers, of the cells that were numbers.
type span struct {
	count        int
	lower, upper float64
}

func newTally(name string) *tally {
	t := &tally{name: name, texts: make(map[string]bool), dates: true, rising: true, last: math.Inf(-1)}
	for range customs {
		t.numbers = append(t.numbers, span{lower: math.Inf(1), upper: math.Inf(-1)})
	}
	return t
}

func (t *tally) add(text []byte, line int) {
	if slices.Contains(defaultMissingTokens(), string(text)) {
		if t.missing == 0 {
			t.missing = line
		}
		return
	}
	t.cells++
	t.dates = t.dates && date.Match(text)
	number := false
	for i, n := range customs {
		v, ok := n.parse(text)
		if i == 0 {
			t.rising = t.rising && ok && v > t.last && v == math.Trunc(v)
			t.last = v
		}
		if ok {
			number = true
			s := &t.numbers[i]
			s.count, s.lower, s.upper = s.count+1, min(s.lower, v), max(s.upper, v)
		}
	}
	switch {
	case number:
	case t.badLine == 0 && len(text) <= maxLevel && utf8.Valid(text):
		t.oddText, t.badLine = string(text), line
	case t.oddText != string(text):
		t.oddMany = true
	}
	switch {
	case len(t.texts) > maxLevels || t.texts[string(text)]:
	case len(text) > maxLevel || !utf8.Valid(text):
		t.free = true
	default:
		t.texts[string(text)] = true
	}
}

// custom is how the file writes numbers: the way under which most columns are numbers.
func custom(columns []*tally) numberText {
	best, most := 0, -1
	for i := range customs {
		count := 0
		for _, t := range columns {
			if t.cells > 0 && t.numbers[i].count == t.cells {
				count++
			}
		}
		if count > most {
			best, most = i, count
		}
	}
	return customs[best]
}

// spanOf is that of the column's numbers.
func (t *tally) spanOf(n numberText) span { return t.numbers[slices.Index(customs, n)] }

// bad is the one text, in at most one cell of a hundred, that keeps a column from being
// a number; empty where there is none.
func (t *tally) bad(n numberText) string {
	odd := t.cells - t.spanOf(n).count
	if odd == 0 || t.oddMany || t.badLine == 0 || 100*odd > t.cells {
		return ""
	}
	return t.oddText
}

// kind is what the column is taken for; empty if it should be ignored.
func (t *tally) kind(n numberText) Kind {
	r := t.spanOf(n)
	numeric := r.count == t.cells
	switch {
	case len(t.texts) == 2 && !t.free:
		return Binary
	case (numeric || t.bad(n) != "") && usableBounds(r.lower, r.upper):
		return Number
	case !numeric && !t.free && len(t.texts) > 2 && len(t.texts) <= maxLevels:
		return Category
	}
	return ""
}

// unfit says why the column is left out of a draft's design, or is empty.
func (t *tally) unfit(n numberText, records int) string {
	kind := t.kind(n)
	switch {
	case len(t.texts) == 1 && !t.free:
		return "it holds one value only"
	case t.cells > 0 && t.dates && len(t.texts) > 2:
		return "dates: write them as numbers first, such as days since a public date"
	case t.rising && records > maxLevels && kind == Number:
		return "it counts up from record to record, as an identifier does"
	case kind == "" && len(t.texts) > maxLevels:
		return fmt.Sprintf("more than %d different texts: names, notes or identifiers", maxLevels)
	case kind == "":
		return fmt.Sprintf("neither numbers nor 2 to %d short texts", maxLevels)
	}
	return ""
}

// standard asks for a center and a scale, with common public values where the column's
// name says what it is and its cells reach so far, and says what a response of counts needs.
// All of it is a comment: a person decides.
func (t *tally) standard(role Role, lower, upper float64) string {
	if role == Target && lower >= 0 {
		return "# center = 0\n# scale = 1  # for a model of counts, with lower = 0 and a public upper bound\n"
	}
	if role != Feature {
		return ""
	}
	name := strings.ToLower(t.name)
	for _, c := range commonScales {
		for _, part := range strings.FieldsFunc(name,
			func(r rune) bool { return r == '_' || r == '-' || r == ' ' || r == '.' }) {
			if slices.Contains(c.names, part) && lower <= c.center-c.scale && upper >= c.center+c.scale {
				return fmt.Sprintf("# center = %v\n# scale = %v  # common values for %s; keep them if they suit\n", c.center,
					c.scale, c.what)
			}
		}
	}
	return "# center = a typical value, scale = a typical deviation, known from elsewhere: they are worth much privacy\n"
}

// commonScales are round numbers from common knowledge.
var commonScales = []struct {
	names         []string
	what          string
	center, scale float64
}{
	{[]string{"age"}, "the age of adults in years", 45, 20},
	{[]string{"height"}, "the height of adults in cm", 170, 10},
	{[]string{"weight"}, "the weight of adults in kg", 75, 15},
	{[]string{"bmi"}, "the body mass index of adults", 26, 5},
	{[]string{"hours"}, "hours worked in a week", 40, 12},
	{[]string{"education", "schooling"}, "years of education", 12, 3},
	{[]string{"systolic", "sbp"}, "systolic blood pressure in mmHg", 125, 18},
	{[]string{"diastolic", "dbp"}, "diastolic blood pressure in mmHg", 78, 11},
}
