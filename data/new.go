package data

import (
	"context"
	"io"
)

// LoadNew reads rows to predict from the CSV file at path: rows that were no part of
// the table that the schema was written for. There may be any number of them. Columns
// that the schema ignores, and the target, may be missing and are not read. The table
// has no Y and its shape no target.
//
// Errors are those of [Load], the number of records excepted.
func LoadNew(ctx context.Context, path string, schema *Schema) (*Table, error) {
	p, err := prepareNew(schema)
	if err != nil {
		return nil, err
	}
	return p.load(ctx, path)
}

// ReadNew is [LoadNew] of CSV text, which is called name in errors.
func ReadNew(ctx context.Context, r io.Reader, name string, schema *Schema) (*Table, error) {
	p, err := prepareNew(schema)
	if err != nil {
		return nil, err
	}
	return p.read(ctx, r, name, 0)
}

// prepareNew compiles a schema for rows without responses.
func prepareNew(schema *Schema) (*plan, error) {
	p, err := prepare(schema)
	if err != nil {
		return nil, err
	}
	if p.target != "" {
		p.decoders[p.target] = nil
	}
	p.unseen, p.target = true, ""
	p.shape.Records, p.shape.Target, p.shape.Labels = 1<<31, Term{}, nil
	return p, nil
}

// spare reports whether a column of the schema may be missing from the file.
func (p *plan) spare(name string) bool { return p.unseen && p.decoders[name] == nil }
