// Command sites runs a regression over records that lie at several sites, each a process
// of its own on this machine: by two looks, and by chains of which every site answers every
// step. Then the same with an aggregator that all trust, and over the pooled records: what
// not pooling costs. Records are simulated. What sites send an aggregator is exact, and is not
// encrypted here: it does not leave this machine.
//
//	go run ./examples/sites -sites 16 -records 2000
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/sites"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

var (
	places  = flag.Int("sites", 16, "number of sites, a process each")
	records = flag.Int("records", 2000, "records of each site")
	epsilon = flag.Float64("epsilon", 1, "ε of each site, at δ = 1e-6")
	steps   = flag.Int64("steps", 200, "steps of each of four chains that sites answer")
	serve   = flag.Int("serve", -1, "be the site with this number (the command starts these itself)")
	trust   = flag.Bool("trust", false, "with -serve: hand exact sums to an aggregator")
)

func main() {
	flag.Parse()
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

var truth = []float64{0.5, -2, 1, 0}

func run(ctx context.Context, out io.Writer) error {
	if *serve >= 0 {
		return answer(out, *serve)
	}
	apart, end, err := startAll(ctx, "-steps=0")
	defer end()
	if err != nil {
		return err
	}
	stepping, end, err := startAll(ctx)
	defer end()
	if err != nil {
		return err
	}
	trusting, end, err := startAll(ctx, "-trust")
	defer end()
	if err != nil {
		return err
	}
	var all curator.Records
	for i := range *places {
		r := simulate(i)
		all.X, all.Y, all.Features, all.Radius = append(all.X, r.X...), append(all.Y, r.Y...), r.Features, r.Radius
	}
	trusted, err := aggregate(all, trusting, 0)
	if err != nil {
		return err
	}
	walked, err := aggregate(all, trusting, *steps)
	if err != nil {
		return err
	}
	pooled, err := open(all, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Logistic regression, %d sites of %d records.\n"+
		"ε = %v and δ = 1e-6 for everyone (substitute), unconditional.\n"+
		"Source: Gaussian releases at each site, parallel composition (docs/proofs/sites.md).\n\n"+
		"%-10s %6s %6s %9s %6s %7s\n", *places, *records, *epsilon, "records", "error", "sd", "widening", "ESS", "time")
	if err := fit(ctx, out, "apart", asSites(apart)...); err != nil {
		return err
	}
	if err := walk(ctx, out, "stepping", asSites(stepping)...); err != nil {
		return err
	}
	if err := fit(ctx, out, "aggregated", trusted); err != nil {
		return err
	}
	if err := walk(ctx, out, "its steps", walked); err != nil {
		return err
	}
	return fit(ctx, out, "pooled", pooled)
}

// startAll starts a process for every site, and returns what ends them.
func startAll(ctx context.Context, flags ...string) (all []sites.Remote, end func(), err error) {
	ctx, stop := context.WithCancel(ctx)
	var children []*exec.Cmd
	end = func() {
		stop()
		for _, c := range children {
			_ = c.Wait() // it was killed
		}
	}
	for i := range *places {
		child, url, err := start(ctx, i, flags)
		if err != nil {
			return nil, end, fmt.Errorf("site %d: %w", i, err)
		}
		children = append(children, child)
		all = append(all, sites.Remote{URL: url})
	}
	return all, end, nil
}

func asSites(all []sites.Remote) (out []sites.Site) {
	for _, r := range all {
		out = append(out, r)
	}
	return out
}

// fit samples given the sites' looks.
func fit(ctx context.Context, out io.Writer, name string, places ...sites.Site) error {
	model, err := logistic()
	if err != nil {
		return err
	}
	began := time.Now()
	r, err := sites.Fit(ctx, sites.FitConfig{Target: model, Sample: surrogates.SampleConfig{Seed: 1}}, places...)
	if err != nil {
		return err
	}
	wide := 0.0
	for _, w := range r.Widening {
		wide += w * w / float64(len(truth))
	}
	return tell(out, name, r.Draws, math.Sqrt(wide), began)
}

// walk runs chains of which every site answers every step.
func walk(ctx context.Context, out io.Writer, name string, places ...sites.Site) error {
	model, err := logistic()
	if err != nil {
		return err
	}
	began := time.Now()
	r, err := sites.Walk(ctx, sites.WalkConfig{FitConfig: sites.FitConfig{Target: model,
		Sample: surrogates.SampleConfig{Seed: 1}}}, places...)
	if err != nil {
		return err
	}
	return tell(out, name, r.Draws, r.Widening, began)
}

// tell prints the root mean squares over coefficients of error and posterior sd.
func tell(out io.Writer, name string, draws surrogates.Draws, widening float64, began time.Time) error {
	var off, sd float64
	d := float64(len(truth))
	for j, t := range truth {
		s := diag.Summarize(draws.Column(j))
		off, sd = off+math.Pow(s.Mean-t, 2)/d, sd+s.SD*s.SD/d
	}
	_, err := fmt.Fprintf(out, "%-10s %6.3f %6.3f %9s %6.0f %7s\n", name, math.Sqrt(off), math.Sqrt(sd),
		fmt.Sprintf("×%.2f", widening), draws.LeastESS, time.Since(began).Round(10*time.Millisecond))
	return err
}

func logistic() (*targets.Regression, error) {
	return targets.New(targets.RegressionConfig{Features: len(truth), Prior: priors.Gaussian{SD: 2}})
}

// simulate draws the records of a site, rows of length at most 1 with an intercept.
func simulate(site int) curator.Records {
	d, rng := len(truth), rand.New(rand.NewPCG(uint64(site), 1))
	r := curator.Records{X: make([]float64, *records*d), Features: d, Y: make([]float64, *records), Radius: 1}
	for i := range *records {
		eta, row := 0.0, r.X[i*d:(i+1)*d]
		for j := range row {
			row[j] = math.Sqrt(1 / float64(d))
			if j > 0 {
				row[j] *= 2*rng.Float64() - 1
			}
			eta += row[j] * truth[j]
		}
		if rng.Float64() < 1/(1+math.Exp(-eta)) {
			r.Y[i] = 1
		}
	}
	return r
}

// open seals records under a budget of their own and charges for all looks and steps.
func open(r curator.Records, steps int64) (*sites.Local, error) {
	budget, err := newBudget()
	if err != nil {
		return nil, err
	}
	sealed, err := curator.Seal(r, budget)
	if err != nil {
		return nil, err
	}
	c, err := configure(sealed.Facts(), steps)
	if err != nil {
		return nil, err
	}
	return sites.Open(c, sealed)
}

func newBudget() (*accountant.Budget, error) {
	return accountant.NewBudget(accountant.BudgetConfig{Epsilon: *epsilon, Delta: 1e-6, Adjacency: accountant.Substitute})
}

// configure chooses the noise that ε affords.
func configure(f curator.Facts, steps int64) (sites.Config, error) {
	model, err := logistic()
	if err != nil {
		return sites.Config{}, err
	}
	c := sites.Config{Target: model}
	if steps > 0 {
		c.Chains, c.Steps = 4, steps
	}
	return sites.Afford(c, f, *epsilon, 1e-6)
}

// aggregate is one party that sites of their own processes hand their exact sums to.
func aggregate(all curator.Records, places []sites.Remote, steps int64) (*sites.Aggregator, error) {
	c, err := configure(together(all), steps)
	if err != nil {
		return nil, err
	}
	var parts []sites.Part
	for _, r := range places {
		parts = append(parts, sites.RemotePart(r))
	}
	budget, err := newBudget()
	if err != nil {
		return nil, err
	}
	return sites.Aggregate(c, together(all), budget, parts)
}

// together is what is public of all records.
func together(r curator.Records) curator.Facts {
	return curator.Facts{Records: int64(*places * *records), Features: r.Features, Response: true, Radius: r.Radius,
		RowsPerPerson: 1, Adjacency: accountant.Substitute}
}

// answer is what a site's process does: it says where it listens, and serves.
func answer(out io.Writer, site int) error {
	handler, err := handler(simulate(site))
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, listener.Addr())
	return http.Serve(listener, handler)
}

// handler answers for a site, with noise of its own or, trusting an aggregator, without.
func handler(r curator.Records) (http.Handler, error) {
	if !*trust {
		local, err := open(r, *steps)
		return sites.Handler(local), err
	}
	c, err := configure(together(r), *steps)
	if err != nil {
		return nil, err
	}
	part, err := sites.Trust(c, together(r), r)
	return sites.TrustHandler(part), err
}

// start runs a site in a process that ends with ctx, and returns where it listens.
func start(ctx context.Context, site int, flags []string) (child *exec.Cmd, url string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	child = exec.CommandContext(ctx, self, append([]string{"-serve", fmt.Sprint(site), "-records", fmt.Sprint(*records),
		"-epsilon", fmt.Sprint(*epsilon), "-steps", fmt.Sprint(*steps), "-sites", fmt.Sprint(*places)}, flags...)...)
	child.Stderr = os.Stderr
	said, err := child.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := child.Start(); err != nil {
		return nil, "", err
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	return child, "http://" + strings.TrimSpace(line), err
}
