package typeset

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestFitted: a table and sentences on a terminal of 40 columns.
func TestFitted(t *testing.T) {
	const text = `Usable: the draws can stand for the posterior.
  Sampled: the posterior given what was released, whose noise its intervals contain.

parameter     mean     sd  median     5%  ess_bulk
(intercept)  -3.50  0.314   -3.48  -4.03      1817
age of ill   0.077  0.007   0.076  0.065      1804
Warning: R-hat is above 1.01: (intercept)

dpmcmc sample --data people.csv --schema people.toml --epsilon 1 --delta 1e-6
`
	const want = `Usable: the draws can stand for the
  posterior.
  Sampled: the posterior given what was
    released, whose noise its intervals
    contain.

parameter     mean     sd  median     5%
(intercept)  -3.50  0.314   -3.48  -4.03
age of ill   0.077  0.007   0.076  0.065

parameter    ess_bulk
(intercept)      1817
age of ill       1804
Warning: R-hat is above 1.01:
  (intercept)

dpmcmc sample --data people.csv --schema people.toml --epsilon 1 --delta 1e-6
`
	if got := Fit(text, 40); got != want {
		t.Errorf("at 40 columns\n%s\nwant\n%s", got, want)
	}
	if got := Fit(text, 200); got != text {
		t.Errorf("at 200 columns\n%s", got)
	}
	if got := Fit(text, 0); got != text {
		t.Errorf("without a width\n%s", got)
	}
}

// TestFittedKeepsWords: no word is lost, and no line is longer than the width unless it
// is one word.
func TestFittedKeepsWords(t *testing.T) {
	word := rapid.StringMatching(`[a-zε=0-9.]{1,9}`)
	rapid.Check(t, func(rt *rapid.T) {
		sentence := strings.Join(rapid.SliceOfN(word, 0, 30).Draw(rt, "words"), " ")
		width := rapid.IntRange(12, 60).Draw(rt, "width")
		got := Fit(sentence+"\n", width)
		if strings.Join(strings.Fields(got), " ") != sentence {
			rt.Fatalf("%q became %q", sentence, got)
		}
		for line := range strings.SplitSeq(got, "\n") {
			if utf8.RuneCountInString(line) > width {
				rt.Fatalf("%q is wider than %d", line, width)
			}
		}
	})
}
