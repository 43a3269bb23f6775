package stancsv

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// header returns the smallest header with an extra key.
func header() Header {
	return Header{
		Model: "logistic", Algorithm: "dp_barker", Engine: "mh", NumSamples: 3, ID: 1, Init: "2",
		Extra: []Pair{{"dp_epsilon", "1"}, {"dp_adjacency", "substitute: one record = one person"}},
	}
}

// text returns a finished file of the draws.
func text(t testing.TB, h Header, names []string, draws [][]float64) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, h, names)
	if err != nil {
		t.Fatal(err)
	}
	for i, draw := range draws {
		if err := w.Write(Draw{Accepted: i%2 == 0, StepSize: 0.25, Params: draw}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Finalise(0, 0), w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestWrittenLine(t *testing.T) {
	got := string(text(t, header(), []string{"beta[1]", "L[2,1]", "sigma"},
		[][]float64{{1.5, math.NaN(), math.Inf(-1)}, {-1e-300, math.Inf(1), 0.1}}))
	for _, want := range []string{
		"\nlp__,accept_stat__,stepsize__,beta.1,L.2.1,sigma\n",
		"\n0,1,0.25,1.5,nan,-inf\n",
		"\n0,0,0.25,-1e-300,inf,0.1\n",
		"\n#     algorithm = dp_barker\n#         metric = unit_e\n",
		"\n#       engaged = 0\n",
		"\n# dp_epsilon = 1\n# dp_adjacency = substitute: one record = one person\nlp__",
		"\n# \n#  Elapsed Time: 0 seconds (Warm-up)\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// TestRoundTrip: what is written is read back, bit for bit.
func TestRoundTrip(t *testing.T) {
	value := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1),
		math.Copysign(0, -1), 5e-324, math.MaxFloat64}))
	rapid.Check(t, func(rt *rapid.T) {
		names := []string{"alpha", "beta[1]", "beta[2]", "L[1,1]"}[:rapid.IntRange(0, 4).Draw(rt, "params")]
		draws := rapid.SliceOfN(rapid.SliceOfN(value, len(names), len(names)), 0, 20).Draw(rt, "draws")
		h := header()
		h.Seed = rapid.Uint64().Draw(rt, "seed")
		h.StepSize = rapid.Float64().Draw(rt, "step")
		h.NumWarmup, h.Thin = rapid.IntRange(0, 9).Draw(rt, "warm-up"), rapid.IntRange(1, 3).Draw(rt, "thin")
		h.SaveWarmup = rapid.Bool().Draw(rt, "save")
		c, err := Read(bytes.NewReader(text(t, h, names, draws)))
		if err != nil {
			rt.Fatal(err)
		}
		want := h.withDefaults()
		if !c.Finished || c.Header.Seed != want.Seed || c.Header.StepSize != want.StepSize || c.Header.Adapt != want.Adapt ||
			!slices.Equal(c.Header.Extra, want.Extra) {
			rt.Fatalf("header %+v, want %+v", c.Header, want)
		}
		if !slices.Equal(c.Names, names) || len(c.Sampler) != len(c.Draws) {
			rt.Fatalf("names %v, %d sampler rows, %d draws", c.Names, len(c.Sampler), len(c.Draws))
		}
		warmup := 0
		if h.SaveWarmup {
			warmup = min(len(draws), int(math.Ceil(float64(h.NumWarmup)/float64(h.Thin))))
		}
		if len(c.Warmup) != warmup {
			rt.Fatalf("%d draws of warm-up, want %d", len(c.Warmup), warmup)
		}
		same := func(a, b float64) bool {
			return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
		}
		for i, got := range append(c.Warmup[:warmup:warmup], c.Draws...) {
			if !slices.EqualFunc(got, draws[i], same) {
				rt.Fatalf("draw %d is %v, want %v", i, got, draws[i])
			}
		}
	})
}

func TestCreateNeverOverwrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "draws_1.csv")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Create(path, header(), []string{"beta"})
	if !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "never overwritten") {
		t.Errorf("error %v", err)
	}
	if kept, _ := os.ReadFile(path); string(kept) != "precious" {
		t.Errorf("the file holds %q", kept)
	}
	other := filepath.Join(t.TempDir(), "draws_1.csv")
	if _, err := Create(other, header(), []string{"not a name"}); err == nil {
		t.Error("a bad name makes a file")
	}
	if _, err := os.Stat(other); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused header leaves a file: %v", err)
	}
}

// TestContinuedAnywhere: a file cut at any byte goes on after any of its whole draws, and
// then has the bytes of a run that was never interrupted, under a header of its own.
func TestContinuedAnywhere(t *testing.T) {
	names := []string{"beta[1]", "beta[2]"}
	draws := [][]float64{{1.25, -2}, {3.5e-7, 4}, {5, 123456.789}}
	longer := header()
	longer.NumSamples = 1234567
	whole, want := text(t, header(), names, draws), text(t, longer, names, draws)
	headerEnd := bytes.Index(whole, []byte("beta.2\n")) + len("beta.2\n")
	path := filepath.Join(t.TempDir(), "draws_1.csv")
	for cut := headerEnd - 20; cut <= len(whole); cut += 3 { // the header is long, and an fsync slow
		there := min(len(draws), bytes.Count(whole[min(cut, headerEnd):cut], []byte("\n")))
		for rows := range len(draws) + 1 {
			if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
				t.Fatal(err)
			}
			w, err := Continue(path, longer, names, int64(rows))
			if rows > there {
				if kept, _ := os.ReadFile(path); err == nil || !bytes.Equal(kept, whole[:cut]) {
					t.Fatalf("cut at %d: went on after %d draws of %d, error %v", cut, rows, there, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("cut at %d, after %d draws: %v", cut, rows, err)
			}
			for i, draw := range draws[rows:] {
				if err := w.Write(Draw{Accepted: (rows+i)%2 == 0, StepSize: 0.25, Params: draw}); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(w.Finalise(0, 0), w.Close()); err != nil {
				t.Fatal(err)
			}
			if got, _ := os.ReadFile(path); !bytes.Equal(got, want) {
				t.Fatalf("cut at %d: the file that went on after %d draws is\n%s", cut, rows, got)
			}
		}
	}
}

func TestContinueRefusesOtherColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.csv")
	if err := os.WriteFile(path, []byte("lp__,beta\n0,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Continue(path, header(), []string{"beta"}, 1); err == nil || !strings.Contains(err.Error(), "columns") {
		t.Errorf("error %v", err)
	}
}

func TestReaderErrorsNameTheLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                                    "line 1",
		"# model = m\n":                       "before its column names",
		"# num_samples = many\nlp__,b\n":      `line 1: num_samples = "many"`,
		"a,b\n1,2\n":                          "line 1: expected the column names",
		"lp__,b.x\n":                          "line 1",
		"lp__,b,b\n":                          "stands twice",
		"lp__,b\n0,1\n0,1,2\n":                "line 3: 3 values for 2 columns",
		"# k\nlp__,b\n0,1\n\n0,fish\n":        `line 5, column 2 (b): "fish"`,
		"lp__,b\n0,1e999\n":                   "line 2, column 2 (b)",
		"lp__,b\n0,\n":                        "line 2, column 2 (b)",
		"lp__,b\n" + string(footer) + "0,1\n": "a draw after the footer",
	} {
		if _, err := Read(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", in, err, want)
		}
	}
	if _, err := NewReader(strings.NewReader("# model = m")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
}

// TestReaderIsTolerant: what other programs' files have is read.
func TestReaderIsTolerant(t *testing.T) {
	in := "# stanc_version = stanc3 v2.36.0\r\n# algorithm = hmc (Default)\r\n#   hmc\r\n#     max_depth = 10 " +
		"(Default)\r\n# save_warmup = true\r\n# num_warmup = 1\r\n" +
		"lp__,accept_stat__,theta.1, theta.2\r\n-7.5,1,1,+2\r\n# Adaptation terminated\r\n# Step size = 0.9\r\n\r\n-7.1, " +
		"0.5 ,3,-Inf\r\n-7.1,0.5,3,4"
	c, err := Read(strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	if c.Header.Algorithm != "hmc" || c.Header.MaxDepth != 10 || len(c.Warmup) != 1 || len(c.Draws) != 1 ||
		!math.IsInf(c.Draws[0][1], -1) || !c.Torn || c.Finished {
		t.Errorf("read %+v", c)
	}
}

func TestRefusedHeadersAndNames(t *testing.T) {
	for name, spoil := range map[string]func(*Header){
		"no model":       func(h *Header) { h.Model = "" },
		"no algorithm":   func(h *Header) { h.Algorithm = "" },
		"negative count": func(h *Header) { h.NumSamples = -1 },
		"broken line":    func(h *Header) { h.DataFile = "a\nlp__" },
		"foreign key":    func(h *Header) { h.Extra = []Pair{{"seed", "1"}} },
		"key with =":     func(h *Header) { h.Extra = []Pair{{"dp_a=b", "1"}} },
		"broken extra":   func(h *Header) { h.Extra = []Pair{{"dp_a", "1\r"}} },
	} {
		h := header()
		spoil(&h)
		if _, err := NewWriter(io.Discard, h, nil); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, name := range []string{"", "a b", "a,b", "1a", "lp__", "beta[0]", "beta[x]", "beta.01", "#a", "é"} {
		if _, err := NewWriter(io.Discard, header(), []string{name, "ok"}); err == nil {
			t.Errorf("the name %q is accepted", name)
		}
	}
	if _, err := NewWriter(io.Discard, header(), []string{"beta[1]", "beta.1"}); err == nil {
		t.Error("a name twice is accepted")
	}
}

func TestWriteReportsFailures(t *testing.T) {
	w := newWriter(failing{}, 1)
	err := w.Write(Draw{Params: []float64{1}})
	if err = errors.Join(err, w.Flush()); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error %v", err)
	}
	if err := w.Finalise(0, 0); err == nil {
		t.Error("a footer after a failure is no error")
	}
}

// failing is a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWriteAllocatesNothing(t *testing.T) {
	w := newWriter(io.Discard, 3)
	params := []float64{1.0 / 3, -2e-9, math.Pi}
	if n := testing.AllocsPerRun(1000, func() { _ = w.Write(Draw{StepSize: 0.1, Params: params}) }); n != 0 {
		t.Errorf("%v allocations per draw", n)
	}
}

func BenchmarkWrite(b *testing.B) {
	w := newWriter(io.Discard, 10)
	params := make([]float64, 10)
	for i := range params {
		params[i] = math.Sqrt(float64(i + 2))
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Write(Draw{StepSize: 0.1, Params: params}); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzRead: no input makes the reader panic, and what it accepts is consistent:
// every draw has a value per name, and a copy cut at the last whole draw holds
// the same draws.
func FuzzRead(f *testing.F) {
	f.Add(text(f, header(), []string{"beta[1]", "beta[2]"}, [][]float64{{1, 2}, {3, 4}}))
	f.Add([]byte("lp__,b\n0,1\n0,"))
	f.Add([]byte("# save_warmup = 1\n# num_warmup = 3\n# thin = 2\nlp__,b\n0,nan\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		c, err := Read(bytes.NewReader(in))
		if err != nil {
			return
		}
		for _, draw := range append(c.Warmup[:len(c.Warmup):len(c.Warmup)], c.Draws...) {
			if len(draw) != len(c.Names) {
				t.Fatalf("%d values for %d names", len(draw), len(c.Names))
			}
		}
		h, rows := header(), int64(len(c.Warmup)+len(c.Draws))
		kept, err := keep(in, &h, c.Names, rows)
		if err != nil {
			return
		}
		if _, err := keep(in, &h, c.Names, rows+1); err == nil {
			t.Fatal("a draw was kept that there is not")
		}
		var out bytes.Buffer
		if _, err := NewWriter(&out, header(), c.Names); err != nil {
			t.Fatalf("names that were read cannot be written: %v", err)
		}
		again, err := Read(io.MultiReader(&out, bytes.NewReader(kept)))
		if err != nil || int64(len(again.Warmup)+len(again.Draws)) != rows || again.Torn {
			t.Fatalf("%d draws were kept: %v", rows, err)
		}
	})
}
