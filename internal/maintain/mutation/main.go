// Command mutation measures the test suite: it puts each of a list of
// deliberate defects into a copy of the module, one at a time, and runs the
// tests of the package that should notice. A defect that survives is a promise
// without a test.
//
//	go run ./internal/maintain/mutation [-only regexp] [-timeout 20m] [-share 0.95]
//	    [-skip regexp] [-check] [-from n] [-to n] [-short] [-random n] [-seed n]
//	    [-results file] [-longest 1h] [-first]
//
// With -random, it draws that many mutants of the trusted core instead: operators
// exchanged, conditions negated, numbers one larger, statements left out. Those that do
// not compile count for nothing, and those that explained lists are not tried.
//
// Defects within functions are compiled together, each as a copy of its function, so that
// tests are compiled once: what remains is running them. .ci/mutation calls it. The exit
// status is 1 when fewer than the given share of the defects are caught, when
// one no longer matches the source exactly once, or does not compile.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
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

// defect is a change of one place in one file that the named packages' tests
// must notice.
type defect struct {
	file, old, new string
	// tests are the packages tried, in order, until one fails.
	tests []string
	// at is where old begins, on that line, or −1 where it does not stand once.
	at, line int
	runs     int // a line that is run when it is
	// within, of a random mutant, is the text of its line. name tells it from all others.
	within, name string
	// number chooses it in the binaries that defects are woven into; 0 when it is in none.
	number int
	broken bool // it does not compile
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
	longest := flag.Duration("longest", time.Hour, "longest processor time of a test; those that take longer are left out")
	share := flag.Float64("share", 0.95, "share of the defects that must be caught")
	skip := flag.String("skip", "^$", "leave out the tests whose name matches, such as one that fails without a defect")
	from := flag.Int("from", 1, "first defect of the list to try, so that a long run can be made in pieces")
	to := flag.Int("to", math.MaxInt, "last defect to try")
	check := flag.Bool("check", false, "only see whether every defect matches the source and compiles")
	random := flag.Int("random", 0, "draw this many mutants of the trusted core, instead of the list")
	seed := flag.Uint64("seed", 1, "seed of -random")
	first := flag.Bool("first", false, "try only the package that each names first, and keep no verdict on what survives")
	short := flag.Bool("short", false, "run the short tests only")
	results := flag.String("results", "", "file that verdicts are added to; those that it holds are not tried again")
	flag.Parse()
	s := suite{*timeout, *longest, *skip, *short, *check, *first}
	if err := run(selection{*only, *from, *to, *random, *seed}, s, *results, *share); err != nil {
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

func run(from selection, s suite, results string, share float64) error {
	copied, err := copyModule()
	if err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Dir(copied))
	var list []defect
	if from.random > 0 {
		list, err = randomMutants(copied, from.random, from.seed)
	} else {
		list, err = deliberate(copied)
	}
	if err != nil {
		return err
	}
	all, err := from.of(list)
	if err != nil {
		return err
	}
	t := tally{}
	if err := t.open(results); err != nil {
		return err
	}
	defer t.close()
	left := slices.DeleteFunc(slices.Clone(all), t.known)
	restore, err := weave(copied, left)
	if err == nil && !s.check {
		err = s.compile(copied, left)
	}
	if err := errors.Join(err, restore()); err != nil {
		return err
	}
	if err := s.rounds(copied, left, &t); err != nil {
		return err
	}
	return t.end(share)
}

// rounds tries defects on the first package that each names, and those that survive without a
// reason on the next, so that the tests of a package that catches all are the only ones learned.
func (s suite) rounds(root string, left []defect, t *tally) error {
	known := make(map[string]reach)
	var folders []string
	for _, d := range left {
		if folder := "./" + filepath.Dir(d.file); !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	for round := 0; len(left) > 0; round++ {
		var next []defect
		for _, d := range left {
			began := time.Now()
			verdict := d.untried()
			if verdict == "" && !s.check {
				r, err := s.learned(root, d.tests[round], folders, known)
				if err != nil {
					return err
				}
				verdict = s.try(root, r, d)
			}
			unknown := verdict == survived && d.reason() == ""
			if unknown && s.first {
				d.print("survived so far", time.Since(began))
			} else if unknown && round+1 < len(d.tests) {
				next = append(next, d)
			} else if err := t.count(d, cmp.Or(verdict, fits), time.Since(began)); err != nil {
				return err
			}
		}
		left = next
	}
	return nil
}

// deliberate is the list, located in the sources at root.
func deliberate(root string) ([]defect, error) {
	all := slices.Concat(targetDefects, curatorDefects, accountantDefects, noiseDefects, samplerDefects)
	for i := range all {
		d := &all[i]
		text, err := os.ReadFile(filepath.Join(root, d.file))
		if err != nil {
			return nil, err
		}
		d.at = -1
		if strings.Count(string(text), d.old) == 1 {
			d.at = strings.Index(string(text), d.old)
			d.line = 1 + strings.Count(string(text[:d.at]), "\n")
			d.runs = d.line
		}
		d.name = d.file + " " + strconv.Quote(d.old) + " " + strconv.Quote(d.new)
	}
	return all, nil
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
