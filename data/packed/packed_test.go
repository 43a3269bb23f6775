package packed_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/packed"
	"github.com/dpmcmc/dpmcmc/internal/maintain/processor"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// people is a schema of n records, and a CSV file for it.
func people(t testing.TB, n int) (schema *data.Schema, csv string) {
	t.Helper()
	schema = &data.Schema{Confirmed: true, Records: n, Columns: []data.Column{
		{Name: "age", Role: data.Feature, Kind: data.Number, Lower: 18, Upper: 98, Center: 50, Scale: 10},
		{Name: "job", Role: data.Feature, Kind: data.Category, Levels: []string{"a", "b", "c"}},
		{Name: "ill", Role: data.Target, Kind: data.Binary, Labels: []string{"no", "yes"}},
	}}
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	var b strings.Builder
	b.WriteString("age,ill,job\n")
	for range n {
		fmt.Fprintf(&b, "%.3f,%s,%s\n", 18+80*rng.Float64(), []string{"no", "yes"}[rng.IntN(2)],
			[]string{"a", "b", "c"}[rng.IntN(3)])
	}
	csv = filepath.Join(t.TempDir(), "people.csv")
	if err := os.WriteFile(csv, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return schema, csv
}

// pack packs a CSV file and maps it.
func pack(t testing.TB, csv string, schema *data.Schema, o packed.Options) *packed.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "people.dpm")
	if err := packed.FromCSV(context.Background(), path, csv, schema, o); err != nil {
		t.Fatal(err)
	}
	return open(t, path, schema)
}

func open(t testing.TB, path string, schema *data.Schema) *packed.File {
	t.Helper()
	f, err := packed.Open(path, schema)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestDoublePrecisionIsTheTableBitForBit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		schema, csv := people(t, rapid.IntRange(1, 2000).Draw(rt, "records"))
		want, err := data.Load(context.Background(), csv, schema)
		if err != nil {
			rt.Fatal(err)
		}
		got := pack(t, csv, schema, packed.Options{}).Table
		if !slices.Equal(got.X, want.X) || !slices.Equal(got.Y, want.Y) || got.Records != want.Records {
			rt.Fatal("the packed table is another one")
		}
		if !got.Shared {
			rt.Fatal("a mapped table would be copied")
		}
	})
}

// TestSinglePrecisionRoundsInwards: no entry grows, and none moves by more than is said.
func TestSinglePrecisionRoundsInwards(t *testing.T) {
	schema, csv := people(t, 3000)
	want, err := data.Load(context.Background(), csv, schema)
	if err != nil {
		t.Fatal(err)
	}
	got := pack(t, csv, schema, packed.Options{Single: true}).Table
	if got.X != nil || len(got.X32) != len(want.X) || !slices.Equal(got.Y, want.Y) {
		t.Fatal("the table is not in single precision with the responses in double")
	}
	moved := 0
	for i, v := range want.X {
		s := float64(got.X32[i])
		if math.Abs(s) > math.Abs(v) || math.Abs(s-v) > 0x1p-23*math.Abs(v) {
			t.Fatalf("entry %v became %v", v, s)
		}
		if s != v {
			moved++
		}
	}
	if moved == 0 {
		t.Error("no entry was rounded: the test saw nothing")
	}
}

// gradient is what a curator with a fixed seed releases of a table: the noise is the
// same, so that equal releases are equal integer sums.
func gradient(t *testing.T, table *data.Table) []float64 {
	t.Helper()
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1e6, Delta: 1e-6,
		Adjacency: accountant.Substitute})
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := chains.Seal(nil, table, budget, curator.InsecureSeed(7))
	if err != nil {
		t.Fatal(err)
	}
	target, err := targets.New(targets.RegressionConfig{Features: table.Features(),
		Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		t.Fatal(err)
	}
	var released []float64
	for _, batch := range []curator.Batch{{}, {Rate: 0.1}} {
		g, err := curator.Charge(sealed, curator.NoisyGradient{Target: target, Clip: 1, NoiseMultiplier: 5, Batch: batch}, 1)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]float64, target.Dim())
		if err := g.Release(dst, make([]float64, target.Dim())); err != nil {
			t.Fatal(err)
		}
		released = append(released, dst...)
	}
	return released
}

