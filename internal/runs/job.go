package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/packed"
	"github.com/dpmcmc/dpmcmc/data/schemafile"
	"github.com/dpmcmc/dpmcmc/internal/accounts"
	"github.com/dpmcmc/dpmcmc/kernels/draws"
	"github.com/dpmcmc/dpmcmc/kernels/journal"
	"github.com/dpmcmc/dpmcmc/ledger"
	"github.com/dpmcmc/dpmcmc/models"
)

// Job is a run that is to be made, and where it is written. All of it is public.
type Job struct {
	Out      string // folder; empty to write nothing
	Data     string // what the table is called
	Schema   string // file; empty for a built-in table
	Thin     int64
	Warmup   Warmup
	Seed     uint64            // public
	Accounts accounts.Accounts // of the people in the data

	claimed *journal.Journal // in Out, of a run that is about to be charged
	above   string           // the nearest folder that there was, Out itself or above it
}

// Simulated reports that the table is a built-in one.
func (j *Job) Simulated() bool { return strings.HasPrefix(j.Data, data.BuiltinPrefix) }

// Load simulates or reads the table; a packed one stays mapped until the process ends.
func (j *Job) Load(ctx context.Context) (*data.Table, error) {
	if j.Simulated() {
		sim, err := data.Builtin(j.Data)
		if err != nil {
			return nil, fmt.Errorf("--data: %w", err)
		}
		return sim.Table, nil
	}
	schema, err := ReadSchema(j.Schema)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(j.Data, packed.Suffix) {
		f, err := packed.Open(j.Data, schema)
		if err != nil {
			return nil, err
		}
		return &f.Table, nil
	}
	if !schema.Confirmed {
		return nil, fmt.Errorf("--schema: %s: %w", j.Schema, data.ErrUnconfirmed)
	}
	return data.Load(ctx, j.Data, schema)
}

// ReadSchema reads the schema file of --schema.
func ReadSchema(path string) (*data.Schema, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--schema: %w; name a schema file, which dpmcmc schema drafts", err)
	}
	schema, err := schemafile.Parse(path, text)
	if err != nil {
		return nil, fmt.Errorf("--schema: %w", err)
	}
	return schema, nil
}

// Options say how a session runs.
func (j *Job) Options() chains.Options {
	o := chains.Options{Thin: j.Thin, Warmup: j.Warmup.Share}
	if j.Warmup.Given && j.Warmup.Share == 0 {
		o.Warmup = -1
	}
	return o
}

// SetThin fills in --thin, unless it was given, for the iterations that were chosen.
func (j *Job) SetThin(given bool, iterations int64) error {
	if !given {
		j.Thin = chains.Thinning(iterations)
	}
	if j.Thin < 1 || j.Thin > iterations {
		return fmt.Errorf("--thin is %d; it must be between 1 and the %d iterations", j.Thin, iterations)
	}
	return nil
}

