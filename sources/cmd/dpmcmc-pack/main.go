// Command dpmcmc-pack packs tables of Parquet files and databases for dpmcmc sample:
//
//	dpmcmc-pack --parquet people.parquet --schema people.toml --out people.dpm
//	DPMCMC_DSN=postgres://... dpmcmc-pack --driver pgx --query "SELECT age, ill FROM people" \
//	  --schema people.toml --out people.dpm
//
// The drivers are pgx (PostgreSQL) and sqlite. The data source is read from DPMCMC_DSN, so
// that no password is in a list of processes.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/packed"
	"github.com/dpmcmc/dpmcmc/data/schemafile"
	"github.com/dpmcmc/dpmcmc/sources/parquet"
	"github.com/dpmcmc/dpmcmc/sources/query"
)

// dsn names the variable with the data source.
const dsn = "DPMCMC_DSN"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Getenv)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dpmcmc-pack:", err)
		os.Exit(2)
	}
}

// settings are the flags.
type settings struct {
	parquet, driver, query string
	schema, out            string
	single                 bool
}

func run(ctx context.Context, args []string, out io.Writer, env func(string) string) error {
	var s settings
	f := flag.NewFlagSet("dpmcmc-pack", flag.ContinueOnError)
	f.StringVar(&s.parquet, "parquet", "", "Parquet file to pack")
	f.StringVar(&s.driver, "driver", "", "database to ask instead: pgx (PostgreSQL) or sqlite; the data source is in "+dsn)
	f.StringVar(&s.query, "query", "", "query whose answer has the schema's columns; required with --driver")
	f.StringVar(&s.schema, "schema", "", "TOML file that states what is public about the records; required")
	f.StringVar(&s.out, "out", "", "file to write, which must not exist; required")
	f.BoolVar(&s.single, "single", false, "keep rows in single precision, half the size")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 || s.schema == "" || s.out == "" || (s.parquet == "") == (s.driver == "") ||
		(s.driver == "") != (s.query == "") {
		return errors.New("give --schema, --out, and either --parquet or both --driver and --query; --help explains them")
	}
	text, err := os.ReadFile(s.schema)
	if err != nil {
		return err
	}
	schema, err := schemafile.Parse(s.schema, text)
	if err != nil {
		return err
	}
	o := packed.Options{Single: s.single, Source: s.parquet}
	source, closeSource, err := s.open(ctx, schema, env)
	if err != nil {
		return err
	}
	err = packed.From(s.out, schema, o, func(use func([]float64, float64) error) error {
		return source.Each(ctx, schema, use)
	})
	if err := errors.Join(err, closeSource()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %d records\n", s.out, schema.Records)
	return err
}

// open opens the file, or the database.
func (s *settings) open(ctx context.Context, schema *data.Schema, env func(string) string) (data.Source, func() error,
	error) {
	if s.parquet != "" {
		f, err := parquet.Open(s.parquet, schema)
		if err != nil {
			return data.Source{}, nil, err
		}
		return f.Source(), f.Close, nil
	}
	if env(dsn) == "" {
		return data.Source{}, nil, fmt.Errorf("%s is not set; it names the database for --driver %s", dsn, s.driver)
	}
	db, err := sql.Open(s.driver, env(dsn))
	if err != nil {
		return data.Source{}, nil, err
	}
	rows, err := query.Open(ctx, db, s.driver, s.query, schema)
	if err != nil {
		return data.Source{}, nil, errors.Join(err, db.Close())
	}
	return rows.Source(), func() error { return errors.Join(rows.Close(), db.Close()) }, nil
}
