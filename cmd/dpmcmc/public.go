package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/schemafile"
	"github.com/dpmcmc/dpmcmc/internal/setting"
	"github.com/dpmcmc/dpmcmc/models"
)

// publicFlags state what is public about a table that is not looked at: by a schema, or
// by its size.
type publicFlags struct {
	schema        string
	records       int64
	features      int
	radius        float64
	rowsPerPerson int
}

func (p *publicFlags) bind(f *pflag.FlagSet) {
	bindWhole(f, &p.records, "records", 0, "number of records; required without --schema")
	f.IntVar(&p.features, "features", 0, "number of features, standard normal numbers, beside the intercept; required "+
		"without --schema")
	f.Float64Var(&p.radius, "radius", 1, "public bound on the norm of a design row; the schema's with --schema")
	f.IntVar(&p.rowsPerPerson, "rows-per-person", 1,
		"largest number of records that one person owns; the schema's with --schema")
	f.StringVar(&p.schema, "schema", "", "TOML file that states what is public about the table, instead of --records "+
		"and --features")
}

// check reports flags that contradict one another or are out of range.
func (p *publicFlags) check(f *pflag.FlagSet) error {
	var errs []error
	for _, name := range []string{"records", "features", "radius", "rows-per-person"} {
		if p.schema != "" && f.Changed(name) {
			errs = append(errs, fmt.Errorf("--%s is what --schema states; leave one of them out", name))
		}
	}
	if p.schema == "" && (p.records < 1 || p.features < 1 || p.features > 1000) {
		errs = append(errs, fmt.Errorf("--records is %d and --features %d; there must be at least 1 of each, and at most "+
			"1000 features", p.records, p.features))
	}
	return errors.Join(errs...)
}

// shape is what the flags or the schema state of the table. With flags, model names the
// model whose responses it has.
func (p *publicFlags) shape(model string) (*data.Shape, error) {
	if p.schema != "" {
		return p.schemaShape()
	}
	shape, err := models.StandardShape(model, int(p.records), p.features)
	if err != nil {
		return nil, setting.Flagged(err)
	}
	shape.Radius, shape.RowsPerPerson = p.radius, p.rowsPerPerson
	return shape, nil
}

// schemaShape is what --schema states, which a person has to confirm.
func (p *publicFlags) schemaShape() (*data.Shape, error) {
	text, err := os.ReadFile(p.schema)
	if err != nil {
		return nil, fmt.Errorf("--schema: %w", err)
	}
	schema, err := schemafile.Parse(p.schema, text)
	if err == nil && !schema.Confirmed {
		err = data.ErrUnconfirmed
	}
	if err != nil {
		return nil, fmt.Errorf("--schema: %w", err)
	}
	p.records = int64(schema.Records)
	return schema.Shape()
}
