package experiment

import (
	"fmt"
	"strconv"
	"strings"
)

// Variables in which engines say which task a process is.
const (
	KubernetesIndex = "JOB_COMPLETION_INDEX" // from 0
	SlurmIndex      = "SLURM_ARRAY_TASK_ID"
	slurmFirst      = "SLURM_ARRAY_TASK_MIN"
	slurmLast       = "SLURM_ARRAY_TASK_MAX"
	slurmCount      = "SLURM_ARRAY_TASK_COUNT"
)

// ParseShard reads --shard: 3/16, or auto/16 for what the engine says, or auto alone
// under Slurm, which says how many tasks there are.
func ParseShard(text string, env func(string) string) (Shard, error) {
	index, count, both := strings.Cut(text, "/")
	var s Shard
	var err error
	if both {
		if s.Count, err = strconv.Atoi(count); err != nil {
			return s, fmt.Errorf("--shard is %q; give the third of 16 shards as 3/16, or auto/16", text)
		}
	}
	switch {
	case index != "auto":
		if s.Index, err = strconv.Atoi(index); err != nil || !both {
			return s, fmt.Errorf("--shard is %q; give the third of 16 shards as 3/16, or auto/16", text)
		}
	case env(SlurmIndex) != "":
		if s, err = slurmShard(s.Count, env); err != nil {
			return s, err
		}
	case env(KubernetesIndex) != "":
		i, err := strconv.Atoi(env(KubernetesIndex))
		if err != nil || !both {
			return s, fmt.Errorf("--shard is %q with %s=%s; give the number of completions, as in auto/16", text,
				KubernetesIndex, env(KubernetesIndex))
		}
		s.Index = i + 1
	default:
		return s, fmt.Errorf("--shard is %q, and neither %s nor %s is set: give the shard, as in 3/16", text, KubernetesIndex,
			SlurmIndex)
	}
	if s.Count < 1 || s.Index < 1 || s.Index > s.Count {
		return s, fmt.Errorf("--shard is %q, which is shard %v; shards are counted from 1 to their number", text, s)
	}
	return s, nil
}

// slurmShard is the place of a task in its array, which must have no gaps.
func slurmShard(count int, env func(string) string) (Shard, error) {
	var v [4]int
	for i, name := range []string{SlurmIndex, slurmFirst, slurmLast, slurmCount} {
		var err error
		if v[i], err = strconv.Atoi(env(name)); err != nil {
			return Shard{}, fmt.Errorf("--shard auto: %s is %q, which is no number", name, env(name))
		}
	}
	task, first, last, tasks := v[0], v[1], v[2], v[3]
	if last-first+1 != tasks || count != 0 && count != tasks {
		return Shard{}, fmt.Errorf("--shard auto: the array has %d tasks from %d to %d, and %d shards were asked "+
			"for; submit it as --array=1-%d", tasks, first, last, max(count, tasks), max(count, tasks))
	}
	return Shard{Index: task - first + 1, Count: tasks}, nil
}
