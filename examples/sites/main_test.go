package main

import (
	"context"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestMain is a site where the example starts this binary as one.
func TestMain(m *testing.M) {
	flag.Parse()
	if *serve >= 0 {
		if err := run(context.Background(), os.Stdout); err != nil {
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func TestRun(t *testing.T) {
	*places, *records, *steps = 3, 400, 40
	var out strings.Builder
	if err := run(context.Background(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"3 sites of 400 records", `apart +\d\.\d+ +\d\.\d+ +×\d`,
		`stepping +\d\.\d+ +\d\.\d+ +×\d`, `aggregated +\d\.\d+ +\d\.\d+ +×\d`, `its steps +\d\.\d+ +\d\.\d+ +×\d`,
		`pooled +\d\.\d+ +\d\.\d+ +×\d`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}
