package experiment

import (
	"strings"
	"testing"
)

// TestShardsAreRead: what people and engines say of a shard, and what is refused.
func TestShardsAreRead(t *testing.T) {
	slurm := func(id, first, last, count string) map[string]string {
		return map[string]string{SlurmIndex: id, slurmFirst: first, slurmLast: last, slurmCount: count}
	}
	kubernetes := map[string]string{KubernetesIndex: "2"}
	for _, c := range []struct {
		text string
		env  map[string]string
		want Shard
		err  string
	}{
		{"3/16", nil, Shard{Index: 3, Count: 16}, ""},
		{"3/16", kubernetes, Shard{Index: 3, Count: 16}, ""},
		{"auto/16", kubernetes, Shard{Index: 3, Count: 16}, ""},
		{"auto", slurm("3", "1", "16", "16"), Shard{Index: 3, Count: 16}, ""},
		{"auto/16", slurm("2", "0", "15", "16"), Shard{Index: 3, Count: 16}, ""},
		{"auto", kubernetes, Shard{}, "number of completions"},
		{"auto/2", kubernetes, Shard{}, "counted from 1"},
		{"auto/16", nil, Shard{}, "is set"},
		{"auto/8", slurm("3", "1", "16", "16"), Shard{}, "--array=1-16"},
		{"auto", slurm("3", "1", "31", "16"), Shard{}, "--array=1-16"},
		{"auto", slurm("3", "", "16", "16"), Shard{}, "no number"},
		{"0/16", nil, Shard{}, "counted from 1"},
		{"17/16", nil, Shard{}, "counted from 1"},
		{"3", nil, Shard{}, "as 3/16"},
		{"3/x", nil, Shard{}, "as 3/16"},
	} {
		got, err := ParseShard(c.text, func(name string) string { return c.env[name] })
		if c.err == "" && (err != nil || got != c.want) {
			t.Errorf("%s with %v: %v, %v; want %v", c.text, c.env, got, err, c.want)
		}
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s with %v: %v, %v; want an error with %q", c.text, c.env, got, err, c.err)
		}
	}
}
