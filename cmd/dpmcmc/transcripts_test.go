package main

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the transcripts as they are now")

// TestTranscripts holds sessions of a first hour, in testdata/transcripts, to what is
// printed today. A line "$ dpmcmc …" is a command, what follows is what it prints, and its
// exit code if that is not 0. Figures with a decimal point, times and widths are left out,
// and the runs use --insecure-seed, so that transcripts change when words do.
//
//	go test ./cmd/dpmcmc -run TestTranscripts -update
func TestTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil || len(paths) < 2 {
		t.Fatalf("%d transcripts, %v", len(paths), err)
	}
	for _, path := range paths {
		if path, err = filepath.Abs(path); err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			writeTables(t)
			var got bytes.Buffer
			for line := range strings.SplitSeq(string(text), "\n") {
				if command, is := strings.CutPrefix(line, "$ "); is {
					fmt.Fprintf(&got, "%s\n%s", line, session(t, command))
				}
			}
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := firstDifference(got.String(), string(text)); diff != "" {
				t.Errorf("the session says something else (-update writes it anew):\n%s", diff)
			}
		})
	}
}

// writeTables makes the tables of the sessions: people.csv with a binary response,
// visits.csv of counts, with semicolons and decimal commas, and prices.csv of numbers. The
// first records of each are in new-people.csv and so on.
func writeTables(t *testing.T) {
	t.Helper()
	const records = 3000
	rng := rand.New(rand.NewPCG(1, 2))
	write := func(name, header string, row func() string) {
		var b strings.Builder
		b.WriteString(header + "\n")
		for i := range records {
			if i == 2 {
				writeText(t, "new-"+name, b.String())
			}
			b.WriteString(row() + "\n")
		}
		writeText(t, name, b.String())
	}
	jobs := []string{"none", "part time", "full time"}
	write("people.csv", "age,job,sick", func() string {
		age := 18 + rng.IntN(60)
		sick := "no"
		if rng.Float64() < float64(age-10)/80 {
			sick = "yes"
		}
		return fmt.Sprintf("%d,%s,%s", age, jobs[rng.IntN(3)], sick)
	})
	write("visits.csv", "age;smoker;visits", func() string {
		age, smoker, visits := 20+50*rng.Float64(), "no", 0
		for p := rng.Float64(); p > math.Exp(-age/60); visits++ {
			p *= rng.Float64()
		}
		if rng.IntN(3) == 0 {
			smoker = "yes"
		}
		return strings.ReplaceAll(fmt.Sprintf("%.1f;%s;%d", age, smoker, visits), ".", ",")
	})
	write("prices.csv", "area,rooms,price", func() string {
		area, rooms := 30+100*rng.Float64(), 1+rng.IntN(6)
		return fmt.Sprintf("%.1f,%d,%.1f", area, rooms, 50+2*area+5*float64(rooms)+20*rng.NormFloat64())
	})
}

// session runs a command line, with "> file" at its end, or "sed s/a/b/ file".
func session(t *testing.T, line string) string {
	t.Helper()
	line, into, _ := strings.Cut(line, " > ")
	words := strings.Fields(line)
	if edit, is := strings.CutPrefix(line, "sed s/"); is {
		parts := strings.Split(edit, "/")
		from, to, file := parts[0], strings.ReplaceAll(parts[1], `\n`, "\n"), strings.TrimSpace(parts[2])
		writeText(t, file, strings.Replace(readText(t, file), from, to, 1))
		return ""
	}
	code, out, errw := call(t.Context(), words[1:]...)
	if into != "" {
		if err := os.WriteFile(into, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		out = ""
	}
	text := masked(errw + out)
	if code != exitOK {
		text += fmt.Sprintf("[exit %d]\n", code)
	}
	return text
}

var (
	progressLine = regexp.MustCompile(`(?m)^Iteration: .*\n`)
	figureText   = regexp.MustCompile(`-?\d+\.\d+(e[+-]?\d+)?|\+Inf`)
	roundText    = regexp.MustCompile(`(×|about )\d+\b`) // a figure that ends in zeros, once in a hundred runs
	wholeText    = regexp.MustCompile(`  -?\d+`)
	planRow      = regexp.MustCompile(`(?m)^( +(this budget|half of it|twice that) ).*`)
	spaces       = regexp.MustCompile(` {2,}`)
	version      = regexp.MustCompile(`dpmcmc \(devel\)\S*`)
)

// masked is a text without what differs from run to run, or from one machine to another.
func masked(text string) string {
	text = progressLine.ReplaceAllString(text, "")
	text = planRow.ReplaceAllString(text, "$1 #")
	text = figureText.ReplaceAllString(text, "#")
	text = roundText.ReplaceAllString(text, "$1#")
	text = version.ReplaceAllString(text, "dpmcmc")
	text = spaces.ReplaceAllString(text, "  ")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.Count(line, "  #") >= 2 { // a row of a table
			lines[i] = strings.TrimLeft(wholeText.ReplaceAllString(line, "  #"), " ")
		}
	}
	return strings.Join(lines, "\n")
}

// firstDifference shows where two texts part.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("line %d\n  got  %s\n  want %s", i+1, at(a, i), at(b, i))
		}
	}
	return ""
}

func at(lines []string, i int) string {
	if i >= len(lines) {
		return "(the end)"
	}
	return lines[i]
}
