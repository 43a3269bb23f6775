package beam

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/packed"
	"github.com/dpmcmc/dpmcmc/data/schemafile"
)

func init() {
	register.DoFn3x1[context.Context, Range, func([]int64), error](&sumRange{})
	register.Emitter1[[]int64]()
	register.Combiner1[[]int64](&addSums{})
}

// Config says what is added up.
type Config struct {
	// Table is the path of a packed table, which every worker must be able to map. Required.
	Table string
	// Schema is the text of its schema. Required.
	Schema string
	// NoiseMultiplier and Response are those of the curator.SecondMoment. Required, and 0
	// for the features alone.
	NoiseMultiplier float64
	Response        float64
	// Rows is the number of records that a worker adds up at a time. Defaults to 100 000.
	Rows int
}

// Range is a part of a table's records, Lo to Hi−1.
type Range struct{ Lo, Hi int }

// Moment is the mechanism, and Facts are what it is priced for.
func (c Config) Moment() curator.SecondMoment {
	return curator.SecondMoment{NoiseMultiplier: c.NoiseMultiplier, Response: c.Response}
}

// Facts are what the schema says of the records, under an adjacency.
func (c Config) Facts(adjacency accountant.Adjacency) (curator.Facts, error) {
	s, err := schemafile.Parse("schema", []byte(c.Schema))
	if err != nil {
		return curator.Facts{}, err
	}
	shape, err := s.Shape()
	if err != nil {
		return curator.Facts{}, err
	}
	return facts(shape, adjacency), nil
}

func facts(s *data.Shape, adjacency accountant.Adjacency) curator.Facts {
	return curator.Facts{Records: int64(s.Records), Features: s.Features(), Response: s.HasTarget(), Radius: s.Radius,
		RowsPerPerson: s.RowsPerPerson, Adjacency: adjacency}
}

// Sums adds to a pipeline the pass over all records, and returns the collection of its one
// element, the sums ([]int64) that curator.Totals.Release takes.
func Sums(s beam.Scope, c Config) (beam.PCollection, error) {
	if c.Table == "" || c.Schema == "" || !(c.NoiseMultiplier > 0) || c.Rows < 0 {
		return beam.PCollection{}, errors.New("beam: Config needs a Table, a Schema, and a NoiseMultiplier above 0")
	}
	if c.Rows == 0 {
		c.Rows = 100_000
	}
	f, err := c.Facts(accountant.Substitute)
	if err != nil {
		return beam.PCollection{}, fmt.Errorf("beam: %w", err)
	}
	var ranges []Range
	for lo := 0; lo < int(f.Records); lo += c.Rows {
		ranges = append(ranges, Range{lo, min(lo+c.Rows, int(f.Records))})
	}
	s = s.Scope("second moments")
	parts := beam.ParDo(s, &sumRange{Config: c}, beam.Reshuffle(s, beam.CreateList(s, ranges)))
	return beam.Combine(s, &addSums{}, parts), nil
}

// sumRange adds up the records of a range.
type sumRange struct{ Config Config }

// tables are those that this process has mapped, and checked once.
var tables sync.Map // of Config.Table to func() (*packed.File, error)

func (d *sumRange) open() (*packed.File, error) {
	once, _ := tables.LoadOrStore(d.Config.Table, sync.OnceValues(func() (*packed.File, error) {
		s, err := schemafile.Parse("schema", []byte(d.Config.Schema))
		if err != nil {
			return nil, err
		}
		return packed.Open(d.Config.Table, s)
	}))
	return once.(func() (*packed.File, error))()
}

// ProcessElement emits the sums of a range.
func (d *sumRange) ProcessElement(_ context.Context, r Range, emit func([]int64)) error {
	f, err := d.open()
	if err != nil {
		return err
	}
	all := facts(&f.Table.Shape, accountant.Substitute) // sums are the same under any adjacency
	m := d.Config.Moment()
	sums := make([]int64, m.SumsSize(all))
	if err := m.AddSums(sums, all, nil, part(chains.Records(&f.Table), r)); err != nil {
		return err
	}
	emit(sums)
	return nil
}

// part are the records of a range.
func part(all curator.Records, r Range) curator.Records {
	p := all.Features
	if all.X32 != nil {
		all.X32 = all.X32[r.Lo*p : r.Hi*p]
	} else {
		all.X = all.X[r.Lo*p : r.Hi*p]
	}
	if all.Y != nil {
		all.Y = all.Y[r.Lo:r.Hi]
	}
	return all
}

// addSums adds sums up.
type addSums struct{}

// MergeAccumulators is a + b; nil is nothing.
func (*addSums) MergeAccumulators(a, b []int64) []int64 {
	if len(a) == 0 {
		return b
	}
	for i, v := range b {
		a[i] += v
	}
	return a
}
