package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

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
