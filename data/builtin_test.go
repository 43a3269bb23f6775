package data

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// checksum hashes the bits of a table.
func checksum(t *Table) uint64 {
	h := fnv.New64a()
	for _, v := range [][]float64{t.X, t.Y} {
		if err := binary.Write(h, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return h.Sum64()
}

// Golden values of this implementation: tables must never change under a name, on
// any machine.
func TestBuiltinsAreReproducible(t *testing.T) {
	for name, want := range map[string]uint64{
		"builtin:logistic":                 0xd5a867890f926295,
		"builtin:logistic?n=1000&d=7":      0x942b85eba8802a22,
		"builtin:linear?n=1000&d=2&seed=5": 0x723ac3f7cce7d241,
		"builtin:mixture?n=1000":           0x4de168d80abb63eb,
		"builtin:mixture":                  0xdd20e60daad8ff87,
	} {
		sim, err := Builtin(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := checksum(sim.Table); got != want {
			t.Errorf("%q: %#x, want %#x", name, got, want)
		}
		if sim.Table.Source != name {
			t.Errorf("%s: source %q", name, sim.Table.Source)
		}
	}
}

func TestBuiltinsKeepTheirBounds(t *testing.T) {
	for _, b := range builtins {
		sim, err := Builtin(b.name)
		if err != nil {
			t.Fatal(err)
		}
		table := sim.Table
		if table.Records != b.records || len(table.X) != table.Records*table.Features() ||
			len(table.Terms) != table.Features() || table.RowsPerPerson != 1 {
			t.Errorf("%s: %d records, %d entries, %d columns, %d terms", b.name, table.Records, len(table.X), table.Features(),
				len(table.Terms))
		}
		if b.features > 0 && table.Features() != b.features+1 || len(sim.Names) != len(sim.Truth) ||
			BuiltinPrefix+sim.Model != b.name {
			t.Errorf("%s: P = %d, parameters %v = %v of %s", b.name, table.Features(), sim.Names, sim.Truth, sim.Model)
		}
		for i := range table.Records {
			if record.Norm(table.Row(i)) > table.Radius {
				t.Fatalf("%s: row %d is longer than %v", b.name, i, table.Radius)
			}
		}
		for i, y := range table.Y {
			if target := table.Target; y < target.At(target.Lower) || y > target.At(target.Upper) {
				t.Fatalf("%s: response %d = %v outside [%v, %v]", b.name, i, y, target.Lower, target.Upper)
			}
		}
	}
}

// scores returns for each coefficient the standardised score Σxᵢⱼrᵢ/√Σxᵢⱼ²rᵢ², with
// residuals r of the given coefficients: standard normal under the truth.
func scores(t *Table, beta []float64, mean func(eta float64) float64) []float64 {
	z := make([]float64, t.Features())
	for j := range z {
		var sum, squares float64
		for i := range t.Records {
			eta := 0.0
			for k, x := range t.Row(i) {
				eta += x * beta[k]
			}
			s := t.Row(i)[j] * (t.Y[i] - mean(eta))
			sum += s
			squares += s * s
		}
		z[j] = sum / math.Sqrt(squares)
	}
	return z
}

// The tables follow the model they claim. The names fix the tables, so nothing here
// is random from run to run; a fresh seed would fail at |z| > 6 with probability
// 2e-9 for each score. The mutant, the coefficients with one sign changed, is
// rejected.
func TestRegressionsFollowTheirModel(t *testing.T) {
	for name, mean := range map[string]func(float64) float64{
		"builtin:logistic?n=50000&d=4": func(eta float64) float64 { return 1 / (1 + math.Exp(-eta)) },
		"builtin:linear?n=50000&d=4":   func(eta float64) float64 { return eta },
	} {
		sim, err := Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		for j, z := range scores(sim.Table, sim.Truth, mean) {
			if math.Abs(z) > 6 {
				t.Errorf("%s: score of coefficient %d is %.1f standard errors off", name, j, z)
			}
		}
		for j := range sim.Table.Features() {
			mutant := append([]float64(nil), sim.Truth...)
			mutant[j] = -mutant[j]
			if z := scores(sim.Table, mutant, mean)[j]; math.Abs(z) < 20 {
				t.Errorf("%s: the wrong coefficient %d goes unnoticed, score %.1f", name, j, z)
			}
		}
	}
}

// Linear predictors spread by about as much whatever the number of features, and
// residuals of the linear model have the standard deviation it states.
func TestRegressionsAreEquallyHard(t *testing.T) {
	for _, d := range []string{"1", "3", "10", "100"} {
		sim, err := Builtin("builtin:linear?n=5000&d=" + d)
		if err != nil {
			t.Fatal(err)
		}
		var sum, squares, residuals float64
		for i := range sim.Table.Records {
			eta := 0.0
			for j, x := range sim.Table.Row(i) {
				eta += x * sim.Truth[j]
			}
			sum, squares = sum+eta, squares+eta*eta
			residuals += (sim.Table.Y[i] - eta) * (sim.Table.Y[i] - eta)
		}
		n := float64(sim.Table.Records)
		if sd := math.Sqrt(squares/n - sum/n*sum/n); sd < 1 || sd > 1.5 {
			t.Errorf("d = %s: linear predictors have standard deviation %.3f", d, sd)
		}
		// Standard error 0.5/√(2n) = 0.005.
		if sd := math.Sqrt(residuals / n); math.Abs(sd-0.5) > 0.03 {
			t.Errorf("d = %s: residuals have standard deviation %.3f, want 0.5", d, sd)
		}
	}
}

// Mean ½, variance 2 + ¼ and fourth central moment 3·2² + 6·2·¼ + 1/16 = 15.0625 of
// the mixture, within six standard errors at n = 10⁶.
func TestMixtureMoments(t *testing.T) {
	sim, err := Builtin("builtin:mixture")
	if err != nil {
		t.Fatal(err)
	}
	var mean, variance float64
	for _, x := range sim.Table.X {
		mean += x / 1e6
	}
	for _, x := range sim.Table.X {
		variance += (x - mean) * (x - mean) / 1e6
	}
	if math.Abs(mean-0.5) > 6*math.Sqrt(2.25/1e6) {
		t.Errorf("mean %v, want 0.5", mean)
	}
	if math.Abs(variance-2.25) > 6*math.Sqrt((15.0625-2.25*2.25)/1e6) {
		t.Errorf("variance %v, want 2.25", variance)
	}
}

func TestBuiltinRefusals(t *testing.T) {
	for name, want := range map[string]string{
		"builtin:poisson":                        "choose builtin:logistic, builtin:linear, builtin:mixture",
		"logistic":                               "no built-in table",
		"builtin:logistic?m=3":                   `no setting "m"; the settings are n, d and seed`,
		"builtin:mixture?d=3":                    `no setting "d"; the settings are n and seed`,
		"builtin:logistic?n=0":                   "at least 1",
		"builtin:logistic?n=-5":                  "at least 1",
		"builtin:linear?d=0":                     "at least 1",
		"builtin:logistic?n=1e6":                 "not a whole number",
		"builtin:logistic?seed=-1":               "not a whole number",
		"builtin:logistic?n=1&n=2":               "given 2 times",
		"builtin:logistic?n=%zz":                 "cannot be read",
		"builtin:logistic?n=200000000&d=2":       "at most 268435456",
		"builtin:logistic?d=9223372036854775807": "at most 268435456",
	} {
		if _, err := Builtin(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want it to say %s", name, err, want)
		}
	}
}
