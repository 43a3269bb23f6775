// Package runs is the folder of a run: the journal that it goes on from, and, once it is
// finished, what it shows: the summary, the page, predictions. That needs no record.
package runs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/schemafile"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/internal/stancsv"
	"github.com/dpmcmc/dpmcmc/models"
)

// The files of a run, beside its draws.
const (
	CertificateFile = "certificate.json"
	SummaryFile     = "summary.txt"
	ModelFile       = "model.json"
	ReportFile      = "report.html"
)

// Run is a finished run: what it released, and what it is about. It holds no record.
type Run struct {
	Data        string
	Model       *models.Model
	Schema      *data.Schema // nil of a built-in table
	Certificate *chains.Certificate
	Draws       [][][]float64 // chains × draws × values, after warm-up
	LeftOut     float64       // the share of each chain that warm-up was
	Complete    bool
}

// described is what a run folder says of the model, for predictions and reports.
type described struct {
	Model   string         `json:"model"`
	Options models.Options `json:"options"`
	Data    string         `json:"data"`
	Schema  string         `json:"schema,omitempty"` // the TOML text
}

// Open reads the folder of a run. It needs no record of the fit.
func Open(dir string) (*Run, error) {
	f, err := OpenDescribed(dir)
	if err != nil {
		return nil, err
	}
	files, err := OpenDraws(dir)
	if err != nil {
		return nil, err
	}
	return f, f.Take(Warmup{}, files)
}

// OpenDescribed is the run in a folder without its draws.
func OpenDescribed(dir string) (*Run, error) {
	var d described
	var c chains.Certificate
	err := readFile(dir, ModelFile, &d)
	if err == nil {
		err = readFile(dir, CertificateFile, &c)
	}
	if err != nil {
		return nil, fmt.Errorf("%w; give the folder of dpmcmc sample --out", err)
	}
	f := &Run{Data: d.Data, Certificate: &c}
	shape, err := f.shape(d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, ModelFile), err)
	}
	if f.Model, err = models.New(d.Model, shape, d.Options); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, ModelFile), err)
	}
	return f, nil
}

// shape is that of the table that was fitted.
func (f *Run) shape(d described) (shape *data.Shape, err error) {
	if strings.HasPrefix(d.Data, data.BuiltinPrefix) {
		return data.BuiltinShape(d.Data)
	}
	if f.Schema, err = schemafile.Parse(ModelFile, []byte(d.Schema)); err != nil {
		return nil, err
	}
	return f.Schema.Shape()
}

// File is one chain and where it was read.
type File struct {
	Path string
	*stancsv.Chain
}

// OpenDraws reads the draws files of a folder.
func OpenDraws(dir string) ([]File, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "draws_*.csv"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s has no draws_1.csv; the run released nothing", dir)
	}
	slices.Sort(paths)
	var files []File
	for _, path := range paths {
		chain, err := ReadChain(path)
		if err != nil {
			return nil, err
		}
		files = append(files, File{path, chain})
	}
	return files, nil
}

// Take takes the draws of files after warm-up.
func (f *Run) Take(w Warmup, files []File) error {
	f.Complete = len(files) > 0
	for _, file := range files {
		if names := f.Model.ParameterNames(); !slices.Equal(file.Names, names) {
			return fmt.Errorf("%s has the parameters %v, and the model of %s has %v", file.Path, file.Names, ModelFile, names)
		}
		f.Draws = append(f.Draws, w.Kept(file.Chain))
		f.Complete, f.LeftOut = f.Complete && file.Finished, w.of(file.Header)
	}
	return nil
}

// readFile reads a file of a run folder.
func readFile(dir, name string, v any) error {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// Pooled are the draws of all chains.
func (f *Run) Pooled() [][]float64 { return slices.Concat(f.Draws...) }

// Names are what people call the parameters.
func (f *Run) Names() []string { return calledNames(f.Model) }

// InUnits are the draws per unit of the file's columns.
func (f *Run) InUnits() [][][]float64 {
	out := make([][][]float64, len(f.Draws))
	for c, chain := range f.Draws {
		for _, values := range chain {
			v := make([]float64, len(values))
			f.Model.InUnits(v, values)
			out[c] = append(out[c], v)
		}
	}
	return out
}

// Table summarises the parameters, per unit of the file's columns or as they are
// written.
func (f *Run) Table(standardised bool) diag.Table {
	if standardised {
		return diag.SummarizeAll(f.Names(), f.Draws)
	}
	return diag.SummarizeAll(f.Names(), f.InUnits())
}

// Verdict judges the values as the chain moved them: mixing does not depend on units.
func (f *Run) Verdict() chains.Verdict { return chains.Judge(f.Table(true), f.Certificate) }
