package main

import (
	"context"
	"regexp"
	"strings"
	"testing"
)

// TestRun: both ways keep to the budget and say what they rest on.
func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(context.Background(), &out, 300, 200); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`(?m)^truth +\[`, `(?m)^barker +\[.*ε = (0\.\d+|1\.000) at δ = 1e-05, unconditional$`,
		`(?m)^beta-ops +\[.*one draw; ε = (0\.\d+|1\.000) at δ = 1e-05, conditional on exact sampling$`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("the output does not match %s:\n%s", want, out.String())
		}
	}
}
