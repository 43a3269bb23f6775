package proptest

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"

	"pgregory.net/rapid"
)

// failf reports a violation together with the command that reproduces it.
func failf(t rapid.TB, format string, args ...any) {
	t.Helper()
	seed, of := "", t
	if r, ok := t.(*relay); ok {
		of = r.t
	}
	if _, drawn := of.(*rapid.T); drawn {
		seed = ", with the -rapid.seed that rapid prints"
	}
	t.Errorf("proptest: %s\nreproduce: %s%s", fmt.Sprintf(format, args...), Command(t.Name()), seed)
}

// fatalf does so, and ends the check.
func fatalf(t rapid.TB, format string, args ...any) {
	t.Helper()
	failf(t, format, args...)
	t.FailNow()
}

// property checks a property with rapid, which refuses a test that has failed
// already: such a test ends here.
func property(t rapid.TB, holds func(*rapid.T)) {
	t.Helper()
	if t.Failed() {
		t.FailNow()
	}
	rapid.Check(t, holds)
}

// Command is the command that runs the named test alone, from the folder of its
// package. Every failure text of this package ends with it.
func Command(test string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return fmt.Sprintf("go test -count=1 -run '%s' .", strings.Join(parts, "/"))
}

// Try runs a check under a TB of its own and returns what the check reported,
// and whether it failed. It is for tests of checks: each should be tried on
// something broken, which it must reject. A failed property of package rapid
// also writes a file under testdata, unless -rapid.nofailfile is set.
func Try(name string, check func(t rapid.TB)) (report string, failed bool) {
	r := &recorder{name: name}
	done := make(chan any)
	go func() {
		defer func() { done <- recover() }()
		check(r)
	}()
	if p := <-done; p != nil {
		r.Errorf("panic: %v", p)
	}
	return r.text.String(), r.failed
}

// recorder is the TB of Try: it belongs to one goroutine.
type recorder struct {
	name   string
	text   strings.Builder
	failed bool
}

var _ rapid.TB = (*recorder)(nil)

func (r *recorder) Helper()      {}
func (r *recorder) Name() string { return r.name }
func (r *recorder) Failed() bool { return r.failed }
func (r *recorder) Fail()        { r.failed = true }
func (r *recorder) SkipNow()     { runtime.Goexit() }

func (r *recorder) FailNow() {
	r.failed = true
	runtime.Goexit()
}

func (r *recorder) Log(args ...any) { fmt.Fprintln(&r.text, args...) }

func (r *recorder) Logf(format string, args ...any) { r.Log(fmt.Sprintf(format, args...)) }

func (r *recorder) Error(args ...any) {
	r.Log(args...)
	r.Fail()
}

func (r *recorder) Errorf(format string, args ...any) { r.Error(fmt.Sprintf(format, args...)) }

func (r *recorder) Fatal(args ...any) {
	r.Log(args...)
	r.FailNow()
}

func (r *recorder) Fatalf(format string, args ...any) { r.Fatal(fmt.Sprintf(format, args...)) }

func (r *recorder) Skip(args ...any) {
	r.Log(args...)
	r.SkipNow()
}

func (r *recorder) Skipf(format string, args ...any) { r.Skip(fmt.Sprintf(format, args...)) }
