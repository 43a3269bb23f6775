package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/experiment"
)

func TestShardsAreRead(t *testing.T) {
	slurm := func(id, first, last, count string) map[string]string {
		return map[string]string{slurmIndex: id, slurmFirst: first, slurmLast: last, slurmCount: count}
	}
	kubernetes := map[string]string{kubernetesIndex: "2"}
	for _, c := range []struct {
		text string
		env  map[string]string
		want experiment.Shard
		err  string
	}{
		{"3/16", nil, experiment.Shard{Index: 3, Count: 16}, ""},
		{"3/16", kubernetes, experiment.Shard{Index: 3, Count: 16}, ""},
		{"auto/16", kubernetes, experiment.Shard{Index: 3, Count: 16}, ""},
		{"auto", slurm("3", "1", "16", "16"), experiment.Shard{Index: 3, Count: 16}, ""},
		{"auto/16", slurm("2", "0", "15", "16"), experiment.Shard{Index: 3, Count: 16}, ""},
		{"auto", kubernetes, experiment.Shard{}, "number of completions"},
		{"auto/2", kubernetes, experiment.Shard{}, "counted from 1"},
		{"auto/16", nil, experiment.Shard{}, "is set"},
		{"auto/8", slurm("3", "1", "16", "16"), experiment.Shard{}, "--array=1-16"},
		{"auto", slurm("3", "1", "31", "16"), experiment.Shard{}, "--array=1-16"},
		{"auto", slurm("3", "", "16", "16"), experiment.Shard{}, "no number"},
		{"0/16", nil, experiment.Shard{}, "counted from 1"},
		{"17/16", nil, experiment.Shard{}, "counted from 1"},
		{"3", nil, experiment.Shard{}, "as 3/16"},
		{"3/x", nil, experiment.Shard{}, "as 3/16"},
	} {
		got, err := parseShard(c.text, func(name string) string { return c.env[name] })
		if c.err == "" && (err != nil || got != c.want) {
			t.Errorf("%s with %v: %v, %v; want %v", c.text, c.env, got, err, c.want)
		}
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s with %v: %v, %v; want an error with %q", c.text, c.env, got, err, c.err)
		}
	}
}

// TestManifestsAreCommands: what the files of deploy call exists, with its flags.
func TestManifestsAreCommands(t *testing.T) {
	var lines [][]string
	manifest, err := os.ReadFile(filepath.Join("..", "..", "deploy", "kubernetes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\s+args: (\[.*\])$`).FindAllSubmatch(manifest, -1) {
		var args []string
		if err := json.Unmarshal(m[1], &args); err != nil {
			t.Fatalf("%s: %v", m[1], err)
		}
		lines = append(lines, args)
	}
	script, err := os.ReadFile(filepath.Join("..", "..", "deploy", "slurm.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\s*dpmcmc (.*)$`).FindAllStringSubmatch(string(script), -1) {
		lines = append(lines, strings.Fields(strings.NewReplacer(`"`, "", "$CONFIG", "exp.toml", "$OUT",
			"cmp").Replace(m[1])))
	}
	if len(lines) != 4 {
		t.Fatalf("%d commands were found: %v", len(lines), lines)
	}
	for _, args := range lines {
		c, rest, err := newRoot().Find(args)
		if err == nil {
			err = c.ParseFlags(rest)
		}
		if err != nil || !strings.HasPrefix(c.CommandPath(), "dpmcmc compare") || len(c.Flags().Args()) > 0 {
			t.Errorf("%v: %v", args, err)
		}
	}
}
