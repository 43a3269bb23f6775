package proptest

import (
	"fmt"
	"runtime"

	"pgregory.net/rapid"
)

// relay is the TB of a check in a goroutine of its own. What it is told is said by the goroutine of the test, so that
// failures name the line that calls the check, and is lost once the check is over.
type relay struct {
	t    rapid.TB
	says chan func()
	over chan struct{}
}

var _ rapid.TB = (*relay)(nil)

func (r *relay) send(f func()) {
	done := make(chan struct{})
	select {
	case r.says <- func() {
		r.t.Helper()
		defer close(done)
		f()
	}:
		<-done
	case <-r.over:
		runtime.Goexit()
	}
}

func (r *relay) Helper()      {}
func (r *relay) Name() string { return r.t.Name() }
func (r *relay) Failed() bool { return r.t.Failed() }
func (r *relay) Fail()        { r.send(r.t.Fail) }
func (r *relay) SkipNow()     { runtime.Goexit() }

func (r *relay) FailNow() {
	r.Fail()
	runtime.Goexit()
}

func (r *relay) Log(args ...any) {
	r.send(func() {
		r.t.Helper()
		r.t.Log(args...)
	})
}

func (r *relay) Error(args ...any) {
	r.send(func() {
		r.t.Helper()
		r.t.Error(args...)
	})
}

func (r *relay) Logf(format string, args ...any)   { r.Log(fmt.Sprintf(format, args...)) }
func (r *relay) Errorf(format string, args ...any) { r.Error(fmt.Sprintf(format, args...)) }

func (r *relay) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

func (r *relay) Fatalf(format string, args ...any) { r.Fatal(fmt.Sprintf(format, args...)) }

func (r *relay) Skip(args ...any) {
	r.Log(args...)
	r.SkipNow()
}

func (r *relay) Skipf(format string, args ...any) { r.Skip(fmt.Sprintf(format, args...)) }
