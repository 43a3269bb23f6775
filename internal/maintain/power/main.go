// Command power measures what package proptest detects: it puts every planted
// defect and every right control through its suite, with many seeds, and writes
// the rates as a table.
//
//	go run ./internal/maintain/power -seeds 100 -effort quick,standard -results power.tsv
//	go run ./internal/maintain/power -table docs/proptest.md,docs/proptest-sets.md -results power.tsv
//
// The first form goes on where an earlier run of the same results stopped, so
// that it can be made in pieces (-for limits its time); cases that took little come
// first. The second replaces the tables in the documents. All defects at standard effort
// take about a quarter of an hour of one core a seed, almost all of it for what is found
// late or never.
package main

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"iter"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpmcmc/dpmcmc/internal/maintain/planted"
	"github.com/dpmcmc/dpmcmc/proptest"
)

var efforts = map[string]proptest.Effort{"quick": proptest.Quick, "standard": proptest.Standard,
	"thorough": proptest.Thorough}

func main() {
	results := flag.String("results", "power.tsv", "file that results are read from and added to")
	seeds := flag.Int("seeds", 20, "number of seeds of each case")
	effort := flag.String("effort", "standard", "efforts, separated by commas")
	only := flag.String("only", "", "cases whose suite, family or name matches this expression")
	controls := flag.Bool("controls", false, "run the right controls instead of the defects")
	limit := flag.Duration("for", 24*time.Hour, "stop after this time")
	table := flag.String("table", "", "documents whose tables are replaced, separated by commas; nothing is run")
	verbose := flag.Bool("v", false, "print what was said of each run")
	testing.Init() // rapid asks whether tests are to be short
	flag.Parse()
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.shrinktime": "100ms"} {
		if err := flag.Set(name, value); err != nil {
			fail(err)
		}
	}
	known, err := read(*results)
	if err != nil {
		fail(err)
	}
	if *table != "" {
		for _, path := range strings.Split(*table, ",") {
			if err := write(path, known); err != nil {
				fail(err)
			}
		}
		fail(nil)
	}
	cases := planted.Defects()
	if *controls {
		cases = slices.Concat(planted.Controls(), planted.Library())
	}
	fail(run(cases, known, *results, regexp.MustCompile(*only), strings.Split(*effort, ","), *seeds,
		time.Now().Add(*limit), *verbose))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "power:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// key identifies a run.
type key struct {
	suite, family, name, effect, effort string
	seed                                int
}

// version is that of the suites. It is raised when a check changes.
const version = "29"

// verdict is what a run gave.
type verdict struct {
	rejected bool
	seconds  float64
	before   bool // of an earlier version
}

func of(c planted.Case, effort string, seed int) key {
	return key{c.Suite, c.Family, c.Name, c.Effect, effort, seed}
}

// read returns the verdicts of earlier runs.
func read(path string) (map[key]verdict, error) {
	known := map[key]verdict{}
	file, err := os.Open(path)
	if os.IsNotExist(err) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		f := strings.Split(lines.Text(), "\t")
		if len(f) != 9 {
			return nil, fmt.Errorf("%s: the line %q has %d fields, not 9", path, lines.Text(), len(f))
		}
		seed, err := strconv.Atoi(f[5])
		if err != nil {
			return nil, err
		}
		seconds, err := strconv.ParseFloat(f[7], 64)
		if err != nil {
			return nil, err
		}
		known[key{f[0], f[1], f[2], f[3], f[4], seed}] = verdict{f[6] == "rejected", seconds, f[8] != version}
	}
	return known, nil
}

