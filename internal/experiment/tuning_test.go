package experiment

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/tune"
)

func tuneConfig(t *testing.T) tune.Config {
	t.Helper()
	shape, err := models.StandardShape("logistic", 200, 1)
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New("logistic", shape, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tune.Config{Models: []*models.Model{m}, Adjacency: accountant.Substitute, Epsilon: 2, Delta: 1e-6,
		Kernels: []string{"barker", "dpsgld"}, Temperatures: []float64{1, 0.5}, Work: 1e6, Seed: 3,
		CoefficientSD: 1}
}

// tuned is all of a result but what pointers print as.
func tuned(r *tune.Result) string {
	var b strings.Builder
	fmt.Fprintln(&b, r.Tried, r.Looks)
	for _, c := range r.Candidates {
		fmt.Fprintf(&b, "%s %+v %v %v %+v %v %v\n", c.Model.Name, c.Settings, c.Default, c.Cost.Epsilon,
			c.Parameters, c.Whole,
			c.Score)
	}
	for _, s := range r.Skipped {
		fmt.Fprintln(&b, s.Kernel, s.Temperature, s.Reason)
	}
	return b.String()
}

// TestTuneShardsMergeIntoOneRun: whatever their number, and whichever part of a journal a
// kill leaves, torn lines among them. A figure that is altered in a journal is seen, so the
// merge takes what shards measured.
func TestTuneShardsMergeIntoOneRun(t *testing.T) {
	c := tuneConfig(t)
	one, err := tune.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	want := tuned(one)
	merged := func(dir string) string {
		r, err := MergeTune(t.Context(), c, dir)
		if err != nil {
			t.Fatal(err)
		}
		return tuned(r)
	}
	run := func(dir string, s Shard) {
		if err := TuneShard(t.Context(), c, dir, s); err != nil {
			t.Fatal(err)
		}
	}
	var dir string
	for _, count := range []int{1, 6, 4} { // 6 is more than there are searches
		dir = t.TempDir()
		for i := range count {
			run(dir, Shard{count - i, count})
		}
		if got := merged(dir); got != want {
			t.Errorf("%d shards give\n%sa run in one go\n%s", count, got, want)
		}
	}
	rng := rand.New(rand.NewPCG(4, 9))
	for range 3 { // kills, of shard 2 of 4
		path := filepath.Join(dir, Shard{2, 4}.tuneFile())
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, whole[:rng.IntN(len(whole))], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := MergeTune(t.Context(), c, dir); err == nil {
			t.Error("a shard that was killed was merged")
		}
		run(dir, Shard{2, 4})
		again, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		run(dir, Shard{2, 4}) // complete: nothing is left to do
		if twice, err := os.ReadFile(path); err != nil || !bytes.Equal(again, twice) {
			t.Errorf("a complete shard wrote again (%v)", err)
		}
		if got := merged(dir); got != want {
			t.Errorf("after a kill the merge gives\n%sa run in one go\n%s", got, want)
		}
	}
	path := filepath.Join(dir, Shard{1, 4}.tuneFile())
	text, err1 := os.ReadFile(path)
	altered := bytes.Replace(text, []byte(`"figures":["`), []byte(`"figures":["9`), 1)
	if err := errors.Join(err1, os.WriteFile(path, altered, 0o644)); err != nil {
		t.Fatal(err)
	}
	if merged(dir) == want {
		t.Error("a figure that was altered is not seen: the merge measures again")
	}
}

func TestTuneShardsRefuse(t *testing.T) {
	c, dir := tuneConfig(t), t.TempDir()
	c.Kernels, c.Temperatures, c.Work = []string{"barker"}, nil, 1e5
	if err := TuneShard(t.Context(), c, dir, Shard{1, 2}); err != nil {
		t.Fatal(err)
	}
	other := c
	other.Seed++
	workers := c
	workers.Workers = 7 // does not change the result
	for name, do := range map[string]func() error{
		"1 shards out of 2":  func() error { _, err := MergeTune(t.Context(), c, dir); return err },
		"0 shards out of 0":  func() error { _, err := MergeTune(t.Context(), c, t.TempDir()); return err },
		"another experiment": func() error { return TuneShard(t.Context(), other, dir, Shard{1, 2}) },
		"shard 3 of 2":       func() error { return TuneShard(t.Context(), c, dir, Shard{3, 2}) },
		"needs a folder":     func() error { return TuneShard(t.Context(), c, "", Shard{1, 2}) },
		"and need a Journal": func() error { return tune.RunShard(t.Context(), c, 1, 2) },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := TuneShard(t.Context(), workers, dir, Shard{1, 2}); err != nil {
		t.Errorf("other workers: %v", err)
	}
}
