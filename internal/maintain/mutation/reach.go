package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// reach says which tests of a package run which lines, so that a defect is tried on
// those alone, the quickest first.
type reach struct {
	pkg, folder string // the folder of the package in the copy
	tests       []tested
}

// tested is a test, the processor time it takes, and the blocks that it runs.
type tested struct {
	name   string
	took   time.Duration
	blocks map[block]bool // false: it leaves it out
}

// block is a range of lines of a file, named by its path in the module.
type block struct {
	file     string
	from, to int
}

// suite says how tests are run.
type suite struct {
	timeout time.Duration
	skip    string
	short   bool
}

// learn runs every test of a package by itself, unchanged: a suite that fails anyway
// catches nothing. watched are the folders whose lines count.
func (s suite) learn(root, pkg string, watched []string) (r reach, err error) {
	r = reach{pkg: pkg, folder: filepath.Join(root, pkg)}
	if out, err := r.compile(root, "-cover", "-coverpkg="+strings.Join(watched, ",")); err != nil {
		return r, fmt.Errorf("the tests of %s do not compile without a defect:\n%s", pkg, out)
	}
	list := exec.Command(r.binary(root), "-test.list", ".")
	list.Dir = r.folder
	names, err := list.Output()
	if err != nil {
		return r, fmt.Errorf("listing the tests of %s: %w", pkg, err)
	}
	left := regexp.MustCompile(s.skip)
	profile := filepath.Join(filepath.Dir(root), "profile")
	for _, name := range strings.Fields(string(names)) {
		if left.MatchString(name) {
			continue
		}
		took, failed, out := s.play(root, r, []string{name}, 10*time.Minute, "-test.coverprofile="+profile)
		if failed {
			return r, fmt.Errorf("%s of %s fails without a defect:\n%s", name, pkg, out)
		}
		blocks, err := readBlocks(profile)
		if err != nil {
			return r, err
		}
		r.tests = append(r.tests, tested{name, took, blocks})
	}
	slices.SortStableFunc(r.tests, func(a, b tested) int { return int(a.took - b.took) })
	return r, nil
}

// binary is where the compiled tests are put.
func (r reach) binary(root string) string { return filepath.Join(filepath.Dir(root), "tests") }

// compile builds the package's tests.
func (r reach) compile(root string, flags ...string) (out []byte, err error) {
	build := exec.Command("go", slices.Concat([]string{"test", "-c", "-trimpath", "-vet=off", "-ldflags=-s -w", "-o",
		r.binary(root)}, flags, []string{r.pkg})...)
	build.Dir = root
	return build.CombinedOutput()
}

// of names the tests that run a line, in two groups: the quick ones, and the others. A
// line that no block holds, such as a constant's, concerns all of them.
func (r reach) of(file string, line int) (groups [2][]string, cpu time.Duration) {
	held := false
	for _, t := range r.tests {
		held = held || len(t.at(file, line)) > 0
	}
	for _, t := range r.tests {
		if held && !slices.Contains(t.at(file, line), true) {
			continue
		}
		group := 0
		if t.took > 300*time.Millisecond {
			group = 1
		}
		groups[group] = append(groups[group], t.name)
		cpu += t.took
	}
	return groups, cpu
}

// at says of each block that holds the line whether the test runs it.
func (t tested) at(file string, line int) (runs []bool) {
	for b := range maps.Keys(t.blocks) {
		if b.file == file && b.from <= line && line <= b.to {
			runs = append(runs, t.blocks[b])
		}
	}
	return runs
}

// play runs tests by name, until the first that fails. It limits processor time, so that
// a busy machine changes no verdict, and memory.
func (s suite) play(root string, r reach, names []string, cpu time.Duration, more ...string) (took time.Duration,
	failed bool, out string) {
	limit := fmt.Sprintf("ulimit -t %d; ulimit -v 8000000; exec \"$0\" \"$@\"", int(cpu.Seconds())+1)
	args := []string{"-c", limit, r.binary(root), "-test.count=1", "-test.failfast", "-test.timeout", s.timeout.String(),
		"-test.run", "^(" + strings.Join(names, "|") + ")$"}
	if s.short {
		args = append(args, "-test.short")
	}
	cmd := exec.Command("sh", append(args, more...)...)
	cmd.Dir = r.folder
	// Properties draw the same values each time, so that verdicts can be repeated.
	cmd.Env = append(os.Environ(), "RAPID_SEED=1", "RAPID_NOFAILFILE=true")
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	return cmd.ProcessState.UserTime(), errors.As(err, &exit), string(text)
}

// verdict says how the tests of a package that reach a line fail, or nothing.
func (s suite) verdict(root string, r reach, file string, line int) string {
	groups, cpu := r.of(file, line)
	if len(groups[0])+len(groups[1]) == 0 {
		return ""
	}
	if _, err := r.compile(root); err != nil {
		return "caught" // the tests do not compile with it
	}
	limit := 10*time.Second + 5*cpu
	for _, names := range groups {
		if len(names) == 0 {
			continue
		}
		switch took, failed, out := s.play(root, r, names, limit); {
		case failed && (took > limit || strings.Contains(out, "panic: test timed out")):
			return "caught (timeout)"
		case failed:
			return "caught"
		}
	}
	return ""
}

// readBlocks reads a coverage profile.
func readBlocks(profile string) (map[block]bool, error) {
	text, err := os.ReadFile(profile)
	if err != nil {
		return nil, err
	}
	all := make(map[block]bool)
	for line := range bytes.Lines(text) {
		m := covered.FindSubmatch(line)
		if m == nil {
			continue
		}
		from, _ := strconv.Atoi(string(m[2]))
		to, _ := strconv.Atoi(string(m[3]))
		b := block{string(m[1]), from, to}
		all[b] = all[b] || string(m[4]) != "0"
	}
	return all, nil
}

// covered is a line of a coverage profile, without the name of the module.
var covered = regexp.MustCompile(`^github\.com/[^/]+/[^/]+/(.*\.go):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)`)