// TestReleasesAreThoseOfTheCSV: sealing a mapped table gives the sums of a loaded one,
// over the full data and over batches.
func TestReleasesAreThoseOfTheCSV(t *testing.T) {
	schema, csv := people(t, 20_000)
	loaded, err := data.Load(context.Background(), csv, schema)
	if err != nil {
		t.Fatal(err)
	}
	file := pack(t, csv, schema, packed.Options{})
	want := gradient(t, loaded)
	if got := gradient(t, &file.Table); !slices.Equal(got, want) {
		t.Errorf("released %v of the packed table, %v of the CSV file", got, want)
	}
	loaded.X[0] += 0.01
	if slices.Equal(gradient(t, loaded), want) {
		t.Error("another record gives the same releases: the test sees nothing")
	}
}

func TestOpenRefuses(t *testing.T) {
	schema, csv := people(t, 500)
	path := filepath.Join(t.TempDir(), "people.dpm")
	if err := packed.FromCSV(context.Background(), path, csv, schema, packed.Options{}); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	open(t, path, schema)
	refused := func(what, want string, content []byte, s data.Schema) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := packed.Open(path, &s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, at := range []int{4096, 4096 + 500*8*2, len(good) - 1} {
		flipped := slices.Clone(good)
		flipped[at] ^= 1
		refused(fmt.Sprintf("byte %d changed", at), "not those of its checksum", flipped, *schema)
	}
	refused("cut short", "its header says", good[:len(good)-8], *schema)
	refused("one byte more", "its header says", append(slices.Clone(good), 0), *schema)
	refused("a CSV file", "no packed table", []byte("age,ill\n"), *schema)
	other := *schema
	other.Columns = slices.Clone(schema.Columns)
	other.Columns[0].Upper = 99
	refused("another bound", "packed under another schema", good, other)
	unconfirmed := *schema
	unconfirmed.Confirmed = false
	refused("an unconfirmed schema", data.ErrUnconfirmed.Error(), good, unconfirmed)
}

func TestPackingRefuses(t *testing.T) {
	schema, csv := people(t, 100)
	dir := t.TempDir()
	path := filepath.Join(dir, "people.dpm")
	ctx := context.Background()
	if err := packed.FromCSV(ctx, path, csv, schema, packed.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := packed.FromCSV(ctx, path, csv, schema, packed.Options{}); err == nil {
		t.Error("a file was overwritten")
	}
	path += "2"
	more := *schema
	more.Records = 101
	var bad *data.Error
	if err := packed.FromCSV(ctx, path, csv, &more, packed.Options{}); !errors.As(err, &bad) || bad.Line != 102 {
		t.Errorf("a missing record: %v", err)
	}
	wide := *schema
	wide.Radius = 1e31
	if err := packed.FromCSV(ctx, path, csv, &wide, packed.Options{Single: true}); err == nil ||
		!strings.Contains(err.Error(), "use double precision") {
		t.Errorf("single precision with radius 1e31: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("refused packings left %v, %v", left, err)
	}
}

// numbers is a table of 20 columns of numbers with three decimals.
func numbers(t testing.TB, n int) (schema *data.Schema, csv string) {
	t.Helper()
	schema = &data.Schema{Confirmed: true, Records: n}
	var b bytes.Buffer
	for j := range 20 {
		name := fmt.Sprintf("x%d", j)
		schema.Columns = append(schema.Columns, data.Column{Name: name, Role: data.Feature, Kind: data.Number, Lower: -1,
			Upper: 1})
		fmt.Fprintf(&b, "%s,", name)
	}
	b.Truncate(b.Len() - 1)
	rng := rand.New(rand.NewPCG(1, 1))
	for range n {
		b.WriteByte('\n')
		for range 20 {
			fmt.Fprintf(&b, "%.3f,", 2*rng.Float64()-1)
		}
		b.Truncate(b.Len() - 1)
	}
	csv = filepath.Join(t.TempDir(), "numbers.csv")
	if err := os.WriteFile(csv, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return schema, csv
}

func BenchmarkPack(b *testing.B) {
	schema, csv := numbers(b, 300_000)
	info, err := os.Stat(csv)
	if err != nil {
		b.Fatal(err)
	}
	for _, single := range []bool{false, true} {
		b.Run(fmt.Sprintf("single=%t", single), func(b *testing.B) {
			b.SetBytes(info.Size())
			path := filepath.Join(b.TempDir(), "people.dpm")
			began := processor.Seconds()
			for b.Loop() {
				os.Remove(path)
				if err := packed.FromCSV(context.Background(), path, csv, schema, packed.Options{Single: single}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(info.Size())*float64(b.N)/1e6/(processor.Seconds()-began), "MB/core-s")
		})
	}
}
