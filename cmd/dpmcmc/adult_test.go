package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/schemafile"
	"github.com/dpmcmc/dpmcmc/internal/experiment/metrics"
	"github.com/dpmcmc/dpmcmc/internal/shared"
	"github.com/dpmcmc/dpmcmc/internal/stancsv"
)

// TestAdult holds the main job on a real table: the mean of the second half of the
// released draws predicts nearly as well as a non-private fit, on random splits of Adult's
// numeric columns. The noise has public seeds, so that no run differs from another: with
// fresh noise Barker chains of the β loss were 0.0013 below that fit on average in the unit ball, and
// default runs 0.0001.
func TestAdult(t *testing.T) {
	lines := adultLines(t)
	for _, tc := range []struct {
		name  string
		args  []string
		slack float64
	}{
		{"ε=1, log loss", []string{"--epsilon", "1"}, 0.004},
		{"ε=0.3, β=1.5", []string{"--epsilon", "0.3", "--kernel", "barker", "--loss", "beta", "--beta", "1.5",
			"--accept-unexplored"}, 0.02}, // no posterior, but its mean predicts
	} {
		t.Run(tc.name, func(t *testing.T) {
			for split := range 4 {
				train, test := splitAdult(t, lines, uint64(split))
				dir := t.TempDir()
				args := append([]string{"sample", "--data", train.csv, "--schema", train.schema, "--delta", "1e-6", "--out", dir,
					"--insecure-seed", strconv.Itoa(split + 1)},
					tc.args...)
				var out, errw bytes.Buffer
				if code := run(context.Background(), args, nil, &out, &errw); code != exitOK {
					t.Fatalf("exit code %d: %s", code, errw.String())
				}
				private := auc(test.load(t), secondHalfMean(t, filepath.Join(dir, "draws_1.csv")))
				exact := auc(test.load(t), logisticFit(t, train.load(t)))
				t.Logf("split %d: AUC %.4f private, %.4f non-private", split, private, exact)
				if private < exact-tc.slack {
					t.Errorf("split %d: further than %v below the non-private fit", split, tc.slack)
				}
			}
		})
	}
}

// part is one side of a split, with its own schema: only the number of records
// differs.
type part struct{ csv, schema string }

func (p part) load(t *testing.T) *data.Table {
	t.Helper()
	text, err := os.ReadFile(p.schema)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := schemafile.Parse(p.schema, text)
	if err != nil {
		t.Fatal(err)
	}
	table, err := data.Load(context.Background(), p.csv, schema)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func adultLines(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(shared.Path(t, "data/adult.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func splitAdult(t *testing.T, lines []string, seed uint64) (train, test part) {
	t.Helper()
	records := slices.Clone(lines[1:])
	rng := rand.New(rand.NewPCG(seed, 17))
	rng.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	cut := len(records) * 9 / 10
	return writePart(t, "train", lines[0], records[:cut]), writePart(t, "test", lines[0], records[cut:])
}

func writePart(t *testing.T, name, header string, records []string) part {
	t.Helper()
	dir := t.TempDir()
	p := part{filepath.Join(dir, name+".csv"), filepath.Join(dir, name+".toml")}
	schema, err := os.ReadFile(filepath.Join("..", "..", "data", "testdata", "adult.toml"))
	if err != nil {
		t.Fatal(err)
	}
	schema = bytes.Replace(schema, []byte("records = 32561"), fmt.Appendf(nil, "records = %d", len(records)), 1)
	text := header + "\n" + strings.Join(records, "\n") + "\n"
	for path, content := range map[string][]byte{p.csv: []byte(text), p.schema: schema} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// secondHalfMean is the mean of the second half of all draws of a file.
func secondHalfMean(t *testing.T, path string) []float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	chain, err := stancsv.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(chain.Warmup, chain.Draws)
	half := all[len(all)/2:]
	mean := make([]float64, len(chain.Names))
	for _, d := range half {
		for j, v := range d {
			mean[j] += v / float64(len(half))
		}
	}
	return mean
}

// logisticFit is the posterior mode under the default prior, by Newton's
// method.
func logisticFit(t *testing.T, table *data.Table) []float64 {
	t.Helper()
	p := table.Features()
	theta := mat.NewVecDense(p, nil)
	for range 12 {
		gradient, hessian := mat.NewVecDense(p, nil), mat.NewSymDense(p, nil)
		for j := range p {
			gradient.SetVec(j, -theta.AtVec(j)/9)
			hessian.SetSym(j, j, 1.0/9)
		}
		for i := range table.Records {
			x := mat.NewVecDense(p, table.Row(i))
			mu := 1 / (1 + math.Exp(-mat.Dot(x, theta)))
			gradient.AddScaledVec(gradient, table.Y[i]-mu, x)
			hessian.SymRankOne(hessian, mu*(1-mu), x)
		}
		var chol mat.Cholesky
		var step mat.VecDense
		if !chol.Factorize(hessian) || chol.SolveVecTo(&step, gradient) != nil {
			t.Fatal("the non-private fit's Hessian is singular")
		}
		theta.AddVec(theta, &step)
	}
	return theta.RawVector().Data
}

// auc is the area under the ROC curve of the linear predictor.
func auc(t *data.Table, theta []float64) float64 {
	eta := make([]float64, t.Records)
	for i := range eta {
		eta[i] = floats.Dot(t.Row(i), theta)
	}
	return metrics.Area(eta, t.Y)
}
