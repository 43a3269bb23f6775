package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// sample is the data of one repeat.
type sample struct {
	rows  targets.Rows
	truth []float64    // nil for files
	test  targets.Rows // empty where nothing is held out
}

// key derives the seed of one purpose from the experiment's.
func (c *Config) key(purpose string, parts ...any) [32]byte {
	h := sha256.New()
	fmt.Fprintf(h, "dpmcmc experiment v1\x00%d\x00%s\x00%v", c.Seed, purpose, parts)
	return [32]byte(h.Sum(nil))
}

func (c *Config) seed(purpose string, parts ...any) uint64 {
	key := c.key(purpose, parts...)
	return binary.LittleEndian.Uint64(key[:])
}

// builtin are the models that package data has tables of.
var builtin = map[string]bool{"logistic": true, "linear": true, "mixture": true}

// builtinName is that of a table of package data.
func (d Data) builtinName(seed uint64, records int) string {
	name := fmt.Sprintf("builtin:%s?n=%d&seed=%d", d.Simulate, records, seed)
	if d.Simulate != "mixture" {
		name += fmt.Sprintf("&d=%d", d.Features)
	}
	return name
}

// simulate draws records to learn from, and then further ones to test on.
func (p *Plan) simulate(seed uint64, records, test int) (*sample, error) {
	d := p.Config.Data
	var t *data.Table
	var truth []float64
	switch {
	case builtin[d.Simulate]:
		sim, err := data.Builtin(d.builtinName(seed, records+test))
		if err != nil {
			return nil, err
		}
		t, truth = sim.Table, sim.Truth
	default:
		shape, err := models.StandardShape(d.Simulate, records+test, d.Features)
		if err != nil {
			return nil, err
		}
		m, err := models.New(d.Simulate, shape, p.Config.Model.Options)
		if err != nil {
			return nil, err
		}
		rng := rand.New(rand.NewPCG(seed, 0x6265726e))
		truth = make([]float64, m.Target.Dim())
		if d.Simulate == "bernoulli" {
			truth[0] = math.Log(d.Probability / (1 - d.Probability))
		} else {
			m.Target.(targets.PriorSampler).SamplePrior(truth, rng)
			m.Output(truth, truth)
		}
		t = m.Simulate(truth, rng)
	}
	rows := tableRows(t)
	return &sample{rows: rows.Slice(0, records), test: rows.Slice(records, records+test), truth: truth}, nil
}

func tableRows(t *data.Table) targets.Rows { return targets.Rows{X: t.X, P: t.Features(), Y: t.Y} }

// sample draws or splits the data of a repeat.
func (p *Plan) sample(records, repeat int) (*sample, error) {
	c := p.Config
	if d := c.Data; d.Simulate != "" {
		return p.simulate(c.seed("data", records, repeat)>>1, records, d.TestRecords)
	}
	table, m := p.table, p.problems[records].Model
	if c.Data.TestShare == 0 {
		return &sample{rows: tableRows(m.Weigh(table))}, nil
	}
	rng := rand.New(rand.NewChaCha8(c.key("split", repeat)))
	train, test, err := data.Split(table, trainShare(records, table.Records), rng)
	if err != nil {
		return nil, err
	}
	return &sample{rows: tableRows(m.Weigh(train)), test: whole(m, tableRows(test))}, nil
}

// whole gives held-out rows the length that they had before they were shortened, where
// coefficients are of whole rows. It changes them.
func whole(m *models.Model, rows targets.Rows) targets.Rows {
	if !m.Weighs() {
		return rows
	}
	for i := range rows.Len() {
		row := rows.Row(i)
		floats.Scale(max(1, m.Shape.Whole()/row[0]), row)
	}
	return rows
}

// trainShare is a share of which data.Split takes exactly the given records.
func trainShare(records, all int) float64 { return (float64(records) + 0.5) / float64(all) }

// load reads the file, if there is one to read.
func (p *Plan) load(ctx context.Context) error {
	if p.schema == nil || p.table != nil {
		return nil
	}
	table, err := data.Load(ctx, p.file, p.schema)
	if err != nil {
		return err
	}
	p.table = table
	return nil
}
