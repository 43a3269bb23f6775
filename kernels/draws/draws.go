// Package draws is a kernels.Sink that writes one CmdStan-style CSV file per
// chain, which stansummary, rstan, cmdstanr, arviz and cmdstanpy read. Only
// released values reach it: lp__ is written as 0 and accept_stat__ is the released
// bit.
package draws

import (
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
	// Resume, if not nil, goes on with files that exist, one length a chain: what follows
	// in a file is cut off. Steps are then the numbers of steps to go. A file of a chain
	// that has none is left alone.
	Resume, Steps []int64
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
	if c.Name == "" {
		c.Name = "draws"
	}
	if c.Thin == 0 {
		c.Thin = 1
	}
	switch {
	case c.Dir == "" || c.Model == "" || c.Algorithm == "" || len(c.Parameters) == 0:
		return nil, fmt.Errorf("draws: Dir, Model, Algorithm and Parameters are required")
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
		if _, err := os.Stat(path); err == nil && c.Resume == nil {
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

// Chain creates the file of chain id.
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
	if c.Resume != nil {
		return s.resume(id)
	}
	w, err := stancsv.Create(s.Path(id), h, c.Parameters)
	if err != nil {
		return nil, err
	}
	return &chain{config: c, writer: w, values: make([]float64, len(c.Parameters)), expected: c.Iterations / c.Thin}, nil
}

// resume opens the file of chain id to go on with it.
func (s *Sink) resume(id int) (kernels.ChainSink, error) {
	c := s.config
	if c.Steps[id] <= 0 {
		return complete{}, nil
	}
	info, err := os.Stat(s.Path(id))
	if err == nil && info.Size() < c.Resume[id] {
		err = fmt.Errorf("draws: %s has %d bytes and had %d: draws were lost, and the run cannot go on", s.Path(id),
			info.Size(), c.Resume[id])
	}
	if err != nil {
		return nil, err
	}
	if err := os.Truncate(s.Path(id), c.Resume[id]); err != nil {
		return nil, fmt.Errorf("draws: %w", err)
	}
	w, p, err := stancsv.Append(s.Path(id))
	if err != nil {
		return nil, err
	}
	rows := int64(p.Rows)
	return &chain{config: c, writer: w, values: make([]float64, len(c.Parameters)), written: rows,
		expected: rows + c.Steps[id]/c.Thin}, nil
}

// complete is the sink of a chain that draws no more.
type complete struct{}

func (complete) Draw([]float64, kernels.Info) error {
	return errors.New("draws: the chain is complete")
}

func (complete) Close() error { return nil }

// Syncer is what the sinks of chains are that can make their draws outlast a crash.
type Syncer interface {
	// Sync returns the length of the file that then holds every draw so far.
	Sync() (bytes int64, err error)
}

// Sync implements Syncer.
func (c *chain) Sync() (int64, error) { return c.writer.Sync() }

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
