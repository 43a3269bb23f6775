package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/data/packed"
	"github.com/dpmcmc/dpmcmc/internal/accounts"
	"github.com/dpmcmc/dpmcmc/internal/flags"
	"github.com/dpmcmc/dpmcmc/internal/runs"
)

// packSettings are the flags of pack.
type packSettings struct {
	schema, out         string
	single, shred, json bool
}

func newPack() *cobra.Command {
	s := &packSettings{}
	c := &cobra.Command{
		Use:   "pack people.csv --schema people.toml --out people.dpm",
		Short: "Pack a table that is larger than memory",
		Long: `pack writes the rows of the design matrix, clipped and projected, to a file that
sample maps into memory instead of reading it. The file is refused when its bytes
or the schema have changed. It holds records, and is as private as the CSV file.

The accounts of the people stay where those of the CSV file are. If there are any,
pack tells them that the new file is about the same people. docs/tables.md has the
precision, the format and what --shred can and cannot do.`,
		Example: `  dpmcmc pack people.csv --schema people.toml --out people.dpm
  dpmcmc sample --data people.dpm --schema people.toml --epsilon 1 --delta 1e-6 --out run/`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%d files were given; pack takes one CSV file: dpmcmc pack people.csv", len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return s.run(c.Context(), args[0], c.Flags(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	s.bind(c.Flags())
	return c
}

func (s *packSettings) bind(f *pflag.FlagSet) {
	f.StringVar(&s.schema, "schema", "", "TOML file that states what is public about the CSV file; required")
	f.StringVar(&s.out, "out", "", "file to write; by default the CSV file's name with "+packed.Suffix+" for its ending")
	f.BoolVar(&s.single, "single", false,
		"keep rows in single precision, half the size: entries move towards zero by less "+
			"than 2^-23 of themselves, and costs are the same")
	f.BoolVar(&s.shred, "shred", false, "overwrite and remove the CSV file once the packed one has been read back")
	f.BoolVar(&s.json, "json", false, "print one JSON object")
}

// packReport is what pack prints.
type packReport struct {
	Out      string  `json:"out"`
	Records  int     `json:"records"`
	Features int     `json:"features"`
	Bytes    int64   `json:"bytes"`
	Read     int64   `json:"bytes_read"`
	Seconds  float64 `json:"seconds"`
	Shredded bool    `json:"shredded"`
	InPlace  bool    `json:"overwritten_in_place"`

	pipe bool // there is no file that remains, or whose size is known
}

// run packs, reads back what it packed, tells the ledger, and shreds.
func (s *packSettings) run(ctx context.Context, csv string, f *pflag.FlagSet, out, errw io.Writer) error {
	if missing := flags.Missing(f, "schema"); missing != "" {
		return fmt.Errorf("%s: it states what is public about the file (dpmcmc schema --data %s drafts one)", missing, csv)
	}
	schema, err := runs.ReadSchema(s.schema)
	if err != nil {
		return err
	}
	if s.out == "" {
		s.out = strings.TrimSuffix(csv, filepath.Ext(csv)) + packed.Suffix
	}
	if !strings.HasSuffix(s.out, packed.Suffix) {
		return fmt.Errorf("--out is %s; its name must end in %s, which tells sample that it is packed", s.out, packed.Suffix)
	}
	info, err := os.Stat(csv)
	if err != nil {
		return err
	}
	r := packReport{Out: s.out, Read: info.Size(), pipe: !info.Mode().IsRegular()}
	begun := time.Now()
	if err := packed.FromCSV(ctx, s.out, csv, schema, packed.Options{Single: s.single}); err != nil {
		return err
	}
	r.Seconds = time.Since(begun).Seconds()
	made, err := packed.Open(s.out, schema)
	if err != nil {
		return err
	}
	r.Records, r.Features = made.Header.Records, made.Header.Features
	if info, err = os.Stat(s.out); err == nil {
		r.Bytes = info.Size()
	}
	if err := errors.Join(err, made.Close(), accounts.Introduce(csv, s.out, accounts.NoteOf("dpmcmc pack", f, ""),
		errw)); err != nil {
		return err
	}
	if s.shred {
		if r.InPlace, err = packed.Shred(csv); err != nil {
			return fmt.Errorf("--shred: %s is packed, and %s could not be removed: %w", s.out, csv, err)
		}
		r.Shredded = true
	}
	if s.json {
		return json.NewEncoder(out).Encode(r)
	}
	return r.print(csv, out)
}

func (r packReport) print(csv string, out io.Writer) error {
	const mega = 1e6
	fmt.Fprintf(out, "%s: %d records with %d features, %.1f MB\n", r.Out, r.Records, r.Features, float64(r.Bytes)/mega)
	if r.pipe {
		_, err := fmt.Fprintf(out, "read in %.1f s\n", r.Seconds)
		return err
	}
	fmt.Fprintf(out, "read %.1f MB in %.1f s (%.0f MB/s)\n", float64(r.Read)/mega, r.Seconds,
		float64(r.Read)/mega/r.Seconds)
	switch {
	case r.Shredded && r.InPlace:
		fmt.Fprintf(out, "%s was overwritten in place and removed; a drive may still hold copies of its own\n", csv)
	case r.Shredded:
		fmt.Fprintf(out, "%s was overwritten and removed; this file system may keep the old blocks (docs/tables.md)\n", csv)
	default:
		fmt.Fprintf(out, "%s is still there, and as private as before\n", csv)
	}
	return nil
}
