package data

import (
	"bytes"
	"fmt"
	"regexp"
)

// numberText is how a file writes numbers. The zero value is 1234.5.
type numberText struct {
	thousands byte // between groups of three digits; 0 for none
	decimal   byte // ',' where it is the decimal point, else 0
}

// parse reads a finite decimal number.
func (n numberText) parse(text []byte) (float64, bool) {
	if n == (numberText{}) {
		return parseNumber(text)
	}
	point := n.decimal
	if point == 0 {
		point = '.'
	}
	plain := make([]byte, 0, len(text))
	group, fraction := -1, false // digits since a separator; −1 before the first
	for _, c := range text {
		switch {
		case n.thousands != 0 && c == n.thousands && !fraction:
			if digits := len(bytes.TrimLeft(plain, "+-")); group < 0 && (digits < 1 || digits > 3) || group >= 0 && group != 3 {
				return 0, false
			}
			group = 0
			continue
		case c == point:
			fraction, c = true, '.'
		case c == '.':
			return 0, false
		case '0' <= c && c <= '9' && group >= 0 && !fraction:
			group++
		}
		if group >= 0 && group != 3 && (fraction && c == '.' || c == 'e' || c == 'E') {
			return 0, false
		}
		plain = append(plain, c)
	}
	if group >= 0 && group < 3 || group > 3 {
		return 0, false
	}
	return parseNumber(plain)
}

// Numbers as other files write them.
var (
	grouped = regexp.MustCompile(`^[-+]?[0-9]{1,3}([,.' ])[0-9]{3}(.[0-9]{3})*([,.][0-9]+)?$`)
	comma   = regexp.MustCompile(`^[-+]?[0-9]+,[0-9]+$`)
	date    = regexp.MustCompile(`^([0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|` +
		`[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4})([T ].*)?$`)
)

// hint says what to write in the schema where a cell that cannot be read looks like a
// number of another custom; empty where it does not.
func (n numberText) hint(text []byte) string {
	hint := ""
	if date.Match(text) {
		return "write the date as a number, such as days since a public date, or give the column role = \"ignore\""
	}
	if m := grouped.FindSubmatch(text); m != nil && n.thousands == 0 {
		hint = fmt.Sprintf("write thousands = %q at the top of the schema if it separates thousands", m[1])
	}
	if comma.Match(text) && n.decimal == 0 {
		if hint != "" {
			hint += ", or "
		}
		hint += `write decimal = "," at the top of the schema if it is the decimal point`
	}
	return hint
}
