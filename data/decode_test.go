package data

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Numbers read as strconv.ParseFloat reads them, bit for bit, if they are decimal
// and finite, and nothing else is a number.
func TestParseNumber(t *testing.T) {
	check := func(t interface{ Errorf(string, ...any) }, text string) {
		want, err := strconv.ParseFloat(text, 64)
		ok := err == nil && !math.IsInf(want, 0) && !math.IsNaN(want) && !strings.ContainsAny(text, "xX_pP")
		got, gotOK := parseNumber([]byte(text))
		if gotOK != ok || ok && math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%q: %v, %v; want %v, %v", text, got, gotOK, want, ok)
		}
	}
	for _, text := range []string{"", "+", "-", ".", "-.", "1.", ".5", "-0", "-.0", "1.2.3", "--1", "1-", "1e", "1e5",
		"1E+05", "e5", "1e-400", "1e309", "-1e309",
		"0x1p-2", "0x10", "1_000", "inf", "-Infinity", "NaN", "nan", " 1", "1 ", "1,5", "١", "999999999999999",
		"9999999999999999", "0.30000000000000004", "000000000000000000001"} {
		check(t, text)
	}
	digits := rapid.StringMatching(`[+-]?[0-9]{0,17}\.?[0-9]{0,17}(e-?[0-9]{1,3})?`)
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.OneOf(digits, rapid.StringOf(rapid.RuneFrom([]rune("0123456789.+-eEx_ifna")))).Draw(t, "text"))
	})
}