// run tries what is not known yet, seed by seed, and adds it to the results.
func run(cases []planted.Case, known map[key]verdict, path string, only *regexp.Regexp, names []string, seeds int,
	until time.Time, verbose bool) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	try := func(c planted.Case, effort string, seed int) (rejected bool, report string, err error) {
		began := time.Now()
		rejected, report = c.Rejected(uint64(seed), efforts[effort])
		took := time.Since(began).Seconds()
		known[of(c, effort, seed)] = verdict{rejected, took, false}
		line := strings.Join([]string{c.Suite, c.Family, c.Name, c.Effect, effort, strconv.Itoa(seed),
			map[bool]string{true: "rejected", false: "passed"}[rejected], fmt.Sprintf("%.2f", took), version}, "\t")
		if verbose {
			fmt.Printf("%s\n    %s\n", line, firstLine(report))
		}
		_, err = fmt.Fprintln(file, line)
		return rejected, report, err
	}
	// What is right must pass, or the rejection of a defect shows nothing.
	for _, c := range planted.Controls() {
		if v, ok := known[of(c, "quick", 1)]; ok && !v.before && !v.rejected {
			continue
		}
		if rejected, report, err := try(c, "quick", 1); rejected || err != nil {
			return fmt.Errorf("the right control %s %s is rejected (error %w), so no figure would mean anything:\n%s", c.Suite,
				c.Name, err, report)
		}
	}
	for _, name := range names {
		if _, ok := efforts[name]; !ok {
			return fmt.Errorf("there is no effort %q", name)
		}
		for c, seed := range cheapestFirst(cases, known, name, seeds, only) {
			if time.Now().After(until) {
				return nil
			}
			if _, _, err := try(c, name, seed); err != nil {
				return err
			}
		}
	}
	return nil
}

// cheapestFirst yields runs that are not known, of the case whose known runs take least, so that
// a limited time gives as many figures as it can.
func cheapestFirst(cases []planted.Case, known map[key]verdict, effort string, seeds int,
	only *regexp.Regexp) iter.Seq2[planted.Case, int] {
	type queue struct {
		of    planted.Case
		took  float64
		seeds []int
	}
	var all []*queue
	for _, c := range cases {
		q := &queue{of: c, took: cmp.Or(meanTime(known, c, effort), meanTime(known, c, "standard"))}
		for seed := 1; seed <= seeds; seed++ {
			if _, done := known[of(c, effort, seed)]; !done && only.MatchString(c.Suite+" "+c.Family+" "+c.Name) {
				q.seeds = append(q.seeds, seed)
			}
		}
		if len(q.seeds) > 0 {
			all = append(all, q)
		}
	}
	return func(yield func(planted.Case, int) bool) {
		for len(all) > 0 {
			next := slices.MinFunc(all, func(a, b *queue) int { return cmp.Compare(a.took, b.took) })
			if !yield(next.of, next.seeds[0]) {
				return
			}
			if next.took, next.seeds = meanTime(known, next.of, effort), next.seeds[1:]; len(next.seeds) == 0 {
				all = slices.DeleteFunc(all, func(q *queue) bool { return q == next })
			}
		}
	}
}

// firstLine is the line of a report that names the violation.
func firstLine(report string) string {
	for _, l := range strings.Split(report, "\n") {
		if strings.HasPrefix(l, "proptest: ") && !strings.Contains(l, "tightness") && !strings.Contains(l, "invariance of") &&
			!strings.HasPrefix(l, "proptest: ε ≥") ||
			strings.HasPrefix(l, "panic") {
			return l[:min(len(l), 300)]
		}
	}
	return ""
}

func count(known map[key]verdict, c planted.Case, effort string) (runs, rejected int) {
	for seed := 1; seed <= 1000; seed++ {
		if v, ok := known[of(c, effort, seed)]; ok {
			runs++
			if v.rejected {
				rejected++
			}
		}
	}
	return runs, rejected
}

func meanTime(known map[key]verdict, c planted.Case, effort string) float64 {
	sum, runs := 0.0, 0.0
	for seed := 1; seed <= 1000; seed++ {
		if v, ok := known[of(c, effort, seed)]; ok {
			sum, runs = sum+v.seconds, runs+1
		}
	}
	return sum / max(1, runs)
}
