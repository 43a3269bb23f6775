package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTuneInShards: the winner and what is printed are those of a run in one go, and shards
// without a folder, or a folder without a shard, are refused.
func TestTuneInShards(t *testing.T) {
	dir := t.TempDir()
	flags := func(more ...string) []string {
		return append([]string{"--records", "200", "--features", "1", "--model", "logistic", "--epsilon", "2", "--delta",
			"1e-6", "--work", "3e5", "--kernels", "barker,dpsgld", "--coefficient-sd", "1"}, more...)
	}
	winner, journals := filepath.Join(dir, "tuned.toml"), filepath.Join(dir, "searches")
	written := func(args ...string) (printed, file string) {
		code, printed, errw := call(t.Context(), args...)
		if code != exitOK {
			t.Fatalf("%v: exit code %d: %s", args, code, errw)
		}
		text, err := os.ReadFile(winner)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(winner); err != nil {
			t.Fatal(err)
		}
		return printed, string(text)
	}
	printed, file := written(append([]string{"tune"}, flags("--out", winner)...)...)
	for _, shard := range []string{"2/2", "1/2"} {
		code, out, errw := call(t.Context(), append([]string{"tune"}, flags("--shard", shard, "--journals", journals)...)...)
		if code != exitOK || !strings.Contains(out, "shard "+shard+" is done") {
			t.Errorf("exit code %d, a shard says %q %s", code, out, errw)
		}
	}
	merged, same := written(append([]string{"tune", "merge"}, flags("--journals", journals, "--out", winner)...)...)
	if merged != printed || same != file {
		t.Errorf("merged:\n%s%s\nin one go:\n%s%s", merged, same, printed, file)
	}
	for want, args := range map[string][]string{
		"--journals is missing": flags("--shard", "1/2"),
		"give --shard":          flags("--journals", journals),
		"finds no winner":       flags("--shard", "1/2", "--journals", journals, "--out", winner),
		"as 3/16":               flags("--shard", "x", "--journals", journals),
	} {
		if code, _, errw := call(t.Context(), append([]string{"tune"}, args...)...); code == exitOK ||
			!strings.Contains(errw, want) {
			t.Errorf("%s: exit code %d, %s", want, code, errw)
		}
	}
}
