package experiment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/experiment/configs"
	"github.com/dpmcmc/dpmcmc/models"
)

// TestConfigErrors: every mistake is refused at its place, by name.
func TestConfigErrors(t *testing.T) {
	const head = "name = \"x\"\nepsilons = [1]\ndelta = 1e-5\n[data]\nsimulate = \"logistic\"\nrecords = [100]\n"
	const method = "[[method]]\nname = \"dp-sgd\"\n"
	for _, c := range []struct {
		text, at, says string
	}{
		{"nam = \"x\"\n" + head + method, "1:1", `unknown key "nam"; the experiment has name, title, seed`},
		{head + "feature = 3\n" + method, "7:1", `unknown key "data.feature"; [data] has simulate, records, features`},
		{head + method + "setting = {}\n", "9:1",
			`unknown key "method.setting"; [[method]] has name, label, epsilons, settings`},
		{head + method + "settings = { steps = 10, stpes = 3 }\n", "9:26",
			`dp-sgd has no setting "stpes"; it has rate, steps`},
		{head + method + "[method.settings]\nclip = 1\nsteps = 10.5\n", "11:1", "steps = 10.5 must be a whole number"},
		{head + method + method + "label = \"b\"\nsettings = { clip = true }\n", "12:14", "clip = true must be a number"},
		{head + "[[method]]\nname = \"dp-sg\"\n", "8:1",
			`there is no method "dp-sg"; the methods are anchored, ball-ops, barker`},
		{head + method + method, "9:3", `label "dp-sgd": labels must differ`},
		{head, "1:1", "there is no [[method]]"},
		{strings.Replace(head, "delta = 1e-5\n", "", 1) + method, "1:1", "delta = 0: it is required"},
		{strings.Replace(head, "delta = 1e-5", "delta = 1", 1) + method, "3:1", "must be in (0, 1)"},
		{strings.Replace(head, "epsilons = [1]\n", "", 1) + method, "6:3", "has no epsilons"},
		{strings.Replace(head, "[1]", "[1, -2]", 1) + method, "2:1", "every ε must be positive"},
		{strings.Replace(head, "[1]", "[1, 1]", 1) + method, "2:1", "named once"},
		{"metrics = [\"rsme\"]\n" + head + method, "1:1", `there is no metric "rsme"; the metrics are rmse, log-rmse`},
		{strings.Replace(head, "[100]", "[]", 1) + method, "6:1", "records is required"},
		{strings.Replace(head, "logistic", "logit", 1) + method, "5:1",
			`simulate = "logit": it must be one of logistic, probit, `},
		{strings.Replace(head, "simulate", "file = \"x.csv\"\nsimulate", 1) + method, "4:2", "either simulate or file"},
		{strings.Replace(head, "simulate = \"logistic\"", "file = \"x.csv\"", 1) + method, "4:2", "without a schema"},
		{head + "[model]\nloss = \"beta\"\n" + method, "7:2", "loss beta needs beta, a number above 1"},
		{head + "[model]\nprior-sd = -1\n" + method, "8:1", "it must be positive"},
		{head + "[membership]\nrounds = 1\n" + method, "8:1", "at least 4"},
		{head + "repeats = \"ten\"\n" + method, "7:1", ""},
		{head + "x = \n" + method, "7:5", ""},
	} {
		_, err := Parse("exp.toml", []byte(c.text))
		var where *ConfigError
		if !errors.As(err, &where) {
			t.Errorf("no *ConfigError but %v for\n%s", err, c.text)
			continue
		}
		if got := fmt.Sprintf("%d:%d", where.Line, where.Column); got != c.at || !strings.Contains(err.Error(), c.says) ||
			!strings.HasPrefix(err.Error(), "exp.toml:"+c.at+": ") {
			t.Errorf("%v\nmust be at %s and say %q for\n%s", err, c.at, c.says, c.text)
		}
	}
}

