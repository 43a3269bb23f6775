package targets_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/internal/shared"
	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// referenceCase is a posterior of posteriordb as a target of this package, with
// its records. Flat priors are boxes far wider than the posterior, and a scale
// with no least value has one of 10⁻⁹ of its size: the first alters no digit, the
// second none that 10⁵ draws could show.
type referenceCase struct {
	name   string
	target targets.GradTarget
	rows   targets.Rows
	// centre and unit make the coordinates that NUTS samples, θ = centre + unit·u.
	centre, unit []float64
	// constrain turns θ into the parameters of the reference, in place.
	constrain func(theta []float64)
}

// density is the posterior in the coordinates u. Each chain has its own.
type density struct {
	referenceCase
	theta, loss, grads []float64
}

func (c referenceCase) density() nuts.LogDensity {
	n, d := c.rows.Len(), c.target.Dim()
	return &density{c, make([]float64, d), make([]float64, n), make([]float64, n*d)}
}

func (p *density) Dim() int { return len(p.theta) }

func (p *density) LogDensityGrad(grad, u []float64) float64 {
	d := len(u)
	for j, v := range u {
		p.theta[j] = p.centre[j] + p.unit[j]*v
	}
	p.target.Loss(p.loss, p.theta, p.rows)
	p.target.GradLogPrior(grad, p.theta)
	p.target.LossGrad(p.grads, p.theta, p.rows)
	for i := 0; i < len(p.grads); i += d {
		floats.Sub(grad, p.grads[i:i+d])
	}
	floats.Mul(grad, p.unit)
	return p.target.LogPrior(p.theta) - floats.Sum(p.loss)
}

