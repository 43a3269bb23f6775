package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/dpmcmc/dpmcmc/kernels"
)

// TestProgress: without a terminal there is a line for each tenth, which says how long is left
// once that is known.
func TestProgress(t *testing.T) {
	var b bytes.Buffer
	show, finish := progress(&b, "Run", "runs")
	for done := range int64(41) {
		left := time.Duration(0)
		if done > 0 {
			left = time.Duration(40-done)*time.Second + time.Millisecond
		}
		show(done, 40, left)
	}
	finish()
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 11 || lines[0] != "Run: 0 / 40 [  0%], -- left" || lines[1] != "Run: 4 / 40 [ 10%], 36s left" ||
		lines[10] != "Run: 40 / 40 [100%], 0s left" {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	for _, c := range []struct {
		done int64
		want time.Duration
	}{{0, 0}, {5, 30 * time.Second}, {20, 0}} {
		if got := stepsLeft(kernels.Progress{Done: c.done, Total: 20, Elapsed: 10 * time.Second}); got != c.want {
			t.Errorf("%v left after %d of 20 in 10 s; want %v", got, c.done, c.want)
		}
	}
}
