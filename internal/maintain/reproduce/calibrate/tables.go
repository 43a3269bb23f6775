package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/schemafile"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/internal/experiment/configs"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// load reads a public table under its bundled schema, or simulates one.
func load(name string, radius float64) (*data.Table, error) {
	if kind, ok := strings.CutPrefix(name, "simulated-"); ok {
		return simulatedTable(kind, rand.New(rand.NewPCG(*seed, 0xda7a)))
	}
	file, text, err := schemaText(name, configs.Schema)
	if err != nil {
		return nil, err
	}
	schema, err := schemafile.Parse(name, text)
	if err != nil {
		return nil, err
	}
	schema.Radius = cmp.Or(radius, schema.Radius)
	return data.Load(context.Background(), filepath.Join(*shared, "data", file+".csv"), schema)
}

// gaussianMu is the Gaussian budget of (ε, δ).
func gaussianMu(epsilon, delta float64) (float64, error) {
	mu, _, err := accountant.SolveParameter(func(mu float64) (accountant.Event, error) {
		return accountant.GaussianDP(accountant.Substitute, mu)
	}, 1e-4, 100, epsilon, delta, true)
	return mu, err
}

// linearFit is an estimate's error on held-out records, and how the intervals of a
// posterior compare with those of the posterior without privacy.
type linearFit struct{ rmse, held, ratio, sigma float64 }

func linearTable(name string) error {
	table, err := load(name, *radius)
	if err != nil {
		return err
	}
	model, err := models.New("linear", &table.Shape, models.Options{PriorSD: *priorSD})
	if err != nil {
		return err
	}
	table = model.Weigh(table)
	target := model.Target.(*targets.Linear)
	*priorSD = model.Options.PriorSD
	mu, err := gaussianMu(*epsilon, delta)
	if err != nil {
		return err
	}
	bound := math.Max(math.Abs(table.Target.At(table.Target.Lower)), math.Abs(table.Target.At(table.Target.Upper)))
	facts := curator.Facts{Records: int64(table.Records), Features: table.Features(), Response: true, Radius: table.Radius,
		RowsPerPerson: 1, Adjacency: accountant.Substitute}
	mechanism := curator.SecondMoment{Response: bound, NoiseMultiplier: 1 / mu}
	unit, reach := mechanism.ResponseUnit(facts), bound
	if *uncut {
		reach = math.Inf(1)
	}
	sd, err := mechanism.NoiseSD(facts)
	if err != nil {
		return err
	}
	names := []string{"not private", "noise-aware", "AdaSSP"}
	var total [3]linearFit
	least, most := math.Inf(1), 0.0
	var verdicts [3]tally
	var apart paired
	for i := range *sets {
		rng := rand.New(rand.NewPCG(*seed, uint64(i)))
		test, train, err := data.Split(table, 0.1, rng)
		if err != nil {
			return err
		}
		exact := sums(train, unit, reach, 0, rng)
		reference, _, err := fitLinear(exact, target, train, unit, uint64(i))
		if err != nil {
			return err
		}
		noisy := sums(train, unit, bound, sd, rng)
		var private surrogates.Draws
		var said verdict
		if *anchorFit == "" {
			private, said, err = fitLinear(noisy, target, train, unit, uint64(i))
		} else {
			private, said, err = runLinear(train, model, unit, uint64(i))
		}
		if err != nil {
			return err
		}
		verdict := &verdicts[said]
		verdict.releases++
		least, most = min(least, private.LeastESS), max(most, private.MostRHat)
		means := [3][]float64{2: adaSSP(train, bound, mu, rng)}
		compareFits(table, reference, private, unit, &means, &total, verdict)
		var errors [3]float64
		for f := range names {
			errors[f] = predict(test, means[f])
			total[f].rmse += errors[f] / float64(*sets)
		}
		apart.add(errors[1]/errors[2] - 1)
	}
	fmt.Printf("%s n %d d %d ε %v prior %s sd %.3g sets %d:", name, table.Records, table.Features(), *epsilon,
		model.Options.Prior, *priorSD, *sets)
	for f, n := range names {
		fmt.Printf(" %s RMSE %.4f,", n, total[f].rmse)
	}
	fmt.Printf(" paired %v,", &apart)
	fmt.Printf(" intervals hold the non-private mean %.3f, sd ratio %.2f, σ %.3f (%.3f), least ESS %.0f, R-hat %.3f;",
		total[1].held, math.Exp(total[1].ratio), total[1].sigma, total[0].sigma, least, most)
	for i, v := range verdicts {
		fmt.Printf(" %s %v", []string{"usable", "conditionally", "not usable"}[i], v)
	}
	fmt.Println()
	return nil
}

