package main

import (
	"encoding/json"
	"errors"
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
	certificateFile = "certificate.json"
	summaryFile     = "summary.txt"
	modelFile       = "model.json"
	reportFile      = "report.html"
)

// finished is a run: what it released, and what it is about. It holds no record.
type finished struct {
	data        string
	model       *models.Model
	schema      *data.Schema // nil of a built-in table
	certificate *chains.Certificate
	draws       [][][]float64 // chains × draws × values, after warm-up
	leftOut     float64       // the share of each chain that warm-up was
	complete    bool
}

// described is what a run folder says of the model, for predictions and reports.
type described struct {
	Model   string         `json:"model"`
	Options models.Options `json:"options"`
	Data    string         `json:"data"`
	Schema  string         `json:"schema,omitempty"` // the TOML text
}

// openFinished reads the folder of a run. It needs no record of the fit.
func openFinished(dir string) (*finished, error) {
	f, err := openDescribed(dir)
	if err != nil {
		return nil, err
	}
	files, err := openDraws(dir)
	if err != nil {
		return nil, err
	}
	return f, f.take(warmup{}, files)
}

// openDescribed is the run in a folder without its draws.
func openDescribed(dir string) (*finished, error) {
	var d described
	var c chains.Certificate
	if err := errors.Join(readRunFile(dir, modelFile, &d), readRunFile(dir, certificateFile, &c)); err != nil {
		return nil, fmt.Errorf("%w; give the folder of dpmcmc sample --out", err)
	}
	f := &finished{data: d.Data, certificate: &c}
	shape, err := f.shape(d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, modelFile), err)
	}
	if f.model, err = models.New(d.Model, shape, d.Options); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, modelFile), flagged(err))
	}
	return f, nil
}

// shape is that of the table that was fitted.
func (f *finished) shape(d described) (shape *data.Shape, err error) {
	if strings.HasPrefix(d.Data, data.BuiltinPrefix) {
		return data.BuiltinShape(d.Data)
	}
	if f.schema, err = schemafile.Parse(modelFile, []byte(d.Schema)); err != nil {
		return nil, err
	}
	return f.schema.Shape()
}

// drawsFile is one chain and where it was read.
type drawsFile struct {
	path string
	*stancsv.Chain
}

// openDraws reads the draws files of a folder.
func openDraws(dir string) ([]drawsFile, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "draws_*.csv"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s has no draws_1.csv; the run released nothing", dir)
	}
	slices.Sort(paths)
	var files []drawsFile
	for _, path := range paths {
		chain, err := readChain(path)
		if err != nil {
			return nil, err
		}
		files = append(files, drawsFile{path, chain})
	}
	return files, nil
}

// take takes the draws of files after warm-up.
func (f *finished) take(w warmup, files []drawsFile) error {
	f.complete = len(files) > 0
	for _, file := range files {
		if names := f.model.ParameterNames(); !slices.Equal(file.Names, names) {
			return fmt.Errorf("%s has the parameters %v, and the model of %s has %v", file.path, file.Names, modelFile, names)
		}
		f.draws = append(f.draws, w.kept(file.Chain))
		f.complete, f.leftOut = f.complete && file.Finished, w.of(file.Header)
	}
	return nil
}

// readRunFile reads a file of a run folder.
func readRunFile(dir, name string, v any) error {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// pooled are the draws of all chains.
func (f *finished) pooled() [][]float64 { return slices.Concat(f.draws...) }

// names are what people call the parameters.
func (f *finished) names() []string { return calledNames(f.model) }

// inUnits are the draws per unit of the file's columns.
func (f *finished) inUnits() [][][]float64 {
	out := make([][][]float64, len(f.draws))
	for c, chain := range f.draws {
		for _, values := range chain {
			v := make([]float64, len(values))
			f.model.InUnits(v, values)
			out[c] = append(out[c], v)
		}
	}
	return out
}

// table summarises the parameters, per unit of the file's columns or as they are
// written.
func (f *finished) table(standardised bool) diag.Table {
	if standardised {
		return diag.SummarizeAll(f.names(), f.draws)
	}
	return diag.SummarizeAll(f.names(), f.inUnits())
}

// verdict judges the values as the chain moved them: mixing does not depend on units.
func (f *finished) verdict() chains.Verdict { return chains.Judge(f.table(true), f.certificate) }
