package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/experiment/methods"
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

// families draw simulated data: records to learn from, and then further ones to
// test on.
var families = map[string]func(d Data, seed uint64, records, test int) (*sample, error){
	methods.Logistic:  builtin,
	methods.Linear:    builtin,
	methods.Mixture:   builtin,
	methods.Bernoulli: bernoulli,
}

func familyNames() []string { return slices.Sorted(maps.Keys(families)) }

// builtinName is that of the table that package data draws for a family.
func builtinName(d Data, seed uint64, records int) string {
	name := fmt.Sprintf("builtin:%s?n=%d&seed=%d", d.Simulate, records, seed)
	if d.Simulate != methods.Mixture {
		name += fmt.Sprintf("&d=%d", d.Features)
	}
	return name
}

func builtin(d Data, seed uint64, records, test int) (*sample, error) {
	sim, err := data.Builtin(builtinName(d, seed, records+test))
	if err != nil {
		return nil, err
	}
	rows := tableRows(sim.Table)
	return &sample{rows: rows.Slice(0, records), test: rows.Slice(records, records+test), truth: sim.Truth}, nil
}

func bernoulli(d Data, seed uint64, records, test int) (*sample, error) {
	rng := rand.New(rand.NewPCG(seed, 0x6265726e))
	y := make([]float64, records+test)
	for i := range y {
		if rng.Float64() < d.Probability {
			y[i] = 1
		}
	}
	return &sample{rows: targets.Rows{Y: y[:records]}, test: targets.Rows{Y: y[records:]}, truth: []float64{math.Log(d.Probability / (1 - d.Probability))}}, nil
}

func tableRows(t *data.Table) targets.Rows { return targets.Rows{X: t.X, P: t.Features(), Y: t.Y} }

// sample draws or splits the data of a repeat.
func (p *Plan) sample(records, repeat int) (*sample, error) {
	c := p.Config
	if d := c.Data; d.Simulate != "" {
		return families[d.Simulate](d, c.seed("data", records, repeat)>>1, records, d.TestRecords)
	}
	table := p.table
	if c.Data.TestShare == 0 {
		return &sample{rows: tableRows(table)}, nil
	}
	rng := rand.New(rand.NewChaCha8(c.key("split", repeat)))
	train, test, err := data.Split(table, trainShare(records, table.Records), rng)
	if err != nil {
		return nil, err
	}
	return &sample{rows: tableRows(train), test: tableRows(test)}, nil
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
