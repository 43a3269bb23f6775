package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
	"github.com/dpmcmc/dpmcmc/internal/experiment/metrics"
	"github.com/dpmcmc/dpmcmc/internal/shared"
)

const quickExperiment = `
name = "quick"
epsilons = [1]
delta = 1e-5
repeats = 2
[data]
simulate = "logistic"
records = [100]
features = 1
test-records = 40
[reference]
chains = 1
warmup = 40
draws = 40
[[method]]
name = "objective-perturbation"
[[method]]
name = "laplace-approximation"
settings = { draws = 30 }
`

func writeText(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCompare runs an experiment twice in one folder: the second time there is
// nothing left to run, and what is written is the same.
func TestCompare(t *testing.T) {
	config := writeText(t, filepath.Join(t.TempDir(), "quick.toml"), quickExperiment)
	dir := t.TempDir()
	code, out, errw := call(context.Background(), "compare", "--config", config, "--out", dir)
	if code != exitOK || !strings.Contains(out, "RMSE of the parameters") || !strings.Contains(out, "report.html") ||
		!strings.Contains(errw, "Run: 4 / 4 [100%]") {
		t.Fatalf("exit code %d\n%s\n%s", code, out, errw)
	}
	for _, name := range []string{"results.csv", "results.json", "summary.csv", "estimates.csv", "timings.csv",
		"report.html", "rmse.svg", "journal.jsonl"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	code, again, errw := call(context.Background(), "compare", "--config", config, "--out", dir)
	if code != exitOK || again != out || strings.Contains(errw, "Run:") {
		t.Errorf("a second time: exit code %d\n%s\n%s", code, again, errw)
	}
	after, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil || string(after) != string(page) {
		t.Errorf("the report changed: %v", err)
	}
}

func TestCompareJSON(t *testing.T) {
	config := writeText(t, filepath.Join(t.TempDir(), "quick.toml"), quickExperiment)
	code, out, errw := call(context.Background(), "compare", "--config", config, "--json")
	var got struct {
		Privacy string
		Setups  []struct {
			Guarantee string
			Achieved  float64 `json:"achieved_epsilon"`
		}
		Cells []struct{ Metrics map[string]float64 }
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitOK || errw != "" {
		t.Fatalf("exit code %d, %v\n%s", code, err, errw)
	}
	if len(got.Cells) != 4 || len(got.Cells[0].Metrics) < 5 || len(got.Setups) != 2 ||
		got.Setups[0].Guarantee != "unconditional" || !(got.Setups[0].Achieved <= 1) ||
		!strings.Contains(got.Privacy, "not") {
		t.Errorf("%+v", got)
	}
}

// TestCompareList names everything that a configuration can.
func TestCompareList(t *testing.T) {
	code, out, _ := call(context.Background(), "compare", "--list")
	if code != exitOK {
		t.Fatalf("exit code %d", code)
	}
	for _, m := range methods.All() {
		if !strings.Contains(out, "  "+m.Name+"  ["+string(m.Kind)) {
			t.Errorf("the method %s is not listed with its guarantee", m.Name)
		}
	}
	for _, m := range metrics.List() {
		if !strings.Contains(out, "\n  "+m.Name+"\n") {
			t.Errorf("the metric %s is not listed", m.Name)
		}
	}
	if !strings.Contains(out, "logistic") || !strings.Contains(out, "wine_red") {
		t.Error("bundled files are not listed")
	}
}

// TestComparePrivate: private records need a budget that covers every run. None is
// read before: their file does not exist until it is covered.
func TestComparePrivate(t *testing.T) {
	dir := t.TempDir()
	writeText(t, filepath.Join(dir, "people.toml"), `
confirmed = true
records = 40
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
	simulated := "simulate = \"logistic\"\nrecords = [100]\nfeatures = 1\ntest-records = 40\n"
	config := writeText(t, filepath.Join(dir, "exp.toml"),
		strings.Replace(quickExperiment, simulated, "file = \"people.csv\"\nschema = \"people.toml\"\n", 1))
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, exitRefused, "4 releases of private records, which cost together ε = "},
		{[]string{"--epsilon", "0.5", "--delta", "1e-4"}, exitRefused, "refused"},
		{[]string{"--epsilon", "50", "--delta", "1e-4"}, exitUsage, "people.csv"},
		{[]string{"--public"}, exitUsage, "people.csv"},
	} {
		code, out, errw := call(context.Background(), append([]string{"compare", "--config", config}, c.args...)...)
		if code != c.code || out != "" || !strings.Contains(errw, c.says) {
			t.Errorf("%v: exit code %d, want %d; it must say %q\n%s%s", c.args, code, c.code, c.says, out, errw)
		}
	}
	writeText(t, filepath.Join(dir, "people.csv"), "age,ill\n"+strings.Repeat("30,no\n60,yes\n", 20))
	code, out, errw := call(context.Background(), "compare", "--config", config, "--epsilon", "50", "--delta", "1e-4")
	if code != exitOK || !strings.Contains(out, "Spent in all: ε = ") || !strings.Contains(out, "4 releases") ||
		strings.Contains(out, "RMSE") {
		t.Errorf("with a budget: exit code %d\n%s\n%s", code, out, errw)
	}
	code, out, errw = call(context.Background(), "compare", "--config", config, "--public")
	if code != exitOK || !strings.Contains(out, "RMSE") || strings.Contains(out, "Spent") {
		t.Errorf("as public records: exit code %d\n%s\n%s", code, out, errw)
	}
}

func TestCompareRefusals(t *testing.T) {
	config := writeText(t, filepath.Join(t.TempDir(), "quick.toml"), quickExperiment)
	bad := writeText(t, filepath.Join(t.TempDir(), "bad.toml"), strings.Replace(quickExperiment, "repeats", "repeat", 1))
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--config", "bundled:nothing"}, "the bundled experiments are adult"},
		{[]string{"--config", "absent.toml"}, "absent.toml"},
		{[]string{"--config", bad}, "bad.toml:5:1: unknown key \"repeat\""},
		{[]string{"--config", config, "--public"}, "simulated data need no flag"},
		{[]string{"--config", config, "--out", finishedRun(t)}, "holds a run of sample"},
		{[]string{"extra"}, ""},
	} {
		if code, out, errw := call(context.Background(), append([]string{"compare"}, c.args...)...); code != exitUsage ||
			out != "" || !strings.Contains(errw, c.says) {
			t.Errorf("%v: exit code %d; it must say %q\n%s%s", c.args, code, c.says, out, errw)
		}
	}
}

// TestCompareInterrupted: an interrupted comparison ends with 130, and goes on.
func TestCompareInterrupted(t *testing.T) {
	config := writeText(t, filepath.Join(t.TempDir(), "quick.toml"), quickExperiment)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if code, _, _ := call(ctx, "compare", "--config", config, "--out", dir); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	if code, _, errw := call(context.Background(), "compare", "--config", config, "--out", dir); code != exitOK {
		t.Errorf("after the interruption: exit code %d\n%s", code, errw)
	}
}

// TestPublicSchemas: every bundled schema fits its public data set.
func TestPublicSchemas(t *testing.T) {
	for name, model := range map[string]string{
		"adult": "logistic", "banknote": "logistic", "vertebral": "logistic",
		"abalone": "linear", "concrete": "linear", "energy": "linear", "power_plant": "linear", "wine_red": "linear",
	} {
		t.Run(name, func(t *testing.T) {
			data := shared.Path(t, "data/"+name+".csv")
			config := writeText(t, filepath.Join(t.TempDir(), "exp.toml"), `
name = "schema"
epsilons = [1]
delta = 1e-5
repeats = 1
metrics = ["log-loss", "predictive-rmse"]
[data]
file = "`+name+`.csv"
schema = "bundled:`+name+`"
test-share = 0.3
[model]
name = "`+model+`"
[[method]]
name = "dp-sgd"
settings = { steps = 20, rate = 0.01 }
`)
			code, out, errw := call(context.Background(), "compare", "--config", config, "--data-dir", filepath.Dir(data),
				"--public")
			if code != exitOK || !strings.Contains(out, "held-out") {
				t.Errorf("exit code %d\n%s\n%s", code, out, errw)
			}
		})
	}
}
