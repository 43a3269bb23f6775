package experiment

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// TestShardsHaveEveryCellOnce, in order, in shares that differ by one at most.
func TestShardsHaveEveryCellOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cells := make([]Cell, rapid.IntRange(0, 200).Draw(t, "cells"))
		for i := range cells {
			cells[i].Repeat = i
		}
		count := rapid.IntRange(1, 50).Draw(t, "shards")
		var all []Cell
		for i := range count {
			share := Shard{i + 1, count}.of(cells)
			if n := len(share); n < len(cells)/count || n > (len(cells)+count-1)/count {
				t.Fatalf("shard %d of %d has %d of %d cells", i+1, count, n, len(cells))
			}
			all = append(all, share...)
		}
		if !slices.EqualFunc(all, cells, func(a, b Cell) bool { return a.Repeat == b.Repeat }) {
			t.Fatalf("%d shards of %d cells hold %d", count, len(cells), len(all))
		}
	})
}

// TestShardsMergeIntoOneRun: the files are those of a run in one go, byte for byte.
func TestShardsMergeIntoOneRun(t *testing.T) {
	p := plan(t, small, Options{})
	want := files(t, p, RunOptions{Workers: 2})
	for _, count := range []int{1, 3, len(p.Cells) + 2} {
		dir := t.TempDir()
		for i := range count {
			if err := p.RunShard(t.Context(), RunOptions{Dir: dir, Workers: 2}, Shard{count - i, count}); err != nil {
				t.Fatal(err)
			}
			if i == 0 && count > 1 {
				if _, err := p.Merge(dir); err == nil || !strings.Contains(err.Error(), "run the others") {
					t.Errorf("a merge of the first shard alone: %v", err)
				}
			}
		}
		merged, err := p.Merge(dir)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "merged", written(t, merged), want)
	}
}

func TestMergeRefusesShardsThatHaveRunsToGo(t *testing.T) {
	p := plan(t, small, Options{})
	dir := t.TempDir()
	for i := range 2 {
		if err := p.RunShard(t.Context(), RunOptions{Dir: dir, Workers: 2}, Shard{i + 1, 2}); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, Shard{2, 2}.file())
	lines := strings.SplitAfter(read(t, path), "\n")
	kept := slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, p.Cells[len(p.Cells)-1].ID) })
	write(t, path, strings.Join(kept, ""))
	if _, err := p.Merge(dir); err == nil || !strings.Contains(err.Error(), "shard 2/2 has 1 runs to go") {
		t.Errorf("a merge with a run to go: %v", err)
	}
}

// TestReservedShardsAreChargedOnce: by the reservation, and by nothing else; without
// their reservation they look at no record, and a cell that began is never run again.
func TestReservedShardsAreChargedOnce(t *testing.T) {
	p := plan(t, private, Options{ConfigDir: privateTable(t)})
	total, err := p.Total()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var charged []accountant.Event
	o := RunOptions{Dir: dir, Epsilon: 100, Delta: 1e-4, Workers: 2, Charge: func(e accountant.Event) error {
		if held, err := os.ReadDir(dir); err != nil || len(held) > 0 {
			t.Errorf("charged after %v were made, %v", held, err)
		}
		charged = append(charged, e)
		return nil
	}}
	first, second := Shard{1, 2}, Shard{2, 2}
	if err := p.RunShard(t.Context(), o, first); !errors.Is(err, ErrNotReserved) {
		t.Errorf("a shard without a reservation: %v", err)
	}
	var exceeded *accountant.ExceededError
	short := o
	short.Epsilon = 1
	if err := p.Reserve(short, 2); !errors.As(err, &exceeded) || charged != nil {
		t.Errorf("a reservation beyond the budget: %v, charged %v", err, charged)
	}
	if err := p.Reserve(o, 2); err != nil {
		t.Fatal(err)
	}
	if err := p.Reserve(o, 2); err == nil || len(charged) != 1 {
		t.Errorf("a second reservation: %v, charged %d times", err, len(charged))
	}
	if charged[0].String() != total.String() {
		t.Errorf("%v was charged, the sweep is %v", charged[0], total)
	}

	began := p.Cells[0].ID
	j, err := openJournal(dir, first.file(), mustFingerprint(t, p))
	if err == nil {
		err = errors.Join(j.append(entry{Start: began}), j.close())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Shard{first, second, first} {
		if err := p.RunShard(t.Context(), o, s); err != nil {
			t.Fatal(err)
		}
	}
	merged, err := p.Merge(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range merged.Cells {
		if lost := strings.Contains(c.Error, "runs a reserved cell once"); lost != (c.Cell == began) ||
			i > 0 && c.Error != "" {
			t.Errorf("cell %s: %q", c.Cell, c.Error)
		}
	}
	for _, s := range []Shard{first, second} {
		for _, c := range s.of(p.Cells) {
			if n := strings.Count(read(t, filepath.Join(dir, s.file())), `{"start":"`+c.ID+`"}`); n != 1 {
				t.Errorf("%s began %d times", c.ID, n)
			}
		}
	}
	if want, err := total.Epsilon(merged.Spent.Delta); err != nil || len(charged) != 1 || merged.Spent.Releases != 8 ||
		merged.Spent.Epsilon > want.Epsilon {
		t.Errorf("%v: charged %d times, results say %+v", err, len(charged), merged.Spent)
	}
	if err := os.Remove(filepath.Join(dir, second.file())); err != nil {
		t.Fatal(err)
	}
	if err := p.RunShard(t.Context(), o, second); !errors.Is(err, ErrNotReserved) {
		t.Errorf("a shard whose journal is gone: %v", err)
	}
}

func mustFingerprint(t *testing.T, p *Plan) string {
	t.Helper()
	f, err := p.fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	return f
}
