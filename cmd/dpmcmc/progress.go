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

// progress returns a callback that draws a bar when w is a terminal and prints
// CmdStan-style lines otherwise, one for each tenth of the run. finish ends it.
func progress(w io.Writer) (report func(kernels.Progress), finish func()) {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return func(p kernels.Progress) { bar(w, p) }, func() { fmt.Fprintln(w) }
	}
	last := int64(-1)
	return func(p kernels.Progress) {
		if tenth := 10 * p.Done / p.Total; tenth != last {
			last = tenth
			fmt.Fprintf(w, "Iteration: %d / %d [%3d%%]\n", p.Done, p.Total, 100*p.Done/p.Total)
		}
	}, func() {}
}

const barWidth = 40

// bar redraws one line: a bar, the share done and the time left.
func bar(w io.Writer, p kernels.Progress) {
	share := float64(p.Done) / float64(p.Total)
	full := int(share * barWidth)
	left := "--"
	if p.Done > 0 {
		remaining := time.Duration(float64(p.Elapsed) * (1 - share) / share)
		left = remaining.Round(time.Second).String()
	}
	fmt.Fprintf(w, "\r[%s%s] %3.0f%%  %d / %d steps, %s left   ", strings.Repeat("=", full),
		strings.Repeat(" ", barWidth-full), 100*share, p.Done, p.Total, left)
}
