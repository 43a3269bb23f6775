package proptest_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/proptest"
)

// TestMain keeps rapid from writing files about the failures that tests of
// checks provoke, and from shrinking them for long.
func TestMain(m *testing.M) {
	flag.Parse()
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.shrinktime": "1s"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// mustReject demands that a check fails, with the given words and the command
// that reproduces the failure.
func mustReject(t *testing.T, words string, check func(t rapid.TB)) {
	t.Helper()
	report, failed := proptest.Try(t.Name(), check)
	switch {
	case !failed:
		t.Errorf("the check passes:\n%s", report)
	case !strings.Contains(report, words):
		t.Errorf("the check fails without saying %q:\n%s", words, report)
	case !strings.Contains(report, "panic") && !strings.Contains(report, proptest.Command(t.Name())):
		t.Errorf("the failure does not say how to reproduce it:\n%s", report)
	}
	if _, test, found := strings.Cut(report, "as a test:\n"); found {
		test, _, _ = strings.Cut(test, "\n\t}\n")
		if _, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+test+"\n}", 0); err != nil {
			t.Errorf("the test that the failure prints is no Go: %v\n%s", err, report)
		}
	}
}

// TestExamplesAreShort: the tests of a target, a kernel and a mechanism of one's own
// have under 30 lines each, comments and imports not counted, and need no other file.
func TestExamplesAreShort(t *testing.T) {
	files, err := filepath.Glob("own_*_test.go")
	if err != nil || len(files) != 3 {
		t.Fatalf("%v (%v), want an example of a target, a kernel and a mechanism", files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, code, _ := strings.Cut(string(text), "\n)\n")
		lines := 0
		for _, line := range strings.Split(code, "\n") {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines++
			}
		}
		if lines < 10 || lines >= 30 {
			t.Errorf("%s has %d lines of code; an example has fewer than 30", name, lines)
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, name, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		alone := types.Config{Importer: empty{}, Error: func(err error) {
			if _, what, missing := strings.Cut(err.Error(), "undefined: "); missing && !strings.Contains(what, ".") {
				t.Errorf("%v: a copy of the example does not build", err)
			}
		}}
		_, _ = alone.Check("own", files, []*ast.File{parsed}, nil) // every name of a package is missing
	}
}

// empty imports packages without their names.
type empty struct{}

func (empty) Import(at string) (*types.Package, error) {
	p := types.NewPackage(at, path.Base(strings.TrimSuffix(at, "/v2")))
	p.MarkComplete()
	return p, nil
}

func TestTryReports(t *testing.T) {
	report, failed := proptest.Try("TestX", func(t rapid.TB) {
		t.Logf("said %d", 1)
		t.Fatalf("and failed")
		t.Log("never said")
	})
	if !failed || report != "said 1\nand failed\n" {
		t.Errorf("Try reports %q, failed %v", report, failed)
	}
	if report, failed := proptest.Try("TestX", func(rapid.TB) { panic("here") }); !failed || report != "panic: here\n" {
		t.Errorf("Try of a panic reports %q, failed %v", report, failed)
	}
	if _, failed := proptest.Try("TestX", func(t rapid.TB) { t.Skip("no reason") }); failed {
		t.Error("Try of a skipped test failed")
	}
}

// TestFailedTestsEnd: a test that has failed already ends at its next check,
// where rapid would panic.
func TestFailedTestsEnd(t *testing.T) {
	report, failed := proptest.Try("TestX", func(t rapid.TB) {
		t.Errorf("something before")
		proptest.CheckTarget(t, lifetimes{}, lifetimeOptions())
	})
	if !failed || report != "something before\n" {
		t.Errorf("Try reports %q, failed %v", report, failed)
	}
}

func TestCommandQuotesNames(t *testing.T) {
	if got, want := proptest.Command("TestA/b=1.5"), `go test -count=1 -run '^TestA$/^b=1\.5$' .`; got != want {
		t.Errorf("the command is %s, want %s", got, want)
	}
}
