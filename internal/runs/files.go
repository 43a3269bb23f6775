package runs

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/dpmcmc/dpmcmc/internal/stancsv"
)

// WriteDraws prints draws in the units of the file.
func (f *Run) WriteDraws(out io.Writer) error {
	w := csv.NewWriter(out)
	line := append([]string{"chain", "draw"}, f.Names()...)
	if err := w.Write(line); err != nil {
		return err
	}
	for c, chain := range f.InUnits() {
		for i, values := range chain {
			line = append(line[:0], strconv.Itoa(c+1), strconv.Itoa(i+1))
			for _, v := range values {
				line = append(line, strconv.FormatFloat(v, 'g', -1, 64))
			}
			if err := w.Write(line); err != nil {
				return err
			}
		}
	}
	w.Flush()
	return w.Error()
}

// Differs says in which way a chain is not one of the run of those before, or is
// empty. Only files of this command say enough.
func Differs(before []File, c *stancsv.Chain) string {
	if len(before) == 0 || len(c.Header.Extra) == 0 {
		return ""
	}
	a, b := before[0].Header, c.Header
	for _, line := range []struct {
		name          string
		first, second any
	}{
		{"model", a.Model, b.Model}, {"algorithm", a.Algorithm, b.Algorithm}, {"step size", a.StepSize, b.StepSize},
		{"data", a.DataFile, b.DataFile}, {"start", a.Init, b.Init}, {"seed", a.Seed, b.Seed}, {"thin", a.Thin, b.Thin},
		{"number of iterations", a.NumWarmup + a.NumSamples, b.NumWarmup + b.NumSamples},
	} {
		if line.first != line.second {
			return fmt.Sprintf("its %s is %v, and that one's %v", line.name, line.second, line.first)
		}
	}
	for _, e := range b.Extra {
		if v := Extra(before[0].Chain, e.Key); v != e.Value {
			return fmt.Sprintf("its %s is %s, and that one's %s", e.Key, e.Value, v)
		}
	}
	if !a.Started.Equal(b.Started) {
		return fmt.Sprintf("it was started at %v, and that one at %v", b.Started, a.Started)
	}
	for _, other := range before {
		if other.Header.ID == b.ID {
			return fmt.Sprintf("chain %d was given before", b.ID)
		}
	}
	return ""
}

// Extra is a line of our own in a file's header.
func Extra(c *stancsv.Chain, key string) string {
	for _, e := range c.Header.Extra {
		if e.Key == key {
			return e.Value
		}
	}
	return ""
}

func ReadChain(path string) (*stancsv.Chain, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	chain, err := stancsv.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return chain, nil
}