// Room reports an output folder that cannot take the run. It makes none: a
// refused run leaves nothing behind.
func (j *Job) Room() error {
	if j.Out == "" {
		return nil
	}
	held, err := filepath.Glob(filepath.Join(j.Out, "draws_*.csv"))
	if at, err := os.Stat(j.Out); err == nil && !at.IsDir() {
		return fmt.Errorf("--out: %s is a file; name a folder, which is made if there is none", j.Out)
	}
	begun, _ := os.Stat(filepath.Join(j.Out, JournalFile)) // an empty one is a claim that was killed
	if err != nil || len(held) > 0 || begun != nil && begun.Size() > 0 {
		return errors.Join(err, fmt.Errorf("--out: %s holds another run, which is never overwritten: choose another folder, "+
			"or --resume %s to go on with that run", j.Out, j.Out))
	}
	j.above = filepath.Clean(j.Out)
	for {
		if _, err := os.Stat(j.above); !errors.Is(err, fs.ErrNotExist) || j.above == filepath.Dir(j.above) {
			break
		}
		j.above = filepath.Dir(j.above)
	}
	probe, err := os.CreateTemp(j.above, ".probe")
	if err != nil {
		return fmt.Errorf("--out: nothing can be written in %s; name a folder that you may write to: %w", j.above, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// Claim takes the output folder, after Room and before the charge: of two runs at once one is
// refused, and has spent nothing.
func (j *Job) Claim() (err error) {
	if j.Out == "" {
		return nil
	}
	if err := os.MkdirAll(j.Out, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	if j.claimed, err = journal.Claim(filepath.Join(j.Out, JournalFile)); err != nil {
		return fmt.Errorf("--out: %s is another run's, and nothing was spent: choose another folder: %w", j.Out, err)
	}
	return nil
}

// Drop gives the folder up, of a run that was not charged.
func (j *Job) Drop() error {
	if j.claimed == nil {
		return nil
	}
	err := j.claimed.Drop()
	for dir := filepath.Clean(j.Out); dir != j.above && os.Remove(dir) == nil; {
		dir = filepath.Dir(dir)
	}
	return err
}

// Files opens the draws files, and writes the certificate before the first release, so
// that no interruption can leave draws without one.
func (j *Job) Files(session *chains.Session, m *models.Model) (*draws.Sink, error) {
	c, err := session.Certificate(m, j.Thin)
	if err == nil {
		err = j.Accounts.Enter(c)
	}
	if err != nil {
		return nil, err
	}
	set := session.Plan.Settings
	var made, left []int64
	for _, p := range session.Positions() {
		made, left = append(made, p.Made), append(left, p.Left)
	}
	sink, err := draws.New(draws.Config{
		Dir: j.Out, Model: m.Name, Algorithm: session.Kernels()[0].Name(), Parameters: m.ParameterNames(), Output: m.Output,
		Iterations: set.Iterations, Warmup: chains.WarmupSteps(set.Iterations, j.Thin, j.Warmup.Over(set)), Thin: j.Thin,
		Chains:   int(set.Chains),
		StepSize: set.Step, Data: j.Data, Init: set.Start, Seed: j.Seed, Extra: append(c.Pairs(), namePairs(m)...),
		Made: made, Left: left,
	})
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	d, err := j.described(m)
	if err != nil {
		return nil, err
	}
	model, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, err
	}
	return sink, errors.Join(writeFile(j.Out, CertificateFile, c.JSON()),
		writeFile(j.Out, ModelFile, model),
		writeFile(j.Out, columnsFile, columnsCSV(m)), j.Accounts.Certificate(c.JSON()))
}

// described is what the run folder says of the model. The schema is public.
func (j *Job) described(m *models.Model) (d described, err error) {
	d = described{Model: m.Name, Options: m.Options, Data: j.Data}
	if j.Schema != "" {
		text, err := os.ReadFile(j.Schema)
		if err != nil {
			return d, fmt.Errorf("--schema: %w", err)
		}
		d.Schema = string(text)
	}
	return d, nil
}

// Record begins the journal of a run that was charged, in the folder that was claimed.
func (j *Job) Record(flags map[string]string, session *chains.Session, sink *draws.Sink) (*Recording, error) {
	set := session.Plan.Settings
	settings, err := json.Marshal(set)
	if err != nil {
		return nil, err
	}
	cost, err := session.Plan.Cost()
	if err != nil {
		return nil, err
	}
	event, err := json.Marshal(cost)
	if err != nil {
		return nil, err
	}
	h := journal.Head{
		Run: j.Accounts.Note.Run, Flags: flags, Settings: settings, Event: event,
		Chains: int(set.Chains), Iterations: set.Iterations, Thin: j.Thin,
	}
	if h.Run == "" {
		h.Run = ledger.NewRun()
	}
	if err := j.claimed.Begin(h); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	return newRecording(j.claimed, session, sink), nil
}

// Report is what people read of a run, or programs; with Out both are written, with the
// certificate and the page.
func (j *Job) Report(f *Run, show View, asJSON bool) (text string, err error) {
	spent, totals, err := j.Accounts.Spent()
	if err != nil {
		return "", err
	}
	words := f.Words(show) + spent
	text = words
	if asJSON {
		r := f.Results(show)
		if totals != nil {
			r.Ledger = totals
		}
		b, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return "", err
		}
		text = string(b) + "\n"
	}
	if j.Out != "" {
		err = errors.Join(writeFile(j.Out, CertificateFile, f.Certificate.JSON()),
			j.Accounts.Certificate(f.Certificate.JSON()), writeFile(j.Out, SummaryFile, []byte(words)), f.WritePage(j.Out))
	}
	return text, err
}