// paired are relative differences of errors on the same records.
type paired struct{ n, sum, squares float64 }

func (p *paired) add(v float64) { p.n, p.sum, p.squares = p.n+1, p.sum+v, p.squares+v*v }

func (p *paired) String() string {
	mean := p.sum / p.n
	return fmt.Sprintf("%+.2f%% ± %.2f", 100*mean, 100*math.Sqrt(max(0, p.squares/p.n-mean*mean)/max(1, p.n-1)))
}

// compareFits adds up what the private intervals hold of the posterior without privacy, and
// fills in the first two means.
func compareFits(table *data.Table, reference, private surrogates.Draws, unit float64, means *[3][]float64,
	total *[3]linearFit, verdict *tally) {
	d := table.Features()
	for j := range d + 1 {
		r, p := diag.Summarize(reference.Column(j)), diag.Summarize(private.Column(j))
		if r.Mean >= p.Q5 && r.Mean <= p.Q95 {
			total[1].held += 1 / float64((d+1)*(*sets))
			verdict.held += 1 / float64(d+1)
		}
		total[1].ratio += math.Log(p.SD/r.SD) / float64((d+1)*(*sets))
		if j == d { // the logarithm of the scale of errors
			total[0].sigma += math.Exp(r.Median) * unit / float64(*sets)
			total[1].sigma += math.Exp(p.Median) * unit / float64(*sets)
			return
		}
		means[0], means[1] = append(means[0], r.Mean*unit), append(means[1], p.Mean*unit)
	}
}

// tally counts releases of one verdict, and what of the parameters their intervals hold.
type tally struct {
	releases int
	held     float64
}

func (t tally) String() string {
	return fmt.Sprintf("%d (%.2f)", t.releases, t.held/float64(max(1, t.releases)))
}

// verdict is what a run would say of a release.
type verdict int

const (
	usable      verdict = iota
	conditional         // if the prior is believed, or the bounds of responses are
	refused
)

func judge(l *surrogates.Linear, d surrogates.Draws, t *data.Table, unit float64) verdict {
	check := l.CheckPrior(d)
	cut := l.Cut(d, t.Target.At(t.Target.Lower)/unit, t.Target.At(t.Target.Upper)/unit)
	switch {
	case check.Tail < surrogates.LeastTail:
		return refused
	case len(check.Hidden) > 0 || cut.Shift > 0.5:
		return conditional
	}
	return usable
}

// sums releases the second moments of [x, y/unit] with noise, responses cut to ±bound.
func sums(t *data.Table, unit, bound, sd float64, rng *rand.Rand) surrogates.Sums {
	d := t.Features()
	p := d + 1
	s := surrogates.Sums{Moment: make([]float64, p*p), MomentSD: sd, Features: d, Records: int64(t.Records),
		Radius: t.Radius, Columns: chains.Columns(&t.Shape, t.Weighed)}
	z := make([]float64, p)
	for i := range t.Records {
		copy(z, t.Row(i))
		z[d] = max(-bound, min(bound, t.Y[i])) / unit
		for j, u := range z {
			for k, v := range z {
				s.Moment[j*p+k] += u * v
			}
		}
	}
	addNoise(s.Moment, p, sd, rng)
	return s
}

