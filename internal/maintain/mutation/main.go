// Command mutation measures the test suite: it puts each of a list of
// deliberate defects into a copy of the module, one at a time, and runs the
// tests of the package that should notice. A defect that survives is a promise
// without a test.
//
//	go run ./internal/maintain/mutation [-only regexp] [-timeout 20m] [-share 0.95]
//	    [-skip regexp] [-check] [-from n] [-to n] [-short] [-random n] [-seed n]
//
// With -random, it draws that many mutants of the trusted core instead: operators
// exchanged, conditions negated, numbers one larger, statements left out. Those that do
// not compile count for nothing, and those that explained lists are not tried.
//
// It takes about half an hour on one core; .ci/mutation calls it. The exit
// status is 1 when fewer than the given share of the defects are caught, when
// one no longer matches the source exactly once, or does not compile.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// defect is a change of one place in one file that the named packages' tests
// must notice.
type defect struct {
	file, old, new string
	// tests are the packages tried, in order, until one fails.
	tests []string
	// at, if line is not 0, is where old begins, on that line: of a random mutant.
	at, line int
	runs     int    // a line that is run when it is
	within   string // the text of its line
	// some says that another change of the same line and text does harm, so that each is
	// tried.
	some bool
	// equivalent says why a defect that survives does no harm.
	equivalent string
}

func main() {
	only := flag.String("only", "", "run the defects whose file or text matches this expression")
	timeout := flag.Duration("timeout", 20*time.Minute,
		"longest time by the clock for tests; what counts is processor time")
	share := flag.Float64("share", 0.95, "share of the defects that must be caught")
	skip := flag.String("skip", "^$", "leave out the tests whose name matches, such as one that fails without a defect")
	from := flag.Int("from", 1, "first defect of the list to try, so that a long run can be made in pieces")
	to := flag.Int("to", math.MaxInt, "last defect to try")
	check := flag.Bool("check", false, "only see whether every defect matches the source and compiles")
	random := flag.Int("random", 0, "draw this many mutants of the trusted core, instead of the list")
	seed := flag.Uint64("seed", 1, "seed of -random")
	short := flag.Bool("short", false, "run the short tests only")
	flag.Parse()
	if err := run(selection{*only, *from, *to, *random, *seed}, suite{*timeout, *skip, *short}, *share,
		*check); err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

// selection says which defects of the list are tried.
type selection struct {
	only     string // an expression that the file or text must match
	from, to int    // counting those that do from 1
	random   int    // so many random mutants, instead
	seed     uint64
}

// of returns the selected defects.
func (s selection) of(list []defect) ([]defect, error) {
	filter, err := regexp.Compile(s.only)
	if err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(list, func(d defect) bool { return !filter.MatchString(d.file + " " + d.old + " " + d.new) })
	if s.from < 1 || s.from > s.to || s.from > len(all) {
		return nil, fmt.Errorf("-from %d -to %d of %d defects", s.from, s.to, len(all))
	}
	return all[s.from-1 : min(s.to, len(all))], nil
}

func run(chosen selection, s suite, share float64, check bool) error {
	list := slices.Concat(targetDefects, curatorDefects, accountantDefects, noiseDefects, samplerDefects)
	if chosen.random > 0 {
		var err error
		if list, err = randomMutants(".", chosen.random, chosen.seed); err != nil {
			return err
		}
	}
	all, err := chosen.of(list)
	if err != nil {
		return err
	}
	copied, err := copyModule()
	if err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Dir(copied))
	if check {
		for i := range all {
			all[i].tests = nil
		}
		share = 0
	}
	reached, err := learned(copied, all, s)
	if err != nil {
		return err
	}
	caught, broken, tried := 0, 0, 0
	for _, d := range all {
		known, explained := d.explanation()
		if explained && !known.some {
			fmt.Printf("%-16s %5s  %s: %s → %s\n%24s%s\n", "explained", "", d.place(), oneLine(d.old), oneLine(d.new), "",
				known.equivalent)
			continue
		}
		began := time.Now()
		verdict := d.try(copied, s, reached)
		tried++
		switch verdict {
		case "caught", "caught (timeout)":
			caught++
		case "survived":
			if check {
				continue
			}
		case "does not compile":
			if tried--; d.line == 0 {
				broken++
			}
		default:
			broken++
		}
		fmt.Printf("%-16s %4.0fs  %s: %s → %s\n", verdict, time.Since(began).Seconds(), d.place(), oneLine(d.old),
			oneLine(d.new))
		if why := cmp.Or(d.equivalent, known.equivalent); verdict == "survived" && why != "" {
			fmt.Printf("%24s%s\n", "", why)
			if explained { // no defect
				tried--
			}
		}
	}
	if check {
		fmt.Printf("%d defects, %d out of date\n", len(all), broken)
	} else {
		low, high := clopperPearson(caught, tried)
		fmt.Printf("%d of %d defects caught (%.1f%%; 95%% interval %.1f%% to %.1f%%)\n", caught, tried, 100*float64(caught)/
			float64(tried), 100*low, 100*high)
	}
	switch {
	case broken > 0:
		return fmt.Errorf("%d defects are out of date: mend the list", broken)
	case float64(caught) < share*float64(tried):
		return fmt.Errorf("fewer than %.0f%% were caught", 100*share)
	}
	return nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// copyModule copies the module that the working folder is in to a temporary
// one, beside a link to the reference files that tests read.
func copyModule() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("finding the module: %w", err)
	}
	root := strings.TrimSpace(string(out))
	temp, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return "", err
	}
	shared := filepath.Join(filepath.Dir(root), "shared")
	if err := os.Symlink(shared, filepath.Join(temp, "shared")); err != nil {
		return "", err
	}
	copied := filepath.Join(temp, "module")
	return copied, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			if e.Name() == ".git" {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(copied, rest), 0o755)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(copied, rest), content, 0o644)
	})
}

