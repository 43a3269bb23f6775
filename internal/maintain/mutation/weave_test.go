package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// program has a place for a defect in each kind of function, and what it prints with each.
const program = `package main

import "fmt"

const one = 1

var table = filled(3)

func filled(n int) (t []int) {
	for i := range n {
		t = append(t, i+one)
	}
	return t
}

type pair[T any] struct{ a, b T }

func (pair[T]) first(x, _ T, rest ...T) T {
	if len(rest) > 0 {
		return rest[0]
	}
	return x
}

func swapped[T any](a, b T) (T, T) { return b, a }

func count(n *int, int2 int) { *n = *n + int2 }

func main() {
	n := 2
	count(&n, 3)
	a, b := swapped(4, 5)
	fmt.Print(table, pair[int]{}.first(6, 7, 8), a, b, n)
}
`

var programDefects = []struct{ old, new, prints string }{
	{"", "", "[1 2 3] 8 5 4 5"},
	{"i+one", "i-one", "[-1 0 1] 8 5 4 5"},
	{"len(rest) > 0", "!(len(rest) > 0)", "[1 2 3] 6 5 4 5"},
	{"return b, a", "return a, b", "[1 2 3] 8 4 5 5"},
	{"*n + int2", "*n - int2", "[1 2 3] 8 5 4 -1"},
	{"one = 1", "one = 2", "by itself"},
	{"return x\n", "return\n", "does not compile"},
}

// TestWeave: a program with several defects woven in does what each of them does, and what
// it does without, when its number is chosen.
func TestWeave(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module woven\n\ngo 1.24\n", "main.go": program} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := weave(t.TempDir(), nil); err != nil {
		t.Errorf("with no defects: %v", err)
	}
	var all []defect
	for _, d := range programDefects[1:] {
		at := strings.Index(program, d.old)
		all = append(all, defect{file: "main.go", old: d.old, new: d.new, at: at})
	}
	restore, err := weave(root, all)
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", "woven", ".")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	for i, d := range programDefects {
		number := 0
		if i > 0 {
			if number = all[i-1].number; (number == 0) != (d.prints == "by itself") ||
				all[i-1].broken != (d.prints == "does not compile") {
				t.Errorf("%q: number %d, broken: %v", d.new, number, all[i-1].broken)
			}
			if number == 0 || all[i-1].broken {
				continue
			}
		}
		run := exec.Command(filepath.Join(root, "woven"))
		run.Env = append(os.Environ(), fmt.Sprintf("%s=%d", chosen, number))
		if out, err := run.CombinedOutput(); err != nil || string(out) != d.prints {
			t.Errorf("%q prints %q, not %q", d.new, out, d.prints)
		}
	}
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "*.go"))
	if text, _ := os.ReadFile(filepath.Join(root, "main.go")); err != nil || string(text) != program || len(files) != 1 {
		t.Errorf("%v are left, with %s", files, text)
	}
}

// TestTallyContinues: verdicts that a file holds are counted and not asked for again.
func TestTallyContinues(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results")
	a, b := defect{name: "a", within: "a"}, defect{name: "b", within: "b"}
	for run := range 2 {
		tally := tally{}
		if err := tally.open(file); err != nil {
			t.Fatal(err)
		}
		for _, d := range []defect{a, b} {
			if tally.known(d) != (run > 0) {
				t.Errorf("run %d: %s is known: %v", run, d.name, run == 0)
			} else if run == 0 {
				if err := tally.count(d, map[string]string{"a": caught, "b": survived}[d.name], 0); err != nil {
					t.Fatal(err)
				}
			}
		}
		if tally.close(); tally.caught != 1 || tally.survived != 1 {
			t.Errorf("run %d: %+v", run, tally)
		}
	}
}
