package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/models"
)

// tableFor writes a table that a model fits, with its schema, and returns their paths.
func tableFor(t *testing.T, model string) (csv, schema string) {
	t.Helper()
	shape, err := models.StandardShape(model, 60, 1)
	if err != nil {
		t.Fatal(err)
	}
	var toml, text strings.Builder
	fmt.Fprintf(&toml, "confirmed = true\nrecords = 60\nradius = 1.5\nintercept = %t\n", shape.Features() > 1)
	header, cells := []string{}, []func(i int) string{}
	if shape.Features() > 0 {
		toml.WriteString("[[column]]\nname = \"x\"\nrole = \"feature\"\nkind = \"number\"\nlower = -3\nupper = 3\ncenter = " +
			"0\nscale = 1\n")
		header, cells = append(header, "x"), append(cells,
			func(i int) string { return fmt.Sprintf("%.2f", float64(i%13-6)/4) })
	}
	if shape.HasTarget() {
		kind := "kind = \"number\"\nlower = 0\nupper = 9\ncenter = 0\nscale = 1\n"
		if k := shape.Classes(); k > 0 {
			kind = fmt.Sprintf("kind = \"category\"\nlevels = [\"%s\"]\n", strings.Join(shape.Labels, "\", \""))
			cells = append(cells, func(i int) string { return shape.Labels[i*7%5%k] })
		} else {
			cells = append(cells, func(i int) string { return fmt.Sprint(i * 7 % 5) })
		}
		toml.WriteString("[[column]]\nname = \"y\"\nrole = \"target\"\n" + kind)
		header = append(header, "y")
	}
	text.WriteString(strings.Join(header, ",") + "\n")
	for i := range 60 {
		row := make([]string, len(cells))
		for j, cell := range cells {
			row[j] = cell(i)
		}
		text.WriteString(strings.Join(row, ",") + "\n")
	}
	dir := t.TempDir()
	csv, schema = filepath.Join(dir, "t.csv"), filepath.Join(dir, "t.toml")
	for path, content := range map[string]string{csv: text.String(), schema: toml.String()} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return csv, schema
}

// TestEveryModelInEveryCommand: a model of the registry is sampled, planned, tuned and
// compared, and predicts its response where it has one. tune may say that a simulated
// posterior is too hard for its reference, which those with several modes are.
func TestEveryModelInEveryCommand(t *testing.T) {
	const budget = " --epsilon 2 --delta 1e-6"
	for _, name := range models.Names() {
		csv, schema := tableFor(t, name)
		shape, err := models.StandardShape(name, 60, 1)
		if err != nil {
			t.Fatal(err)
		}
		model := " --model " + name + " --prior-sd 1"
		toml := "name = \"" + name + "\"\nprior-sd = 1\n"
		if name == "negative-binomial" {
			model, toml = model+" --dispersion 2", toml+"dispersion = 2\n"
		}
		config, run := filepath.Join(t.TempDir(), "compare.toml"), filepath.Join(t.TempDir(), "run")
		text := "name = \"x\"\nepsilons = [2]\ndelta = 1e-6\nrepeats = 1\n[data]\nfile = \"" + csv + "\"\nschema = \"" +
			schema + "\"\n[model]\n" + toml + "[reference]\nchains = 1\nwarmup = 30\ndraws = 30\n" +
			"[[method]]\nname = \"barker\"\nsettings = { iterations = 10, step = 0.1, clip = 0.1 }\n"
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for command, args := range map[string]string{
			"sample": "--data " + csv + " --schema " + schema + model + budget +
				" --iterations 10 --step 0.1 --clip 0.1 --start prior-mean --out " + run,
			"plan": fmt.Sprintf("--kernel barker --records 60 --radius 1 --dimension %d --solve iterations --step 0.1 "+
				"--clip 0.1 --full", max(1, shape.Features())) + model + budget,
			"tune": "--schema " + schema + model + budget +
				" --kernels barker --iterations 20 --start prior-mean --work 1e4 --json",
			"compare": "--config " + config + " --public --workers 1 --json",
		} {
			if command == "tune" && name == "network" && minutes != nil {
				continue // 20 s, to find that its posterior is too hard
			}
			code, _, errw := call(t.Context(), append([]string{command}, strings.Fields(args)...)...)
			if command == "tune" && strings.Contains(errw, "the simulated posterior is too hard") &&
				(name == "mixture" || name == "network") {
				continue
			}
			if code != exitOK {
				t.Errorf("%s %s: exit code %d, %s", command, args, code, errw)
			}
		}
		code, out, errw := call(t.Context(), "predict", run, "--data", csv)
		switch {
		case !shape.HasTarget() && (code == exitOK || !strings.Contains(errw, "predicts no response")):
			t.Errorf("predict without a response: exit code %d, %s", code, errw)
		case shape.HasTarget() && (code != exitOK || strings.Count(out, "\n") < 60):
			t.Errorf("predict by %s: exit code %d, %s, %s", name, code, errw, out)
		}
	}
}

// TestDefaultsAgree: without a kernel sample and plan run the same one, anchored chains, where
// the model leaves no curvature to release too. TestEveryModelIsAnchored in package chains
// has all models.
func TestDefaultsAgree(t *testing.T) {
	foreseeShortly(t)
	for _, name := range []string{"softmax", "mixture", "linear"} {
		csv, schema := tableFor(t, name)
		flags := strings.Fields("--model " + name + " --prior-sd 1 --epsilon 2 --delta 1e-6")
		if name == "linear" {
			flags = append(flags, "--loss", "beta", "--beta", "1.5")
		}
		c := certified(t, append(flags, "--data", csv, "--schema", schema, "--iterations", "20", "--chains", "2",
			"--accept-unexplored", "--no-ledger")...)
		code, out, errs := call(t.Context(), append([]string{"plan", "--records", "60", "--radius", "1.5", "--features", "1",
			"--json"}, flags...)...)
		var p struct{ Kernel string }
		if err := json.Unmarshal([]byte(out), &p); err != nil || code != exitOK {
			t.Fatalf("%s: plan: exit code %d, %v, %s", name, code, err, errs)
		}
		if c.Kernel != "anchored" || p.Kernel != "anchored" {
			t.Errorf("%s: sample runs %s, and plan says %s", name, c.Kernel, p.Kernel)
		}
	}
}
