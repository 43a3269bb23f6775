package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/plot"
)

func TestQuantiles(t *testing.T) {
	x := []float64{4, 1, 3, 2}
	for p, want := range map[float64]float64{0: 1, 0.5: 2.5, 1: 4, 1.0 / 3: 2} {
		if got := quantile(x, p); math.Abs(got-want) > 1e-12 {
			t.Errorf("quantile %v of %v is %v, want %v", p, x, got, want)
		}
	}
	if x[0] != 4 {
		t.Error("the data were sorted in place")
	}
	if mean, stderr := meanAndError(x); mean != 2.5 || math.Abs(stderr-math.Sqrt(5.0/12)) > 1e-12 {
		t.Errorf("mean %v ± %v, want 2.5 ± 0.645", mean, stderr)
	}
}

// TestSaveWritesAllThree: the table for people, the CSV and the picture.
func TestSaveWritesAllThree(t *testing.T) {
	var log bytes.Buffer
	s := settings{out: t.TempDir(), log: &log}
	tab := newTable("ε", "error")
	tab.add(0.2, "a,b")
	c := curve{name: "c"}
	c.add(1, []float64{1, 2, 3})
	if err := s.save("fig", tab, 1, plot.Panel{Lines: []plot.Line{c.line()}}); err != nil {
		t.Fatal(err)
	}
	if got := log.String(); got != "ε    error\n0.2  a,b\n" {
		t.Errorf("printed %q", got)
	}
	if got, err := os.ReadFile(filepath.Join(s.out, "fig.csv")); err != nil || string(got) != "ε,error\n0.2,\"a,b\"\n" {
		t.Errorf("CSV %q (%v)", got, err)
	}
	if got, err := os.ReadFile(filepath.Join(s.out, "fig.svg")); err != nil || !bytes.Contains(got, []byte("<svg")) {
		t.Errorf("SVG %.40q (%v)", got, err)
	}
}

// TestStreamsAreCells: a cell's stream depends on its name and the seed alone.
func TestStreamsAreCells(t *testing.T) {
	a, b := settings{seed: 1}, settings{seed: 2}
	if a.stream("x", 1).Uint64() != a.stream("x", 1).Uint64() {
		t.Error("the same cell has two streams")
	}
	if a.stream("x", 1).Uint64() == a.stream("x", 2).Uint64() || a.stream("x").Uint64() == b.stream("x").Uint64() {
		t.Error("two cells share a stream")
	}
}