// learned runs every package of the list unchanged.
func learned(root string, all []defect, s suite) (map[string]reach, error) {
	var watched []string
	for _, d := range all {
		if folder := "./" + filepath.Dir(d.file); !slices.Contains(watched, folder) {
			watched = append(watched, folder)
		}
	}
	known := make(map[string]reach)
	for _, d := range all {
		for _, pkg := range d.tests {
			if _, ok := known[pkg]; ok {
				continue
			}
			r, err := s.learn(root, pkg, watched)
			if err != nil {
				return nil, err
			}
			known[pkg] = r
		}
	}
	return known, nil
}

// try applies the defect, runs the tests that reach it, and restores the file.
func (d defect) try(root string, s suite, known map[string]reach) string {
	path := filepath.Join(root, d.file)
	original, err := os.ReadFile(path)
	if err != nil {
		return "no such file"
	}
	at := d.at
	if d.line == 0 {
		if strings.Count(string(original), d.old) != 1 {
			return "does not match"
		}
		at = strings.Index(string(original), d.old)
	}
	defer restore(path, original)
	changed := string(original[:at]) + d.new + string(original[at+len(d.old):])
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		return err.Error()
	}
	build := exec.Command("go", "build", "-trimpath", "./"+filepath.Dir(d.file))
	build.Dir = root
	if build.Run() != nil {
		return "does not compile"
	}
	line := d.runs
	if line == 0 {
		line = 1 + strings.Count(string(original[:at]), "\n")
	}
	for _, pkg := range d.tests {
		if verdict := s.verdict(root, known[pkg], d.file, line); verdict != "" {
			return verdict
		}
	}
	return "survived"
}

// place is the file, and the line where it is known.
func (d defect) place() string {
	if d.line == 0 {
		return d.file
	}
	return fmt.Sprintf("%s:%d", d.file, d.line)
}

// restore puts a file of the copy back. A copy that cannot be restored is of no
// further use.
func restore(path string, original []byte) {
	if err := os.WriteFile(path, original, 0o644); err != nil {
		panic("mutation: " + err.Error())
	}
}
