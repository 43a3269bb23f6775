package manual

import (
	"strings"
	"unicode/utf8"
)

// Meant is a hint at the names that a word may stand for: up to three that begin with it, or else those
// nearest to it, within two letters that are wrong, missing, too many or exchanged. It is empty where
// there are none.
func Meant(word string, names []string) string {
	var near, long []string
	least := min(3, utf8.RuneCountInString(word))
	for _, name := range names {
		if strings.HasPrefix(name, word) {
			long = append(long, name)
		}
		switch d := edits([]rune(word), []rune(name)); {
		case d < least:
			near, least = []string{name}, d
		case d == least && len(near) > 0:
			near = append(near, name)
		}
	}
	if 0 < len(long) && len(long) <= 3 {
		near = long
	}
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// edits is the number of letters by which two words differ (optimal string alignment).
func edits(a, b []rune) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range b {
			if a[i] == b[j] {
				row[j+1] = last[j]
				continue
			}
			row[j+1] = 1 + min(last[j], last[j+1], row[j])
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], 1+before[j-1])
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
