package beam_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data/packed"
	"github.com/dpmcmc/dpmcmc/data/schemafile"
	"github.com/dpmcmc/dpmcmc/internal/experiment"

	pipelines "github.com/dpmcmc/dpmcmc/beam"
)

func TestMain(m *testing.M) { ptest.Main(m) } // on Prism, unless --runner says otherwise

// table packs records of two features and a response.
func table(t *testing.T, n int, single bool) (pipelines.Config, *packed.File) {
	t.Helper()
	var schema strings.Builder
	fmt.Fprintf(&schema, "confirmed = true\nrecords = %d\n", n)
	for _, column := range []string{"a", "b", "y"} {
		role := "feature"
		if column == "y" {
			role = "target"
		}
		fmt.Fprintf(&schema, "[[column]]\nname = %q\nrole = %q\nkind = \"number\"\nlower = -1\nupper = 1\n", column, role)
	}
	s, err := schemafile.Parse("schema", []byte(schema.String()))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "table.dpm")
	rng := rand.New(rand.NewPCG(uint64(n), 2))
	if err := packed.From(path, s, packed.Options{Single: single}, func(use func([]float64, float64) error) error {
		for range n {
			if err := use([]float64{0.5, rng.Float64() - 0.5, rng.Float64() - 0.5}, 2*rng.Float64()-1); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	f, err := packed.Open(path, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return pipelines.Config{Table: path, Schema: schema.String(), NoiseMultiplier: 5, Response: 1, Rows: n/7 + 1}, f
}

// records is the length of the tables of tests; DPMCMC_BEAM_RECORDS makes it another.
func records(t *testing.T) int {
	n := 100_000
	if text := os.Getenv("DPMCMC_BEAM_RECORDS"); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// TestDistributedSumsAreLocalSums, bit for bit; and so is what is released of them.
func TestDistributedSumsAreLocalSums(t *testing.T) {
	for _, single := range []bool{false, true} {
		config, file := table(t, records(t), single)
		m := config.Moment()
		f, err := config.Facts(accountant.Substitute)
		if err != nil {
			t.Fatal(err)
		}
		local := make([]int64, m.SumsSize(f))
		if err := m.AddSums(local, f, nil, chains.Records(&file.Table)); err != nil {
			t.Fatal(err)
		}
		pipeline, scope := beam.NewPipelineWithRoot()
		sums, err := pipelines.Sums(scope, config)
		if err != nil {
			t.Fatal(err)
		}
		passert.Equals(scope, sums, local)
		ptest.RunAndValidate(t, pipeline)

		other := slices.Clone(local)
		other[0]++
		pipeline, scope = beam.NewPipelineWithRoot()
		if sums, err = pipelines.Sums(scope, config); err != nil {
			t.Fatal(err)
		}
		passert.Equals(scope, sums, other)
		if err := ptest.Run(pipeline); err == nil {
			t.Error("sums that differ by one grid step pass for equal: the test sees nothing")
		}

		budget := func() *accountant.Budget {
			b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 10, Delta: 1e-6, Adjacency: accountant.Substitute})
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		sealed, err := chains.Seal(nil, &file.Table, budget(), curator.InsecureSeed(1))
		if err != nil {
			t.Fatal(err)
		}
		grant, err := curator.Charge(sealed, m, 1)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, m.Size(f)*m.Size(f))
		if err := grant.Release(want, nil); err != nil {
			t.Fatal(err)
		}
		totals, err := curator.NewTotals(f, budget(), curator.InsecureSeed(1))
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, len(want))
		if err := totals.Release(got, m, local); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: released %v of the sums, %v of the table", err, got, want)
		}
	}
}

const sweep = `name = "sweep"
seed = 3
epsilons = [1]
delta = 1e-5
repeats = 4
metrics = ["rmse"]

[data]
simulate = "logistic"
records = [300]
features = 2

[[method]]
name = "barker"
settings = { iterations = 200 }

[[method]]
name = "laplace-approximation"
`

// TestSweepsMergeIntoOneRun: the cells that a pipeline runs are those of a run in one go.
func TestSweepsMergeIntoOneRun(t *testing.T) {
	config, err := experiment.Parse("sweep", []byte(sweep))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := experiment.NewPlan(config, experiment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	one, err := plan.Run(context.Background(), experiment.RunOptions{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	pipeline, scope := beam.NewPipelineWithRoot()
	if err := pipelines.Sweep(scope, pipelines.SweepConfig{Name: "sweep", Text: sweep, Out: out, Shards: 5}); err != nil {
		t.Fatal(err)
	}
	ptest.RunAndValidate(t, pipeline)
	merged, err := plan.Merge(out)
	if err != nil {
		t.Fatal(err)
	}
	want, got := t.TempDir(), t.TempDir()
	if err := one.Write(want); err != nil {
		t.Fatal(err)
	}
	if err := merged.Write(got); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"results.json", "results.csv", "summary.csv", "estimates.csv"} {
		a, err := os.ReadFile(filepath.Join(want, name))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(got, name)); err != nil || !slices.Equal(a, b) {
			t.Errorf("%s differs: %v", name, err)
		}
	}
}
