package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/dpmcmc/dpmcmc/anchors"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/internal/erm"
	"github.com/dpmcmc/dpmcmc/internal/maintain/processor"
	"github.com/dpmcmc/dpmcmc/internal/plot"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

func init() {
	figures["anchored-speed"] = figure{
		"effective draws a second of processor time: anchored chains and NUTS without privacy, logistic regression, d = 10",
		anchoredSpeed}
}

// anchoredSpeed runs both on the same records, and plots them beside rstan's figures where
// .ci/measure-stan left them. NUTS starts at the mode, and its warm-up is not counted. Of
// anchored chains the time of the release is apart. The largest table takes 5 GB.
func anchoredSpeed(ctx context.Context, s settings) error {
	const d, steps, epsilon = 10, 4000, 1
	tab := newTable("records", "sampler", "release, s", "ESS", "ESS a second", "ms an effective draw")
	var chains, nutsLine plot.Line
	chains.Name, nutsLine.Name = "anchored, ε = 1", "NUTS, not private"
	add := func(line *plot.Line, n int, release, least, seconds float64) {
		tab.add(n, line.Name, release, least, least/seconds, 1000*seconds/least)
		line.X, line.Y = append(line.X, float64(n)), append(line.Y, least/seconds)
		fmt.Fprintln(s.log, tab.rows[len(tab.rows)-1])
	}
	model, err := targets.New(targets.RegressionConfig{Features: d, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		return err
	}
	for _, n := range []int{10_000, 100_000, 1_000_000, 10_000_000, 100_000_000} {
		x, y := singleLogistic(s.stream("anchored-speed", n), n, d)
		records := curator.Records{X32: x, Features: d, Y: y, Radius: 1, Shared: true}
		release, chain, seconds, err := timedAnchored(ctx, model, records, steps, epsilon, s.seed)
		if err != nil {
			return err
		}
		add(&chains, n, release, leastESS(chain, d), seconds)
		if n > 1_000_000 {
			continue // a draw of NUTS takes seconds
		}
		chain, seconds, err = timedNUTS(ctx, model, targets.Rows{X: doubles(x), P: d, Y: y}, s.seed)
		if err != nil {
			return err
		}
		add(&nutsLine, n, 0, leastESS(chain, d), seconds)
	}
	stan, err := readStan(filepath.Join(s.out, "anchored-speed-stan.csv"))
	if err != nil {
		return err
	}
	lines := []plot.Line{chains, nutsLine}
	if len(stan.X) > 0 {
		lines = append(lines, stan)
	}
	return s.save("anchored-speed", tab, 1, plot.Panel{Title: "Logistic regression, d = 10", XLabel: "records",
		YLabel: "least ESS a second", LogX: true, LogY: true, Lines: lines})
}

// readStan returns rstan's figures from a table with the columns records, ess and
// seconds; none where there is no such table.
func readStan(path string) (plot.Line, error) {
	line := plot.Line{Name: "rstan, not private"}
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return line, nil
	}
	if err != nil {
		return line, err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return line, err
	}
	for _, row := range rows[1:] {
		var v [3]float64
		for i := range v {
			if v[i], err = strconv.ParseFloat(row[i], 64); err != nil {
				return line, fmt.Errorf("%s: %w", path, err)
			}
		}
		line.X, line.Y = append(line.X, v[0]), append(line.Y, v[1]/v[2])
	}
	return line, nil
}

// singleLogistic simulates records in single precision, at slopes of 1 and −1 in turn.
func singleLogistic(rng *rand.Rand, n, d int) (x []float32, y []float64) {
	truth := make([]float64, d)
	for j := range truth {
		truth[j] = 1 - 2*float64(j%2)
	}
	x, y = make([]float32, 0, n*d), make([]float64, 0, n)
	for len(y) < n {
		rows, labels := simulatedLogistic(rng, min(n-len(y), 10_000), truth)
		for _, v := range rows {
			x = append(x, float32(v))
		}
		y = append(y, labels...)
	}
	return x, y
}

// doubles are the values in double precision.
func doubles(x []float32) []float64 {
	wide := make([]float64, len(x))
	for i, v := range x {
		wide[i] = float64(v)
	}
	return wide
}

// leastESS is the least bulk effective sample size over coordinates of one chain.
func leastESS(chain [][]float64, d int) float64 {
	least := math.Inf(1)
	for j := range d {
		column := make([]float64, len(chain))
		for i, theta := range chain {
			column[i] = theta[j]
		}
		least = min(least, diag.ESSBulk([][]float64{column}))
	}
	return least
}

// timedAnchored is one chain of so many steps, with the processor seconds of its release
// and of its steps.
func timedAnchored(ctx context.Context, model *targets.Regression, r curator.Records, steps int64,
	epsilon float64, seed uint64) (release float64, chain [][]float64, seconds float64, err error) {
	const delta = 1e-6
	sealed, err := seal(r, epsilon, delta) // the operating system's randomness, as in earnest
	if err != nil {
		return 0, nil, 0, err
	}
	c, err := anchors.Afford(anchors.Config{Target: model, Aim: anchors.Remainder, Chains: 1, Iterations: steps},
		sealed.Facts(), epsilon, delta)
	if err != nil {
		return 0, nil, 0, err
	}
	prepared, requests, err := anchors.Prepare(c, sealed.Facts())
	if err != nil {
		return 0, nil, 0, err
	}
	if err := sealed.Grant(requests...); err != nil {
		return 0, nil, 0, err
	}
	began := processor.Seconds()
	chains, _, err := prepared.Begin(ctx, seed)
	if err != nil {
		return 0, nil, 0, err
	}
	release = processor.Seconds() - began
	memory := kernels.NewMemory(1)
	began = processor.Seconds()
	err = kernels.Run(ctx, chains, kernels.Options{Iterations: steps, Seed: seed, Sink: memory})
	seconds = processor.Seconds() - began
	return release, memory.Draws(0)[steps/10:], seconds, err
}

// timedNUTS is one chain of NUTS from the mode and the processor seconds of its draws.
func timedNUTS(ctx context.Context, model *targets.Regression, rows targets.Rows, seed uint64) ([][]float64, float64,
	error) {
	mode, err := erm.Objective{Shape: erm.Shape{Records: rows.Len(), Features: rows.P, Radius: 1, Ridge: 1.0 / 9},
		X: rows.X, Y: rows.Y}.Minimise(context.Background())
	if err != nil {
		return nil, 0, err
	}
	const warmup = 100
	draws := max(60, min(2000, 20_000_000/rows.Len()))
	began := processor.Seconds()
	chains, err := nuts.Sample(ctx, func() nuts.LogDensity { return nuts.Posterior(model, rows, 1) },
		nuts.Config{Chains: 1, Warmup: warmup, Draws: draws, Metric: nuts.Dense, Init: [][]float64{mode}, Seed: seed,
			Workers: 1})
	if err != nil {
		return nil, 0, err
	}
	all, leapfrogs := processor.Seconds()-began, 0
	for _, step := range chains[0].Stats {
		leapfrogs += step.Leapfrogs
	}
	return chains[0].Draws, all * float64(leapfrogs) / float64(chains[0].Gradients), nil
}
