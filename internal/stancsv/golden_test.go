package stancsv

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dpmcmc/dpmcmc/internal/shared"
)

// golden returns the text of a file that CmdStan's readers were shown to read.
func golden(t testing.TB, chain int) []byte {
	t.Helper()
	text, err := os.ReadFile(shared.Path(t, fmt.Sprintf("golden/cmdstan_csv/run_%d.csv", chain)))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestGoldenHeaderRoundTrip: reading a header and writing it gives its bytes
// again, and so do the column names but for those of Hamiltonian trajectories.
func TestGoldenHeaderRoundTrip(t *testing.T) {
	for chain := 1; chain <= 4; chain++ {
		text := golden(t, chain)
		c, err := Read(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := NewWriter(&out, c.Header, c.Names); err != nil {
			t.Fatal(err)
		}
		want := text[:bytes.Index(text, []byte("beta.3\n"))+len("beta.3\n")]
		want = bytes.Replace(want, []byte(",treedepth__,n_leapfrog__,divergent__,energy__"), nil, 1)
		if !bytes.Equal(out.Bytes(), want) {
			t.Errorf("run_%d: wrote\n%s\nwant\n%s", chain, out.Bytes(), want)
		}
	}
}

func TestGoldenContent(t *testing.T) {
	c, err := Read(bytes.NewReader(golden(t, 3)))
	if err != nil {
		t.Fatal(err)
	}
	h := c.Header
	want := Header{
		StanVersion: [3]int{2, 36, 0}, Model: "logistic_model", Started: time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC),
		NumSamples: 500, NumWarmup: 500, Thin: 1, Adapt: StanAdapt(),
		Algorithm: "dp_penalty", Metric: "unit_e", MaxDepth: 10, Engine: "mh", StepSize: 0.1, NumChains: 1, ID: 3,
		DataFile: "data.csv", Init: "2", Seed: 123, Output: "v15_mh_metric/run_3.csv", Refresh: 100, SigFigs: -1,
	}
	if fmt.Sprint(h) != fmt.Sprint(want) {
		t.Errorf("header %+v, want %+v", h, want)
	}
	if strings.Join(c.Names, " ") != "beta[1] beta[2] beta[3]" || len(c.Draws) != 500 || len(c.Warmup) != 0 ||
		!c.Finished || c.Torn {
		t.Errorf("names %v, %d draws, %d of warm-up, finished %v, torn %v", c.Names, len(c.Draws), len(c.Warmup),
			c.Finished, c.Torn)
	}
	if len(c.SamplerNames) != 7 || len(c.Sampler) != 500 || c.Sampler[0][2] != 0.5 {
		t.Errorf("sampler columns %v", c.SamplerNames)
	}
}

// TestGoldenFooter: the footer's bytes are the golden ones.
func TestGoldenFooter(t *testing.T) {
	text := golden(t, 1)
	var out bytes.Buffer
	w := newWriter(&out, 0)
	if err := w.Finalise(500*time.Millisecond, 700*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if want := text[bytes.LastIndex(text, []byte("# \n#  Elapsed")):]; !bytes.Equal(out.Bytes(), want) {
		t.Errorf("wrote %q, want %q", out.Bytes(), want)
	}
}
