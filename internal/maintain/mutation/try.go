package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// plain is where tests are compiled to, of the sources as they are.
func plain(root string) string { return filepath.Join(filepath.Dir(root), "tests") }

// together is where a package's tests are compiled to, with all defects woven in.
func together(root, pkg string) string {
	return filepath.Join(filepath.Dir(root), strings.NewReplacer(".", "woven", "/", "-").Replace(pkg))
}

// compile builds a package's tests.
func compile(root, pkg, to string, flags ...string) (out []byte, err error) {
	build := exec.Command("go", slices.Concat([]string{"test", "-c", "-trimpath", "-vet=off", "-ldflags=-s -w", "-o", to},
		flags, []string{pkg})...)
	build.Dir = root
	return build.CombinedOutput()
}

// compile builds the tests of the packages that woven defects name, with all of them.
func (s suite) compile(root string, all []defect) error {
	built := make(map[string]bool)
	for _, d := range all {
		for i, pkg := range d.tests {
			if d.number == 0 || built[pkg] || s.first && i > 0 {
				continue
			}
			built[pkg] = true
			if out, err := compile(root, pkg, together(root, pkg)); err != nil {
				return fmt.Errorf("the tests of %s with the defects: %w\n%s", pkg, err, out)
			}
		}
	}
	return nil
}

// unfit drops the tests that fail when all defects are woven in and none is chosen: such as
// those that count what a function allocates, which is another when it is not inlined.
func (s suite) unfit(root string, r *reach) error {
	binary := together(root, r.pkg)
	if _, err := os.Stat(binary); err != nil {
		return nil // nothing is woven in
	}
	var names []string
	cpu := time.Minute
	for _, t := range r.tests {
		names, cpu = append(names, t.name), cpu+5*t.took
	}
	_, failed, out := s.play(*r, binary, names, cpu, 0, "-test.failfast=false")
	found := failing.FindAllStringSubmatch(out, -1)
	if failed && len(found) == 0 {
		return fmt.Errorf("the tests of %s with no defect chosen:\n%s", r.pkg, out)
	}
	for _, m := range found {
		fmt.Printf("%s of %s is left out: it fails with functions that call their copies\n", m[1], r.pkg)
		r.tests = slices.DeleteFunc(r.tests, func(t tested) bool { return t.name == m[1] })
	}
	return nil
}

// failing is the line of a test that fails.
var failing = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

// untried is the verdict on a defect that is not tried.
func (d defect) untried() string {
	switch why, ok := d.explanation(); {
	case ok && !why.some:
		return harmless
	case d.at < 0:
		return unmatched
	case d.broken:
		return uncompiled
	}
	return ""
}

// try runs the tests of a package that reach a defect, with it.
func (s suite) try(root string, r reach, d defect) string {
	if d.number > 0 {
		return s.verdict(root, r, d)
	}
	path := filepath.Join(root, d.file)
	original, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	defer func() {
		if err := os.WriteFile(path, original, 0o644); err != nil {
			panic("mutation: a copy that cannot be restored is of no further use: " + err.Error())
		}
	}()
	changed := apply(original, 0, []edit{{d.at, d.at + len(d.old), d.new}})
	if err := os.WriteFile(path, changed, 0o644); err != nil {
		return err.Error()
	}
	build := exec.Command("go", "build", "-trimpath", "./"+filepath.Dir(d.file))
	build.Dir = root
	if build.Run() != nil {
		return uncompiled
	}
	return s.verdict(root, r, d)
}

// verdict says how the tests of a package that reach a defect fail, if they do.
func (s suite) verdict(root string, r reach, d defect) string {
	names, cpu := r.of(d.file, d.runs)
	if !slices.ContainsFunc(names[:], func(n []string) bool { return len(n) > 0 }) {
		return survived
	}
	binary := together(root, r.pkg)
	if d.number == 0 {
		binary = plain(root)
		if _, err := compile(root, r.pkg, binary); err != nil {
			return caught // the tests do not compile with it
		}
	}
	for g, names := range names {
		if len(names) == 0 {
			continue
		}
		limit := 5*time.Second + 5*cpu[g]
		switch took, failed, out := s.play(r, binary, names, limit, d.number); {
		case failed && (took > limit || strings.Contains(out, "panic: test timed out")):
			return timedOut
		case failed:
			return caught
		}
	}
	return survived
}

// play runs tests by name, until the first that fails. It limits processor time, so that
// a busy machine changes no verdict, and memory.
func (s suite) play(r reach, binary string, names []string, cpu time.Duration, number int,
	more ...string) (took time.Duration, failed bool, out string) {
	limit := fmt.Sprintf("ulimit -t %d; ulimit -v 8000000; exec \"$0\" \"$@\"", int(cpu.Seconds())+1)
	args := []string{"-c", limit, binary, "-test.count=1", "-test.failfast", "-test.timeout", s.timeout.String(),
		"-test.run", "^(" + strings.Join(names, "|") + ")$"}
	if s.short {
		args = append(args, "-test.short")
	}
	cmd := exec.Command("sh", append(args, more...)...)
	cmd.Dir = r.folder
	// Properties draw the same values each time, so that verdicts can be repeated.
	cmd.Env = append(os.Environ(), "RAPID_SEED=1", "RAPID_NOFAILFILE=true", fmt.Sprintf("%s=%d", chosen, number))
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Start(); err != nil {
		return 0, false, err.Error()
	}
	ended := make(chan bool)
	go endIdle(cmd.Process, ended)
	err := cmd.Wait()
	close(ended)
	var exit *exec.ExitError
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), errors.As(err, &exit), text.String()
}

// endIdle kills a process that has used next to no processor time for half a minute, such as one
// in which all wait for each other. Where the system does not tell, that is left to the clock.
func endIdle(p *os.Process, ended <-chan bool) {
	const least = 20 // hundredths of a second
	used := 0
	for every := time.Tick(30 * time.Second); ; {
		select {
		case <-ended:
			return
		case <-every:
		}
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid))
		fields := strings.Fields(string(text[1+bytes.LastIndexByte(text, ')'):]))
		if len(fields) < 13 {
			return
		}
		user, _ := strconv.Atoi(fields[11])
		system, _ := strconv.Atoi(fields[12])
		if user+system < used+least {
			_ = p.Kill() // it has ended, if this fails
			return
		}
		used = user + system
	}
}
