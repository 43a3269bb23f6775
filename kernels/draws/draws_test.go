package draws_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/stancsv"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/kernels/draws"
)

func config(dir string) draws.Config {
	return draws.Config{
		Dir: dir, Model: "line", Algorithm: "dp_barker", Parameters: []string{"beta[1]", "sigma"},
		Output:     func(dst, theta []float64) { dst[0], dst[1] = theta[0], 2*theta[1] },
		Iterations: 6, Warmup: 2, Thin: 2, Chains: 1, StepSize: 0.5, Extra: [][2]string{{"dp_epsilon", "1"}},
	}
}

// fill sends n draws to chain 0 of a new sink and returns its file.
func fill(t *testing.T, c draws.Config, n int) *stancsv.Chain {
	t.Helper()
	sink, err := draws.New(c)
	if err != nil {
		t.Fatal(err)
	}
	chain, err := sink.Chain(0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := chain.Draw([]float64{float64(i), float64(i)}, kernels.Info{Accepted: i%2 == 0, StepSize: 0.5}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(chain.Close(), sink.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(sink.Path(0))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	read, err := stancsv.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestFileHoldsTheDraws(t *testing.T) {
	c := config(t.TempDir())
	got := fill(t, c, 3)
	if !got.Finished || len(got.Warmup) != 1 || len(got.Draws) != 2 || got.Draws[1][0] != 2 || got.Draws[1][1] != 4 {
		t.Errorf("finished %v, warm-up %v, draws %v", got.Finished, got.Warmup, got.Draws)
	}
	if e := got.Header.Extra; len(e) != 1 || e[0].Key != "dp_epsilon" {
		t.Errorf("extra lines %v", e)
	}
	if _, err := draws.New(c); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "never overwritten") {
		t.Errorf("a second run into the folder: error %v", err)
	}
}

func TestShortRunIsLeftUnfinished(t *testing.T) {
	if got := fill(t, config(t.TempDir()), 2); got.Finished || len(got.Draws) != 1 {
		t.Errorf("finished %v, draws %v", got.Finished, got.Draws)
	}
}

func TestRefusals(t *testing.T) {
	for name, change := range map[string]func(*draws.Config){
		"no folder":        func(c *draws.Config) { c.Dir = "" },
		"no model":         func(c *draws.Config) { c.Model = "" },
		"no algorithm":     func(c *draws.Config) { c.Algorithm = "" },
		"no parameters":    func(c *draws.Config) { c.Parameters = nil },
		"no iterations":    func(c *draws.Config) { c.Iterations = 0 },
		"no chains":        func(c *draws.Config) { c.Chains = 0 },
		"warm-up too long": func(c *draws.Config) { c.Warmup = 7 },
	} {
		c := config(t.TempDir())
		change(&c)
		if _, err := draws.New(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A sink for kernels.Run; here it is fed by hand.
func Example() {
	dir, err := os.MkdirTemp("", "draws")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	sink, err := draws.New(draws.Config{
		Dir: dir, Model: "line", Algorithm: "dp_barker", Parameters: []string{"beta[1]"}, Iterations: 1, Chains: 1,
	})
	if err != nil {
		log.Fatal(err)
	}
	chain, err := sink.Chain(0)
	if err != nil {
		log.Fatal(err)
	}
	err = errors.Join(chain.Draw([]float64{0.25}, kernels.Info{Accepted: true}), chain.Close(), sink.Close())
	text, readErr := os.ReadFile(sink.Path(0))
	fmt.Println(err, readErr, strings.Contains(string(text), "0,1,0,0.25"))
	// Output: <nil> <nil> true
}
