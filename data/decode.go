package data

import (
	"fmt"
	"math"
	"strconv"
)

// decoder turns the cells of one column into numbers.
type decoder struct {
	name         string
	kind         Kind
	target       bool
	first, width int // its design columns, unless it is the target

	term         Term // numbers: the map
	lower, upper float64
	transform    Transform
	outside      Outside
	numbers      numberText

	codes   map[string]code // by level or label
	options []string        // the levels or labels, in the schema's order

	missing Missing
	tokens  []string
	// quick says that cells are numbers in Go's notation, none of which is missing.
	quick bool
	// missingNumbers are the tokens that are numbers.
	missingNumbers []float64
	imputed        code // what a missing cell becomes, unless it is refused
}

// code is what a cell becomes: a value in one of the column's design columns, and
// zero in the others.
type code struct {
	at    int
	value float64
}

// fault is what can be wrong with a cell.
type fault int

const (
	faultMissing fault = 1 + iota
	faultNumber
	faultOutside
	faultOption
)

// decode encodes a cell.
func (d *decoder) decode(text []byte) (code, fault) {
	if d.isMissing(text) {
		if d.missing == MissingRefuse {
			return code{}, faultMissing
		}
		return d.imputed, 0
	}
	return d.encode(text)
}

// isMissing reports whether a cell counts as missing.
func (d *decoder) isMissing(text []byte) bool {
	for _, token := range d.tokens {
		if string(text) == token {
			return true
		}
	}
	return false
}

// encode encodes a cell that is not missing.
func (d *decoder) encode(text []byte) (code, fault) {
	if d.kind != Number {
		c, ok := d.codes[string(text)]
		if !ok {
			return code{}, faultOption
		}
		return c, 0
	}
	v, ok := d.numbers.parse(text)
	if !ok {
		return code{}, faultNumber
	}
	return d.encodeNumber(v)
}

// encodeNumber encodes a number that is not missing.
func (d *decoder) encodeNumber(v float64) (code, fault) {
	if !(v >= d.lower && v <= d.upper) { // bounds are finite
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return code{}, faultNumber
		case d.outside == OutsideRefuse:
			return code{}, faultOutside
		}
		v = min(max(v, d.lower), d.upper)
	}
	if d.transform != "" {
		v = d.transformed(v)
	}
	return code{value: d.term.At(v)}, 0
}

// transformed is the transform, a logarithm, of a number within its bounds.
func (d *decoder) transformed(v float64) float64 {
	switch {
	case d.transform == TransformLog && v >= 0x1p-1022:
		return logarithm(v)
	case d.transform == TransformLog1p && 1+v >= 0x1p-1022:
		return logarithm(1 + v)
	}
	return math.Inf(-1)
}

// parseNumber reads a finite decimal number: no infinities, no hexadecimal digits,
// no separators.
func parseNumber(text []byte) (float64, bool) {
	if v, ok := parseShort(text); ok {
		return v, true
	}
	for _, c := range text {
		switch {
		case '0' <= c && c <= '9', c == '.', c == '-', c == '+', c == 'e', c == 'E':
		default:
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(string(text), 64)
	return v, err == nil
}

// tens are the powers of ten that parseShort divides by.
var tens = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// parseShort reads a number of at most 15 digits without an exponent, which most
// cells are, and reports false for all others. Its digits and its power of ten are
// exact in float64, so the quotient is rounded once, as by strconv.ParseFloat
// (Clinger 1990).
func parseShort(text []byte) (float64, bool) {
	digits := text
	if len(digits) > 0 && (digits[0] == '-' || digits[0] == '+') {
		digits = digits[1:]
	}
	if len(digits) > 16 {
		return 0, false
	}
	var whole int64
	count, point := 0, -1
	for i, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			whole = 10*whole + int64(c-'0')
			count++
		case c == '.' && point < 0:
			point = i
		default:
			return 0, false
		}
	}
	if count == 0 || count > 15 {
		return 0, false
	}
	scale := 0
	if point >= 0 {
		scale = len(digits) - 1 - point
	}
	v := exactQuotient(whole, scale)
	if text[0] == '-' {
		v = -v
	}
	return v, true
}

// exactQuotient is whole/10^scale, rounded once.
func exactQuotient(whole int64, scale int) float64 { return float64(whole) / tens[scale] }

// explain says what is allowed in the column and what to do about a fault.
func (d *decoder) explain(f fault, text []byte) (allowed, do string) {
	if d.kind == Number {
		allowed = fmt.Sprintf("a finite number in [%v, %v]", d.lower, d.upper)
	} else {
		allowed = quoteList(d.options)
	}
	switch f {
	case faultMissing:
		do = "fill in the cell, or choose another policy for missing cells in the schema"
		if d.target {
			do = "fill in the cell: a missing response cannot be made up, and records cannot be dropped without changing " +
				"their public number"
		}
	case faultOutside:
		do = fmt.Sprintf("correct the cell or the bounds, or set outside = %q", OutsideClamp)
	case faultNumber:
		do = "correct the cell, or add it to missing_tokens if it stands for a missing number"
		if hint := d.numbers.hint(text); hint != "" {
			do = hint
		}
	default:
		do = "correct the cell or the schema's list; upper and lower case are different"
	}
	return allowed, do
}
