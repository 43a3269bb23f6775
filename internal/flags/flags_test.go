package flags

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/forecasts"
	"github.com/dpmcmc/dpmcmc/models"
)

// set is a flag set with the flags of a run, and where they are kept.
func set(t *testing.T, args ...string) (*pflag.FlagSet, *chains.Settings, *Model, *Public, error) {
	t.Helper()
	f, s, m, p := pflag.NewFlagSet("run", pflag.ContinueOnError), &chains.Settings{}, &Model{}, &Public{}
	BindSettings(f, s, "clip")
	m.Bind(f)
	p.Bind(f)
	return f, s, m, p, f.Parse(args)
}

// TestEverySettingIsAFlag, but for those that are left out, with a help that says what stands
// for it; whole numbers may be written as 1e5.
func TestEverySettingIsAFlag(t *testing.T) {
	f, s, _, _, err := set(t, "--iterations", "1e5", "--temperature", "auto", "--full", "--start", "prior-mean")
	if err != nil || s.Iterations != 100_000 || s.Temperature != forecasts.AutoTemperature || !s.FullData ||
		s.Start != "prior-mean" {
		t.Errorf("%+v, %v", s, err)
	}
	for _, v := range chains.Table() {
		flag := f.Lookup(v.Name)
		if left := v.Name == "clip"; left != (flag == nil) || !left && (flag.Usage != v.About() ||
			strings.Contains(flag.Usage, "<nil>")) {
			t.Errorf("--%s: %+v", v.Name, flag)
		}
	}
	for _, v := range models.Settings() {
		if f.Lookup(v.Name) == nil {
			t.Errorf("no --%s", v.Name)
		}
	}
	for _, wrong := range []string{"1.5", "1e17", "many"} {
		if _, _, _, _, err := set(t, "--iterations", wrong); err == nil {
			t.Errorf("--iterations %s was taken", wrong)
		}
	}
}

// TestZerosAreRefused: zero stands for a default, and is no value to give.
func TestZerosAreRefused(t *testing.T) {
	f, s, m, _, err := set(t, "--step", "0", "--prior-sd", "0")
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckSettings(f, *s); err == nil || !strings.Contains(err.Error(), "--step is 0") {
		t.Error(err)
	}
	if err := CheckSettings(f, *s, "step"); err != nil {
		t.Error(err)
	}
	if err := m.Check(); err == nil || !strings.Contains(err.Error(), "--prior-sd is zero") {
		t.Error(err)
	}
}

// TestPublicFacts: a size, or a schema that a person has confirmed, and not both.
func TestPublicFacts(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "records = 50\n[[column]]\nname = \"x\"\nrole = \"feature\"\nkind = \"number\"\nlower = 0\nupper = 2\n"
	if err := os.WriteFile("draft.toml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("people.toml", []byte("confirmed = true\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--records 9":                       "--features 0",
		"--schema people.toml --radius 2":   "--radius is what --schema states",
		"--schema none.toml":                "--schema: open none.toml",
		"--schema draft.toml":               "not confirmed",
		"--records 9 --features 2":          "",
		"--schema people.toml":              "",
		"--records 9 --features 2 --step 1": "",
	} {
		f, _, _, p, err := set(t, strings.Fields(args)...)
		if err == nil {
			err = p.Check(f)
		}
		if err == nil {
			shape, failed := p.Shape("logistic")
			if err = failed; err == nil && int64(shape.Records) != p.Records {
				t.Errorf("%s: %d records, and %d", args, shape.Records, p.Records)
			}
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", args, err, want)
		}
	}
}

// TestConfigure: a file sets what the command line does not, and names what it cannot.
func TestConfigure(t *testing.T) {
	t.Chdir(t.TempDir())
	configured := func(text string) (s chains.Settings, list []float64, err error) {
		c := &cobra.Command{Use: "run"}
		BindSettings(c.Flags(), &s)
		c.Flags().Float64SliceVar(&list, "list", nil, "")
		if err := c.ParseFlags([]string{"--step", "0.5"}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("run.toml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err = Configure(c, "run.toml")
		return s, list, errors.Join(err, Configure(c, ""))
	}
	s, list, err := configured("step = 2\nnoise = 3\nlist = [1, 2.5]\n")
	if err != nil || s.Step != 0.5 || s.Noise != 3 || !slices.Equal(list, []float64{1, 2.5}) {
		t.Errorf("step %v, noise %v, list %v, %v", s.Step, s.Noise, list, err)
	}
	for text, want := range map[string]string{
		"noise = 3\nnoisy = 2\n": `there is no setting "noisy"`,
		"noise = \"much\"":       "run.toml: noise",
		"noise = ":               "run.toml:1:",
	} {
		if _, _, err := configured(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

// TestRefusals: what a budget cannot buy is refused, and δ = 0 is named where it is why.
func TestRefusals(t *testing.T) {
	e, err := accountant.Gaussian(accountant.Substitute, 5)
	if err != nil {
		t.Fatal(err)
	}
	spend := func(delta float64) error {
		b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 0.1, Delta: delta, Adjacency: accountant.Substitute})
		if err != nil {
			t.Fatal(err)
		}
		return (&Budget{Epsilon: 0.1, Delta: delta}).Explained(b.Charge(e, 1))
	}
	var refused *RefusedError
	if err := spend(0); !errors.As(err, &refused) || !strings.Contains(err.Error(), "--delta is 0") {
		t.Error(err)
	}
	var exceeded *accountant.ExceededError
	if err := spend(1e-6); !errors.As(err, &exceeded) || !strings.Contains(err.Error(), "dpmcmc plan says") {
		t.Error(err)
	}
	if _, err := (&Budget{AdjacencyName: "swap"}).Adjacency(); err == nil {
		t.Error("an adjacency of no kind")
	}
}