// check samples the posterior without privacy and compares with the reference
// draws (10 chains of 1000 and more by rstan): means within 4 combined Monte Carlo
// standard errors, standard deviations within 5%. The seed is fixed, so the test's
// outcome does not vary; another seed would exceed 4 standard errors in one of the
// 6·10⁻⁵ of scores.
func (c referenceCase) check(t *testing.T, draws int) {
	t.Helper()
	ref := readReference(t, c.name)
	chains, err := nuts.Sample(t.Context(), c.density, nuts.Config{Metric: nuts.Dense, Draws: draws, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	all := make([][][]float64, len(chains))
	for k, chain := range chains {
		for _, u := range chain.Draws {
			theta := make([]float64, len(u))
			for j, v := range u {
				theta[j] = c.centre[j] + c.unit[j]*v
			}
			c.constrain(theta)
			all[k] = append(all[k], theta)
		}
	}
	for p, s := range diag.SummarizeAll(ref.Params, all) {
		if z := (s.Mean - ref.Mean[p]) / math.Hypot(s.MCSEMean, ref.MCSEMean[p]); !(math.Abs(z) <= 4) {
			t.Errorf("%s: mean %v, reference %v: %.1f standard errors apart", s.Name, s.Mean, ref.Mean[p], z)
		}
		if ratio := s.SD / ref.SD[p]; !(math.Abs(ratio-1) <= 0.05) {
			t.Errorf("%s: sd %v, reference %v: ratio %.4f", s.Name, s.SD, ref.SD[p], ratio)
		}
		if !(s.RHat < diag.MaxRHat) {
			t.Errorf("%s: R-hat %v", s.Name, s.RHat)
		}
	}
}

type reference struct {
	Params   []string
	Mean, SD []float64
	MCSEMean []float64 `json:"mcse_mean"`
}

func readReference(t testing.TB, name string) reference {
	t.Helper()
	var all struct {
		Posteriors map[string]reference
		Logistic   struct{ Posteriors map[string]reference }
	}
	readJSON(t, "reference", &all)
	if r, ok := all.Posteriors[name]; ok {
		return r
	}
	r, ok := all.Logistic.Posteriors[name]
	if !ok {
		t.Fatalf("no reference for %s", name)
	}
	return r
}

func readJSON(t testing.TB, name string, v any) {
	t.Helper()
	raw, err := os.ReadFile(shared.Path(t, "posteriordb/"+name+".json"))
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// dataOf reads a posterior's data.
type dataOf map[string]json.RawMessage

func load(t testing.TB, name string) dataOf {
	t.Helper()
	d := dataOf{}
	readJSON(t, name, &d)
	return d
}

func get[T any](t testing.TB, d dataOf, key string) (v T) {
	t.Helper()
	if err := json.Unmarshal(d[key], &v); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return v
}

func mapped(x []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = f(v)
	}
	return out
}

func logged(x []float64) []float64 { return mapped(x, math.Log) }

// design makes records of columns, the first of ones.
func design(y []float64, columns ...[]float64) targets.Rows {
	r := targets.Rows{P: len(columns) + 1, Y: y}
	for i := range y {
		r.X = append(r.X, 1)
		for _, c := range columns {
			r.X = append(r.X, c[i])
		}
	}
	return r
}

// linear is linear regression, sampled in coordinates of the least-squares fit.
func linear(t testing.TB, name string, rows targets.Rows, prior priors.Prior, scale priors.Scale) referenceCase {
	t.Helper()
	n, p := rows.Len(), rows.P
	x := mat.NewDense(n, p, rows.X)
	var best, residual mat.VecDense
	if err := best.SolveVec(x, mat.NewVecDense(n, rows.Y)); err != nil {
		t.Fatal(err)
	}
	residual.MulVec(x, &best)
	residual.SubVec(mat.NewVecDense(n, rows.Y), &residual)
	sigma := mat.Norm(&residual, 2) / math.Sqrt(float64(n))
	var gram mat.SymDense
	var chol mat.Cholesky
	gram.SymOuterK(1, x.T())
	if !chol.Factorize(&gram) {
		t.Fatal("the features are collinear")
	}
	var inverse mat.SymDense
	if err := chol.InverseTo(&inverse); err != nil {
		t.Fatal(err)
	}
	least := 1e-9 * sigma
	if prior == nil {
		prior = priors.Uniform{Low: -1e9, High: 1e9}
	}
	if scale == nil {
		scale = priors.HalfCauchy{Scale: 1e9 * sigma} // flat where the posterior is
	}
	m, err := targets.New(targets.LinearConfig{Features: p, Prior: prior, MinScale: least, ScalePrior: scale})
	if err != nil {
		t.Fatal(err)
	}
	c := referenceCase{name: name, target: m, rows: rows, centre: make([]float64, p+1), unit: make([]float64, p+1)}
	for j := range p {
		c.centre[j], c.unit[j] = best.AtVec(j), sigma*math.Sqrt(inverse.At(j, j))
	}
	c.centre[p], c.unit[p] = math.Log(sigma), 1/math.Sqrt(2*float64(n))
	c.constrain = func(theta []float64) { theta[p] = m.Scale(theta) }
	return c
}

// fastReferences take about a second each; the others are in
// reference_slow_test.go.
func fastReferences(t testing.TB) []referenceCase {
	blr := load(t, "sblrc")
	rows := get[[][]float64](t, blr, "X")
	kidiq, mesquite := load(t, "kidiq"), load(t, "mesquite")
	d1, d2, canopy := get[[]float64](t, mesquite, "diam1"), get[[]float64](t, mesquite, "diam2"),
		get[[]float64](t, mesquite, "canopy_height")
	volume, area, shape := slices.Clone(d1), slices.Clone(d1), slices.Clone(d1)
	floats.Mul(area, d2)
	floats.Div(shape, d2)
	copy(volume, area)
	floats.Mul(volume, canopy)
	return []referenceCase{
		linear(t, "sblrc-blr", targets.Rows{X: slices.Concat(rows...), P: len(rows[0]), Y: get[[]float64](t, blr, "y")},
			priors.Gaussian{SD: 10}, priors.HalfNormal{SD: 10}),
		linear(t, "kidiq-kidscore_momiq", design(get[[]float64](t, kidiq, "kid_score"), get[[]float64](t, kidiq, "mom_iq")),
			nil, priors.HalfCauchy{Scale: 2.5}),
		linear(t, "mesquite-logmesquite_logvash", design(logged(get[[]float64](t, mesquite, "weight")), logged(volume),
			logged(area), logged(shape),
			logged(get[[]float64](t, mesquite, "total_height")), get[[]float64](t, mesquite, "group")), nil, nil),
	}
}

func TestReferencePosteriors(t *testing.T) {
	for _, c := range fastReferences(t) {
		t.Run(c.name, func(t *testing.T) { c.check(t, 4000) })
	}
}

// TestWrongModelsMissTheReference: the comparison rejects a prior that is not the
// reference's, and a response 1% too large.
func TestWrongModelsMissTheReference(t *testing.T) {
	blr := load(t, "sblrc")
	rows, y := get[[][]float64](t, blr, "X"), get[[]float64](t, blr, "y")
	ref := readReference(t, "sblrc-blr")
	for name, c := range map[string]referenceCase{
		"prior": linear(t, "sblrc-blr", targets.Rows{X: slices.Concat(rows...), P: len(rows[0]), Y: y},
			priors.Gaussian{SD: 0.2}, priors.HalfNormal{SD: 10}),
		"data": linear(t, "sblrc-blr", targets.Rows{X: slices.Concat(rows...), P: len(rows[0]),
			Y: mapped(y, func(v float64) float64 { return 1.01 * v })},
			priors.Gaussian{SD: 10}, priors.HalfNormal{SD: 10}),
	} {
		chains, err := nuts.Sample(t.Context(), c.density, nuts.Config{Metric: nuts.Dense, Draws: 2000, Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for p := range ref.Params[:5] {
			var draws [][]float64
			for _, chain := range chains {
				var one []float64
				for _, u := range chain.Draws {
					one = append(one, c.centre[p]+c.unit[p]*u[p])
				}
				draws = append(draws, one)
			}
			s := diag.Summarize(draws)
			worst = max(worst, math.Abs(s.Mean-ref.Mean[p])/math.Hypot(s.MCSEMean, ref.MCSEMean[p]))
		}
		if worst <= 4 {
			t.Errorf("%s: a wrong model is within %.1f standard errors of the reference", name, worst)
		}
	}
}
