package main

import (
	"bytes"
	"fmt"
	"maps"
	"math"
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
	timeout, longest    time.Duration
	skip                string
	short, check, first bool
}

// learned is what is known of a package, learned now if it is not.
func (s suite) learned(root, pkg string, watched []string, known map[string]reach) (r reach, err error) {
	r, ok := known[pkg]
	if !ok {
		if r, err = s.learn(root, pkg, watched); err == nil {
			known[pkg] = r
		}
	}
	return r, err
}

// learn runs every test of a package by itself, unchanged: a suite that fails anyway
// catches nothing. watched are the folders whose lines count.
func (s suite) learn(root, pkg string, watched []string) (r reach, err error) {
	r = reach{pkg: pkg, folder: filepath.Join(root, pkg)}
	if out, err := compile(root, pkg, plain(root), "-cover", "-coverpkg="+strings.Join(watched, ",")); err != nil {
		return r, fmt.Errorf("the tests of %s do not compile without a defect:\n%s", pkg, out)
	}
	list := exec.Command(plain(root), "-test.list", ".")
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
		took, failed, out := s.play(r, plain(root), []string{name}, s.longest, 0, "-test.coverprofile="+profile)
		switch {
		case took > s.longest:
			fmt.Printf("%s of %s is left out: it takes longer than %v\n", name, pkg, s.longest)
			continue
		case failed:
			return r, fmt.Errorf("%s of %s fails without a defect:\n%s", name, pkg, out)
		}
		blocks, err := readBlocks(profile)
		if err != nil {
			return r, err
		}
		r.tests = append(r.tests, tested{name, took, blocks})
	}
	err = s.unfit(root, &r)
	return r, err
}

// grades are the longest times of the tests that are run first, next and so on.
var grades = [...]time.Duration{30 * time.Millisecond, 300 * time.Millisecond, 3 * time.Second, math.MaxInt64}

// of names the tests that run a line, the quickest first, by grade, with the time that each
// grade takes. A line that no block holds, such as a constant's, concerns all of them.
func (r reach) of(file string, line int) (names [len(grades)][]string, cpu [len(grades)]time.Duration) {
	held := slices.ContainsFunc(r.tests, func(t tested) bool { return len(t.at(file, line)) > 0 })
	for _, t := range r.tests {
		if held && !slices.Contains(t.at(file, line), true) {
			continue
		}
		g := slices.IndexFunc(grades[:], func(most time.Duration) bool { return t.took <= most })
		names[g] = append(names[g], t.name)
		cpu[g] += t.took
	}
	return names, cpu
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
