// Package typeset sets text for people: sentences, tables and commands within a width.
package typeset

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// gap is what separates the columns of a table at least.
const gap = "  "

// Fit is a text within a width, without one as it is. Tables lose columns to further
// tables below, each with the first column; sentences are broken between words. Commands
// to copy stay on their line.
func Fit(text string, width int) string {
	if width <= 0 {
		return text
	}
	var out, table []string
	end := func() {
		out = append(out, fittedTable(table, width)...)
		table = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.Contains(strings.TrimSpace(line), gap) {
			table = append(table, line)
			continue
		}
		end()
		out = append(out, fittedSentence(line, width)...)
	}
	end()
	return strings.Join(out, "\n")
}

// fittedSentence breaks a line between words. What follows is indented further.
func fittedSentence(line string, width int) []string {
	words := strings.Fields(line)
	if utf8.RuneCountInString(line) <= width || len(words) == 0 || words[0] == "dpmcmc" {
		return []string{line}
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	return Broken(indent, indent+gap, words, width)
}

// Broken sets words into lines that start with first and then next.
func Broken(first, next string, words []string, width int) []string {
	lines, at, empty := []string{first}, 0, true
	for _, w := range words {
		switch {
		case empty:
			lines[at] += w
		case utf8.RuneCountInString(lines[at])+1+utf8.RuneCountInString(w) <= width:
			lines[at] += " " + w
		default:
			lines, at = append(lines, next+w), at+1
		}
		empty = false
	}
	return lines
}

// fittedTable is a table within a width.
func fittedTable(lines []string, width int) []string {
	widest := 0
	var cells [][]rune
	for _, l := range lines {
		cells = append(cells, []rune(l))
		widest = max(widest, utf8.RuneCountInString(l))
	}
	if widest <= width {
		return lines
	}
	at := gutters(cells, widest)
	if len(at) < 2 { // no table
		var out []string
		for _, l := range lines {
			out = append(out, fittedSentence(l, width)...)
		}
		return out
	}
	var out []string
	for first := 1; first < len(at); {
		last, used := first, at[1]
		for ; last < len(at) && (last == first || used+taken(cells, at, last) <= width); last++ {
			used += taken(cells, at, last)
		}
		if first > 1 {
			out = append(out, "")
		}
		for _, line := range cells {
			out = append(out, tableLine(line, at, first, last, width)...)
		}
		first = last
	}
	return out
}

// gutters are where the columns of a table start, the first of them at 0.
func gutters(cells [][]rune, widest int) []int {
	blank := func(x int) bool {
		for _, line := range cells {
			if x < len(line) && line[x] != ' ' {
				return false
			}
		}
		return true
	}
	at, x := []int{0}, 0
	for x < widest && blank(x) {
		x++
	}
	for x < widest {
		from := x
		for x < widest && blank(x) {
			x++
		}
		if x-from >= len(gap) && x < widest {
			at = append(at, x-len(gap))
		}
		x = max(x, from+1)
	}
	return at
}

// taken is the width of column i with the gap before it.
func taken(cells [][]rune, at []int, i int) int {
	if i+1 < len(at) {
		return at[i+1] - at[i]
	}
	widest := 0
	for _, line := range cells {
		widest = max(widest, len(line)-at[i])
	}
	return widest
}

// tableLine is the first column of a line and those from first to last, broken if even
// these are too wide.
func tableLine(line []rune, at []int, first, last, width int) []string {
	cut := func(from, to int) string { return string(line[min(from, len(line)):min(to, len(line))]) }
	end := len(line)
	if last < len(at) {
		end = at[last]
	}
	name, rest := cut(0, at[1]), cut(at[first], end)
	whole := strings.TrimRight(name+strings.Repeat(" ", max(0, at[1]-utf8.RuneCountInString(name)))+rest, " ")
	if utf8.RuneCountInString(whole) <= width {
		return []string{whole}
	}
	return Broken(strings.TrimRight(name, " ")+gap, strings.Repeat(gap, 2), strings.Fields(rest), width)
}

// Aligned is a table whose columns end at the same place.
func Aligned(lines [][]string) string {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	var b strings.Builder
	for _, line := range lines {
		for i, cell := range line {
			if i > 0 {
				b.WriteString("  ")
			}
			fmt.Fprintf(&b, "%*s", widths[i], cell)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Columns is how wide a terminal is taken to be.
const Columns = 80

// Continued writes a command over as many lines as it needs.
func Continued(command []string) string {
	var b strings.Builder
	width := 0
	for i, part := range command {
		switch {
		case i == 0:
		case width+len([]rune(part)) > Columns-3:
			b.WriteString(" \\\n   ")
			width = 3
			fallthrough
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(part)
		width += len([]rune(part))
	}
	return b.String() + "\n"
}

// Wrapped is a text after a label, in lines that fit.
func Wrapped(label, text string) string {
	return strings.Join(Broken(label, strings.Repeat(" ", len(label)), strings.Fields(text), Columns), "\n") + "\n"
}
