// Command reproduce regenerates the tables and plots of docs/samplers.md,
// docs/beta.md and docs/reproduction.md: one name, one figure of a paper or of
// ours. All of its data are public or simulated; nothing it prints is private.
//
//	go run ./internal/maintain/reproduce            # lists the names
//	go run ./internal/maintain/reproduce banana     # writes docs/figures/banana.csv and .svg
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
)

// settings are what every figure can be asked for.
type settings struct {
	out     string    // folder of the CSV tables and SVG plots
	shared  string    // folder of public data sets
	repeats int       // 0 for the figure's own number
	seed    uint64    // of simulated data and of all noise, which is therefore not private
	log     io.Writer // progress and tables for people
}

// figure is one thing to regenerate.
type figure struct {
	about string
	run   func(context.Context, settings) error
}

// figures are all of them, by name.
var figures = map[string]figure{}

func main() {
	s := settings{log: os.Stdout}
	flag.StringVar(&s.out, "out", filepath.Join("docs", "figures"), "folder for tables (CSV) and plots (SVG)")
	flag.StringVar(&s.shared, "shared", filepath.Join("..", "shared"), "folder that holds the public data sets")
	flag.IntVar(&s.repeats, "repeats", 0, "repeats; by default the figure's own number")
	flag.Uint64Var(&s.seed, "seed", 1, "seed of data and noise")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./internal/maintain/reproduce [flags] NAME…")
		flag.PrintDefaults()
		for _, name := range slices.Sorted(maps.Keys(figures)) {
			fmt.Fprintf(flag.CommandLine.Output(), "  %-14s %s\n", name, figures[name].about)
		}
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, s, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "reproduce:", err)
		os.Exit(1)
	}
}

// run regenerates the named figures in order.
func run(ctx context.Context, s settings, names []string) error {
	if len(names) == 0 {
		flag.Usage()
		return nil
	}
	for _, name := range names {
		f, ok := figures[name]
		if !ok {
			return fmt.Errorf("there is no figure %q; the names are %v", name, slices.Sorted(maps.Keys(figures)))
		}
		if err := os.MkdirAll(s.out, 0o755); err != nil {
			return fmt.Errorf("-out: %w", err)
		}
		if err := f.run(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
