package planted

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/dpmcmc/dpmcmc/proptest"
)

// TestMain keeps rapid from writing files about failures that are provoked.
func TestMain(m *testing.M) {
	flag.Parse()
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.shrinktime": "100ms"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// TestControlsPass: what is right passes, in the same dress as the defects.
// Without it their rejection would show nothing.
func TestControlsPass(t *testing.T) {
	for _, c := range Controls() {
		t.Run(c.Suite+" "+c.Name, func(t *testing.T) {
			if rejected, report := c.Rejected(1, proptest.Quick); rejected {
				t.Errorf("rejected:\n%s", report)
			}
		})
	}
}

// TestDefectsAreRejected: Quick finds most of what is not subtle, and Standard the rest;
// with -short a sample.
// docs/proptest.md has the rates of all, at every effort.
func TestDefectsAreRejected(t *testing.T) {
	seen := map[string]bool{}
	for i, c := range Defects() {
		name := fmt.Sprint(c.Suite, " ", c.Family, " ", c.Name, " ", c.Effect)
		if seen[name] {
			t.Errorf("two defects are called %s", name)
		}
		seen[name] = true
		if c.Subtle() || testing.Short() && i%6 != 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if c.Survivor != "" {
				return
			}
			if rejected, _ := c.Rejected(1, proptest.Quick); rejected {
				return
			}
			if rejected, report := c.Rejected(1, proptest.Standard); !rejected {
				t.Errorf("passes:\n%s", report)
			}
		})
	}
	if len(seen) < 150 {
		t.Errorf("%d defects are planted, fewer than 150", len(seen))
	}
}
