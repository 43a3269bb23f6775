package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/dpmcmc/dpmcmc/kernels"
)

const barWidth = 40

// progress returns a callback that draws a bar when w is a terminal and prints
// CmdStan-style lines otherwise, one for each tenth of what there is to do, which is called
// one thing and several units. left is 0 while it is not known. finish ends it.
func progress(w io.Writer, one, units string) (show func(done, total int64, left time.Duration), finish func()) {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return func(done, total int64, left time.Duration) {
			full := int(barWidth * done / total)
			fmt.Fprintf(w, "\r[%s%s] %3d%%  %d / %d %s, %s left   ", strings.Repeat("=", full),
				strings.Repeat(" ", barWidth-full), 100*done/total, done, total, units, remaining(left))
		}, func() { fmt.Fprintln(w) }
	}
	last := int64(-1)
	return func(done, total int64, left time.Duration) {
		if tenth := 10 * done / total; tenth != last {
			last = tenth
			fmt.Fprintf(w, "%s: %d / %d [%3d%%], %s left\n", one, done, total, 100*done/total, remaining(left))
		}
	}, func() {}
}

func remaining(left time.Duration) string {
	if left == 0 {
		return "--"
	}
	return left.Round(time.Second).String()
}

// stepsLeft is the time to go at the pace so far.
func stepsLeft(p kernels.Progress) time.Duration {
	if p.Done == 0 {
		return 0
	}
	return time.Duration(float64(p.Elapsed) * float64(p.Total-p.Done) / float64(p.Done))
}