// TestPlanErrors are what only setting a method up can find out.
func TestPlanErrors(t *testing.T) {
	const head = "name = \"x\"\nepsilons = [1]\ndelta = 1e-5\n[data]\nsimulate = \"linear\"\nrecords = [100]\n"
	for _, c := range []struct{ text, at, says string }{
		{head + "[[method]]\nname = \"laplace-approximation\"\n", "7:3",
			"with 100 records: it fits the models logistic, not linear"},
		{head + "[model]\nname = \"logistic\"\n[[method]]\nname = \"dp-sgd\"\n", "8:1",
			"model logistic needs a binary target column; the schema's target is \"y\", a number"},
		{head + "[[method]]\nname = \"barker\"\nsettings = { iterations = 1000, step = 1, loss = \"beta\", beta = 1.5 }\n",
			"7:3", "its settings cost"},
		{head + "[[method]]\nname = \"beta-ops\"\n", "7:3", "at ε = 1 with 100 records"},
	} {
		_, err := NewPlan(parse(t, c.text), Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "exp.toml:"+c.at+": ") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v\nmust be at %s and say %q for\n%s", err, c.at, c.says, c.text)
		}
	}
}

// TestBundledExperiments parse, and those on simulated data can be set up.
func TestBundledExperiments(t *testing.T) {
	for _, name := range configs.Experiments() {
		text, err := configs.Experiment(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Parse(name, text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewPlan(c, Options{Public: c.Data.File != ""}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := configs.Experiment("nothing"); err == nil || !strings.Contains(err.Error(), configs.Default) {
		t.Errorf("an experiment that is not there: %v", err)
	}
}

// TestEveryModelIsCompared: data of every model can be simulated, and private chains
// and the non-private posterior set up on them and run.
func TestEveryModelIsCompared(t *testing.T) {
	for _, name := range models.Names() {
		text := "name = \"x\"\nepsilons = [5]\ndelta = 1e-5\nrepeats = 1\n[data]\nsimulate = \"" + name +
			"\"\nrecords = [60]\nfeatures = 1\n" +
			"[model]\nprior-sd = 1\n"
		if name == "negative-binomial" {
			text += "dispersion = 2\n"
		}
		text += "[reference]\nchains = 1\nwarmup = 30\ndraws = 30\n[[method]]\nname = \"nuts\"\nsettings = { draws = 30, " +
			"warmup = 30, chains = 1 }\n"
		text += "[[method]]\nname = \"barker\"\nsettings = { iterations = 20, step = 0.1, clip = 0.1 }\n"
		p := plan(t, text, Options{})
		r, err := p.Run(t.Context(), RunOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, c := range r.Cells {
			if c.Error != "" || len(c.Mean) != len(r.Parameters) || len(c.Metrics) == 0 {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}

// TestSeveralRowsAPerson: a schema in which a person owns several rows is compared by
// methods that can price it.
func TestSeveralRowsAPerson(t *testing.T) {
	dir := t.TempDir()
	schema := "confirmed = true\nrecords = 40\nrows_per_person = 2\n[[column]]\nname = \"y\"\nrole = \"target\"\nkind = " +
		"\"binary\"\nlabels = [\"0\", \"1\"]\n"
	if err := os.WriteFile(filepath.Join(dir, "t.toml"), []byte(schema), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte("y\n"+strings.Repeat("0\n1\n", 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	p := plan(t, "name = \"x\"\nepsilons = [1]\ndelta = 1e-5\nrepeats = 1\n[data]\nfile = \"t.csv\"\nschema = "+
		"\"t.toml\"\n[[method]]\nname = \"barker\"\nsettings = { iterations = 10 }\n",
		Options{ConfigDir: dir, Public: true})
	if rows := p.problems[40].Facts.RowsPerPerson; rows != 2 {
		t.Errorf("%d rows a person", rows)
	}
	r, err := p.Run(t.Context(), RunOptions{})
	if err != nil || len(r.Cells) != 1 || r.Cells[0].Error != "" {
		t.Errorf("%+v, %v", r, err)
	}
}
