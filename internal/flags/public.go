package flags

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/internal/runs"
	"github.com/dpmcmc/dpmcmc/internal/setting"
	"github.com/dpmcmc/dpmcmc/models"
)

// Public states what is public about a table that is not looked at: by a schema, or
// by its size.
type Public struct {
	Schema        string
	Records       int64
	Features      int
	Radius        float64
	RowsPerPerson int
}

// Bind declares the flags.
func (p *Public) Bind(f *pflag.FlagSet) {
	Whole(f, &p.Records, "records", 0, "number of records; required without --schema")
	f.IntVar(&p.Features, "features", 0, "number of features, standard normal numbers, beside the intercept; required "+
		"without --schema")
	f.Float64Var(&p.Radius, "radius", 1, "public bound on the norm of a design row; the schema's with --schema")
	f.IntVar(&p.RowsPerPerson, "rows-per-person", 1,
		"largest number of records that one person owns; the schema's with --schema")
	f.StringVar(&p.Schema, "schema", "", "TOML file that states what is public about the table, instead of --records "+
		"and --features")
}

// Check reports flags that contradict one another or are out of range.
func (p *Public) Check(f *pflag.FlagSet) error {
	var errs []error
	for _, name := range []string{"records", "features", "radius", "rows-per-person"} {
		if p.Schema != "" && f.Changed(name) {
			errs = append(errs, fmt.Errorf("--%s is what --schema states; leave one of them out", name))
		}
	}
	if p.Schema == "" && (p.Records < 1 || p.Features < 1 || p.Features > 1000) {
		errs = append(errs, fmt.Errorf("--records is %d and --features %d; there must be at least 1 of each, and at most "+
			"1000 features", p.Records, p.Features))
	}
	return errors.Join(errs...)
}

// Shape is what the flags or the schema state of the table. With flags, model names the
// model whose responses it has.
func (p *Public) Shape(model string) (*data.Shape, error) {
	if p.Schema != "" {
		return p.stated()
	}
	shape, err := models.StandardShape(model, int(p.Records), p.Features)
	if err != nil {
		return nil, setting.Flagged(err)
	}
	shape.Radius, shape.RowsPerPerson = p.Radius, p.RowsPerPerson
	return shape, nil
}

// stated is what --schema states, which a person has to confirm.
func (p *Public) stated() (*data.Shape, error) {
	schema, err := runs.ReadSchema(p.Schema)
	if err == nil && !schema.Confirmed {
		err = fmt.Errorf("--schema: %w", data.ErrUnconfirmed)
	}
	if err != nil {
		return nil, err
	}
	p.Records = int64(schema.Records)
	return schema.Shape()
}