// addNoise adds symmetric noise, sd on the diagonal and sd/√2 off it.
func addNoise(m []float64, p int, sd float64, rng *rand.Rand) {
	for j := range p {
		for k := j; k < p; k++ {
			z := sd * rng.NormFloat64()
			if j != k {
				z /= math.Sqrt2
			}
			m[j*p+k] += z
			m[k*p+j] = m[j*p+k]
		}
	}
}

func fitLinear(s surrogates.Sums, m *targets.Linear, t *data.Table, unit float64, seed uint64) (surrogates.Draws,
	verdict, error) {
	l, err := surrogates.NewLinear(surrogates.LinearConfig{
		Sums: s, Prior: m.Prior(), ZellnerSiow: m.ZellnerSiow(), MinScale: m.MinScale(), ScalePrior: m.ScalePrior(),
		Seed: seed,
	}.In(unit))
	if err != nil {
		return surrogates.Draws{}, usable, err
	}
	d, err := sample(l, seed)
	if err != nil {
		return d, usable, err
	}
	return d, judge(l, d, t, unit), nil
}

// runLinear is a run's own release and draws, in the units of fitLinear's.
func runLinear(t *data.Table, m *models.Model, unit float64, seed uint64) (surrogates.Draws, verdict, error) {
	run, err := session(t, m, chains.Settings{Iterations: int64(*draws), ESS: *least, AnchorFit: *anchorFit}, seed)
	if err != nil {
		return surrogates.Draws{}, usable, err
	}
	result, err := run.Run(context.Background(), m, chains.Options{})
	if err != nil {
		return surrogates.Draws{}, usable, err
	}
	d := t.Features()
	for _, chain := range result.Draws {
		for _, theta := range chain {
			theta[d] = math.Log(theta[d] - m.Target.(*targets.Linear).MinScale())
			surrogates.Unscale(theta, 1/unit)
		}
	}
	said := usable
	if doubt := chains.Gravest(result.Certificate.Doubts); doubt != nil {
		said = refused
		if doubt.Conditional {
			said = conditional
		}
	}
	return surrogates.Draws{Chains: result.Draws}, said, nil
}

// adaSSP is Wang 2018, Algorithm 2, its three releases with a third of the Gaussian
// budget each, under substitution.
func adaSSP(t *data.Table, bound, mu float64, rng *rand.Rand) []float64 {
	const beta = 0.05
	d := t.Features()
	each := mu / math.Sqrt(3)
	s := sums(t, 1, bound, 0, rng)
	p := d + 1
	square, right := mat.NewSymDense(d, nil), mat.NewVecDense(d, nil)
	for j := range d {
		for k := j; k < d; k++ {
			square.SetSym(j, k, s.Moment[j*p+k])
		}
		right.SetVec(j, s.Moment[j*p+d]+2*t.Radius*bound/each*rng.NormFloat64())
	}
	var eigen mat.EigenSym
	eigen.Factorize(square, false)
	unit := t.Radius * t.Radius / each
	smallest := max(0, eigen.Values(nil)[0]+unit*rng.NormFloat64()-unit*math.Sqrt(math.Log(6/delta)))
	noise := square.RawSymmetric().Data
	full := make([]float64, d*d)
	for j := range d {
		for k := range d {
			full[j*d+k] = square.At(j, k)
		}
	}
	addNoise(full, d, math.Sqrt2*unit, rng)
	copy(noise, full)
	ridge := max(0, math.Sqrt(float64(d)*math.Log(2*float64(d*d)/beta))*unit-smallest)
	lhs := mat.NewDense(d, d, full)
	for j := range d {
		lhs.Set(j, j, lhs.At(j, j)+ridge)
	}
	var out mat.VecDense
	if out.SolveVec(lhs, right) != nil {
		return make([]float64, d)
	}
	return out.RawVector().Data
}

func predict(t *data.Table, beta []float64) float64 {
	s := 0.0
	for i := range t.Records {
		e := t.Y[i]
		for j, x := range t.Row(i) {
			e -= x * beta[j]
		}
		if t.Weighed { // the error of the whole row
			e *= t.Whole() / t.Row(i)[0]
		}
		s += e * e
	}
	return math.Sqrt(s / float64(t.Records))
}
