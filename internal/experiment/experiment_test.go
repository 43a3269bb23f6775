package experiment

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// small is an experiment of a few milliseconds a cell.
const small = `
name = "small"
seed = 7
epsilons = [0.5, 2]
delta = 1e-5
repeats = 3

[data]
simulate = "logistic"
records = [150]
features = 1
test-records = 50

[reference]
chains = 1
warmup = 60
draws = 60

[membership]
rounds = 4

[[method]]
name = "nuts"
settings = { chains = 1, warmup = 60, draws = 60 }

[[method]]
name = "laplace-approximation"
settings = { draws = 40 }

[[method]]
name = "objective-perturbation"

[[method]]
name = "dp-sgd"
settings = { steps = 10, rate = 0.2 }

[[method]]
name = "barker"
settings = { iterations = 300, temperature = 0.5 }
`

func parse(t testing.TB, text string) *Config {
	t.Helper()
	c, err := Parse("exp.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func plan(t testing.TB, text string, o Options) *Plan {
	t.Helper()
	p, err := NewPlan(parse(t, text), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// deterministic are the files that do not depend on when and where a run is made.
var deterministic = []string{"results.csv", "summary.csv", "estimates.csv", "results.json"}

// files runs a plan in a folder and returns what it wrote.
func files(t testing.TB, p *Plan, o RunOptions) map[string]string {
	t.Helper()
	r, err := p.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return written(t, r)
}

func written(t testing.TB, r *Results) map[string]string {
	t.Helper()
	dir := t.TempDir()
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range deterministic {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(text)
	}
	return out
}

func same(t testing.TB, what string, got, want map[string]string) {
	t.Helper()
	for _, name := range deterministic {
		if got[name] != want[name] {
			t.Errorf("%s: %s differs", what, name)
		}
	}
}

// privateTable writes a table of 60 made-up people with its schema, and returns
// their folder.
func privateTable(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	var csv strings.Builder
	csv.WriteString("age,ill\n")
	for i := range 60 {
		csv.WriteString([]string{"20,no\n", "35,no\n", "50,yes\n", "65,no\n", "80,yes\n"}[i%5])
	}
	write(t, filepath.Join(dir, "people.csv"), csv.String())
	write(t, filepath.Join(dir, "people.toml"), `
confirmed = true
records = 60
[[column]]
name = "age"
role = "feature"
kind = "number"
lower = 18
upper = 98
[[column]]
name = "ill"
role = "target"
kind = "binary"
labels = ["no", "yes"]
`)
	return dir
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// private is an experiment on that table.
const private = `
name = "private"
epsilons = [0.5, 1]
delta = 1e-6
repeats = 2

[data]
file = "people.csv"
schema = "people.toml"

[[method]]
name = "objective-perturbation"

[[method]]
name = "laplace-approximation"
settings = { draws = 30 }
`

// TestLinearTablesWeigh: methods learn a linear regression from the rows that a run would take,
// at the radius of least predicted error, which they are charged for, and predict held-out rows
// that are whole.
func TestLinearTablesWeigh(t *testing.T) {
	dir := t.TempDir()
	var csv strings.Builder
	csv.WriteString("x,y\n")
	for i := range 400 {
		fmt.Fprintf(&csv, "%d,%d\n", i%7-3, i%5) // columns of scale 1
	}
	write(t, filepath.Join(dir, "people.csv"), csv.String())
	write(t, filepath.Join(dir, "people.toml"), `
confirmed = true
records = 400
[[column]]
name = "x"
role = "feature"
kind = "number"
lower = -50
upper = 50
center = 0
scale = 1
[[column]]
name = "y"
role = "target"
kind = "number"
lower = -5
upper = 5
`)
	text := strings.Split(private, "[[method]]")[0] + "test-share = 0.25\n[model]\nname = \"linear\"\n" +
		"[[method]]\nname = \"noisy-moments\"\n"
	p := plan(t, text, Options{ConfigDir: dir, Public: true})
	if err := p.load(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := p.sample(300, 0)
	if err != nil {
		t.Fatal(err)
	}
	problem := p.problems[300]
	radius, whole := problem.Facts.Radius, problem.Model.Shape.Whole()
	long := 0
	for i := range s.rows.Len() {
		row := s.rows.Row(i)
		if floats.Norm(row, 2) > radius*(1+1e-9) {
			t.Errorf("a row beyond the radius %v is %v", radius, row)
		} else if floats.Norm(row, 2) > radius*(1-1e-9) {
			long++
		} else if row[0] != whole {
			t.Errorf("a row within the radius %v is %v", radius, row)
		}
	}
	if !(radius < p.table.Radius) || long < 100 {
		t.Errorf("%d of 300 rows are as long as the radius %v of %v", long, radius, p.table.Radius)
	}
	for i := range s.test.Len() {
		if row := s.test.Row(i); math.Abs(row[0]-whole) > 1e-12 {
			t.Errorf("a held-out row is %v, whole rows begin with %v", row, whole)
		}
	}
}
