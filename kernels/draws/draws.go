// Package draws is a kernels.Sink that writes one CmdStan-style CSV file per
// chain, which stansummary, rstan, cmdstanr, arviz and cmdstanpy read. Only
// released values reach it: lp__ is written as 0 and accept_stat__ is the released
// bit.
package draws

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dpmcmc/dpmcmc/internal/stancsv"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// Config describes the files of a run. Everything in it is written out, so
// everything in it must be public.
type Config struct {
	// Dir is the folder; it is made if it does not exist. Required.
	Dir string
	// Name starts the files' names: Name_1.csv and so on. Defaults to "draws".
	Name string
	// Model and Algorithm name the model and the kernel. Required.
	Model, Algorithm string
	// Parameters names the values of a draw, such as beta[1]. Required.
	Parameters []string
	// Output turns a state into the values written. Defaults to the state itself,
	// which must then have one value per parameter.
	Output func(dst, theta []float64)
	// Iterations and Warmup count steps before thinning; warm-up draws are
	// written too. Iterations is required.
	Iterations, Warmup int64
	// Thin is the number of steps per draw written. Defaults to 1.
	Thin int64
	// Chains is the number of chains. Required.
	Chains int
	// StepSize, Data, Init and Seed are written into the header.
	StepSize   float64
	Data, Init string
	Seed       uint64
	// Made, if not nil, goes on with the files of a run whose chains made so many steps
	// before: draws of later ones are left out. Left are then the numbers of steps to go.
	Made, Left []int64
	// Extra are further public lines, key and value; keys start with dp_.
	Extra [][2]string
}

// Sink writes the files of a run.
type Sink struct {
	config  Config
	started time.Time // of all chains
}

var _ kernels.Sink = (*Sink)(nil)

// New checks that the run can be written: the folder can be made, and no file
// of the run exists yet. Draws are never overwritten.
func New(c Config) (*Sink, error) {
	c.Name = cmp.Or(c.Name, "draws")
	c.Thin = cmp.Or(c.Thin, 1)
	switch {
	case c.Dir == "" || c.Model == "" || c.Algorithm == "" || len(c.Parameters) == 0:
		return nil, fmt.Errorf("draws: Dir, Model, Algorithm and Parameters are required")
	case c.Made != nil && (len(c.Made) != c.Chains || len(c.Left) != c.Chains):
		return nil, fmt.Errorf("draws: Made and Left are of %d and %d chains; there are %d", len(c.Made), len(c.Left),
			c.Chains)
	case c.Iterations < 1 || c.Chains < 1 || c.Warmup < 0 || c.Warmup > c.Iterations:
		return nil, fmt.Errorf("draws: %d chains of %d iterations with %d of warm-up cannot be written", c.Chains,
			c.Iterations, c.Warmup)
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("draws: the output folder cannot be made: %w", err)
	}
	s := &Sink{config: c, started: time.Now().UTC().Truncate(time.Second)}
	for id := range c.Chains {
		path := s.Path(id)
		if _, err := os.Stat(path); err == nil && c.Made == nil {
			return nil, fmt.Errorf("draws: %s exists and is never overwritten: choose another folder or move it away: %w", path,
				fs.ErrExist)
		}
	}
	return s, nil
}

// Path is the file of chain id, counted from 0.
func (s *Sink) Path(id int) string {
	return filepath.Join(s.config.Dir, fmt.Sprintf("%s_%d.csv", s.config.Name, id+1))
}

// Chain creates the file of chain id, or goes on with it.
func (s *Sink) Chain(id int) (kernels.ChainSink, error) {
	c := s.config
	h := stancsv.Header{
		Model: c.Model, Started: s.started, Algorithm: c.Algorithm, Engine: "mh", StepSize: c.StepSize,
		NumSamples: int(c.Iterations - c.Warmup), NumWarmup: int(c.Warmup), SaveWarmup: c.Warmup > 0, Thin: int(c.Thin),
		NumChains: c.Chains, ID: id + 1, DataFile: c.Data, Init: c.Init, Seed: c.Seed, Output: filepath.Base(s.Path(id)),
	}
	for _, e := range c.Extra {
		h.Extra = append(h.Extra, stancsv.Pair{Key: e[0], Value: e[1]})
	}
	out := &chain{config: c, values: make([]float64, len(c.Parameters)), expected: c.Iterations / c.Thin}
	var err error
	if c.Made == nil {
		out.writer, err = stancsv.Create(s.Path(id), h, c.Parameters)
	} else {
		out.written, out.expected = c.Made[id]/c.Thin, (c.Made[id]+c.Left[id])/c.Thin
		out.writer, err = stancsv.Continue(s.Path(id), h, c.Parameters, out.written)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Syncer is what the sinks of chains are that can make their draws outlast a crash.
type Syncer interface {
	// Sync returns when the file holds every draw so far for good.
	Sync() error
}

// Sync implements Syncer.
func (c *chain) Sync() error { return c.writer.Sync() }

// Close does nothing: every chain closes its own file.
func (s *Sink) Close() error { return nil }

type chain struct {
	config  Config
	writer  *stancsv.Writer
	values  []float64
	written int64
	// expected is the number of draws of a chain that ran to its end.
	expected int64
}

func (c *chain) Draw(theta []float64, info kernels.Info) error {
	if c.config.Output == nil {
		copy(c.values, theta)
	} else {
		c.config.Output(c.values, theta)
	}
	c.written++
	return c.writer.Write(stancsv.Draw{Accepted: info.Accepted, StepSize: info.StepSize, Params: c.values})
}

// Close flushes what was drawn; a chain that ran to its end gets CmdStan's
// footer, with times of 0: how long a pass over the records took is not
// released.
func (c *chain) Close() error {
	if c.written == c.expected {
		if err := c.writer.Finalise(0, 0); err != nil {
			return errors.Join(err, c.writer.Close())
		}
	}
	return c.writer.Close()
}
