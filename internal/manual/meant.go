package manual

import (
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// Meant is a hint at the names that a word may stand for: up to three that begin with it, or are within two
// letters of it. It is empty where there are none, or more.
func Meant(word string, names []string) string {
	among := cobra.Command{SuggestionsMinimumDistance: min(2, utf8.RuneCountInString(word)-1)}
	for _, name := range names {
		among.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	near := among.SuggestionsFor(word)
	if len(near) == 0 || len(near) > 3 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}
