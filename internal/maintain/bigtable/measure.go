package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data/packed"
	"github.com/dpmcmc/dpmcmc/data/schemafile"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// measure prints how long a packed table takes to open, to pass over and to sample from,
// and what memory that takes beside the mapping.
func measure(table, schema string) error {
	text, err := os.ReadFile(schema)
	if err != nil {
		return err
	}
	s, err := schemafile.Parse(schema, text)
	if err != nil {
		return err
	}
	begun := time.Now()
	lap := func(what string, of float64) {
		seconds := time.Since(begun).Seconds()
		fmt.Printf("%-38s %8.2f s  %12.0f a second\n", what, seconds, of/seconds)
		begun = time.Now()
	}
	f, err := packed.Open(table, s)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // a mapping that is only read
	n := float64(f.Table.Records)
	lap("open: every byte against its checksum", n)
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1e6, Delta: 1e-9,
		Adjacency: accountant.Substitute})
	if err != nil {
		return err
	}
	sealed, err := chains.Seal(nil, &f.Table, budget)
	if err != nil {
		return err
	}
	m, err := models.New("logistic", &f.Table.Shape, models.Options{})
	if err != nil {
		return err
	}
	lap("seal", n)
	for _, pass := range []struct {
		what  string
		batch curator.Batch
		count int64
		of    float64
	}{
		{"one pass: records", curator.Batch{}, 1, n},
		{"batches of 1000: releases", curator.Batch{Rate: 1000 / n}, 2000, 2000},
		{"batches of 1000, again", curator.Batch{Rate: 1000 / n}, 20_000, 20_000},
	} {
		g, err := curator.Charge(sealed, curator.NoisyGradient{Target: m.Target.(targets.GradTarget), Clip: 1,
			NoiseMultiplier: 1, Batch: pass.batch}, pass.count)
		if err != nil {
			return err
		}
		begun = time.Now()
		if err := release(g, m.Target.Dim(), pass.count); err != nil {
			return err
		}
		lap(pass.what, pass.of)
	}
	return memory()
}

// release makes so many releases at the origin.
func release(g *curator.Gradients, dim int, count int64) error {
	theta, sum := make([]float64, dim), make([]float64, dim)
	for range count {
		if err := g.Release(theta, sum); err != nil {
			return err
		}
	}
	return nil
}

// memory prints what the process has held at most and holds now.
func memory() error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM") || strings.HasPrefix(line, "RssAnon") || strings.HasPrefix(line, "RssFile") {
			fmt.Print(line)
		}
	}
	return nil
}
