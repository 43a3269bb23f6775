package nuts

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/internal/shared"
)

// model is one posterior of posteriordb on unconstrained space, written after
// shared/posteriordb/models. It has no buffers, so chains can share it.
type model struct {
	LogDensity
	// constrain returns the parameters of the reference draws at theta.
	constrain func(theta []float64) []float64
}

// load reads the data of a posterior.
func load(t testing.TB, name string) map[string]json.RawMessage {
	t.Helper()
	raw, err := os.ReadFile(shared.Path(t, "posteriordb/"+name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var data map[string]json.RawMessage
	if err := json.Unmarshal(raw, &data); err != nil {
		t.Fatal(err)
	}
	return data
}

// value decodes one entry of the data.
func value[T any](t testing.TB, data map[string]json.RawMessage, key string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(data[key], &v); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return v
}

// column decodes a vector.
func column(t testing.TB, data map[string]json.RawMessage, key string) []float64 {
	t.Helper()
	return value[[]float64](t, data, key)
}

// mapped returns f of every element.
func mapped(x []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = f(v)
	}
	return out
}

// design makes a matrix of columns, the first of ones.
func design(columns ...[]float64) *mat.Dense {
	n := len(columns[0])
	x := mat.NewDense(n, len(columns)+1, nil)
	for i := range n {
		x.Set(i, 0, 1)
		for j, c := range columns {
			x.Set(i, j+1, c[i])
		}
	}
	return x
}

// prior adds the log prior density at a value to logp and its slope to grad.
type prior func(value float64) (logp, slope float64)

func normalPrior(scale float64) prior {
	return func(v float64) (float64, float64) {
		z := v / scale
		return -z * z / 2, -z / scale
	}
}

// studentPrior is Student's t; with 1 degree of freedom Cauchy's.
func studentPrior(freedom, center, scale float64) prior {
	return func(v float64) (float64, float64) {
		z := (v - center) / scale
		q := 1 + z*z/freedom
		return -(freedom + 1) / 2 * math.Log(q), -(freedom + 1) / freedom * z / scale / q
	}
}

func flatPrior(float64) (float64, float64) { return 0, 0 }

// regression is y ~ N(Xβ, σ) on (β, log σ). The residual sum of squares is
// expanded around its minimum, so a gradient costs dim² whatever the records.
type regression struct {
	records float64
	best    []float64 // least squares
	gram    *mat.SymDense
	rows    *mat.Dense // gram again, whole rows
	rss     float64    // at best
	coef    []prior    // of each β
	scale   prior      // of σ
}

func newRegression(x *mat.Dense, y []float64, coef []prior, scale prior) *regression {
	n, p := x.Dims()
	r := &regression{records: float64(n), best: make([]float64, p), gram: mat.NewSymDense(p, nil), coef: coef,
		scale: scale}
	best := mat.NewVecDense(p, r.best)
	if err := best.SolveVec(x, mat.NewVecDense(n, y)); err != nil {
		panic(err)
	}
	r.gram.SymOuterK(1, x.T())
	r.rows = mat.DenseCopyOf(r.gram)
	var fitted mat.VecDense
	fitted.MulVec(x, best)
	for i, v := range y {
		r.rss += (v - fitted.AtVec(i)) * (v - fitted.AtVec(i))
	}
	return r
}

func (r *regression) Dim() int { return len(r.best) + 1 }

func (r *regression) LogDensityGrad(grad, theta []float64) float64 {
	p := len(r.best)
	logSigma := theta[p]
	sigma := math.Exp(logSigma)
	rss := r.rss
	for i := range p {
		var dot float64
		for j, g := range r.rows.RawRowView(i) {
			dot += g * (theta[j] - r.best[j])
		}
		rss += dot * (theta[i] - r.best[i])
		grad[i] = -dot / (sigma * sigma)
	}
	logp := -r.records*logSigma - rss/(2*sigma*sigma) + logSigma
	grad[p] = -r.records + rss/(sigma*sigma) + 1
	for i, prior := range r.coef {
		lp, slope := prior(theta[i])
		logp += lp
		grad[i] += slope
	}
	lp, slope := r.scale(sigma)
	grad[p] += slope * sigma
	return logp + lp
}

// posterior wraps the regression with the transformation of σ.
func (r *regression) posterior() model {
	return model{r, func(theta []float64) []float64 {
		out := slices.Clone(theta)
		out[len(out)-1] = math.Exp(out[len(out)-1])
		return out
	}}
}

func repeat(p prior, n int) []prior { return slices.Repeat([]prior{p}, n) }

func blr(t testing.TB) model {
	data := load(t, "sblrc")
	return newRegression(rows(value[[][]float64](t, data, "X")), column(t, data, "y"), repeat(normalPrior(10), 5),
		normalPrior(10)).posterior()
}

// rows makes a matrix of rows.
func rows(x [][]float64) *mat.Dense { return mat.NewDense(len(x), len(x[0]), slices.Concat(x...)) }

func earnHeight(t testing.TB) *regression {
	data := load(t, "earnings")
	return newRegression(design(column(t, data, "height")), column(t, data, "earn"), repeat(flatPrior, 2), flatPrior)
}

func kidscore(t testing.TB) model {
	data := load(t, "kidiq")
	return newRegression(design(column(t, data, "mom_iq")), column(t, data, "kid_score"), repeat(flatPrior, 2),
		studentPrior(1, 0, 2.5)).posterior()
}

func nes(t testing.TB) *regression {
	data := load(t, "nes1980")
	age := column(t, data, "age_discrete")
	is := func(group float64) []float64 {
		return mapped(age, func(a float64) float64 {
			if a == group {
				return 1
			}
			return 0
		})
	}
	x := design(column(t, data, "real_ideo"), column(t, data, "race_adj"), is(2), is(3), is(4),
		column(t, data, "educ1"), column(t, data, "gender"), column(t, data, "income"))
	return newRegression(x, column(t, data, "partyid7"), repeat(flatPrior, 9), flatPrior)
}

func mesquite(t testing.TB) *regression {
	data := load(t, "mesquite")
	logOf := func(key string) []float64 { return mapped(column(t, data, key), math.Log) }
	d1, d2, canopy := logOf("diam1"), logOf("diam2"), logOf("canopy_height")
	area, shape := make([]float64, len(d1)), make([]float64, len(d1))
	floats.AddTo(area, d1, d2)
	floats.SubTo(shape, d1, d2)
	volume := slices.Clone(area)
	floats.Add(volume, canopy)
	x := design(volume, area, shape, logOf("total_height"), column(t, data, "group"))
	return newRegression(x, logOf("weight"), repeat(flatPrior, 6), flatPrior)
}

// diamonds centres the covariates; its last coefficient is the intercept.
func diamonds(t testing.TB) model {
	data := load(t, "diamonds")
	x := rows(value[[][]float64](t, data, "X"))
	n, k := x.Dims()
	centred := mat.NewDense(n, k, nil)
	for j := 1; j < k; j++ {
		c := mat.Col(nil, j, x)
		floats.AddConst(-floats.Sum(c)/float64(n), c)
		centred.SetCol(j-1, c)
	}
	for i := range n {
		centred.Set(i, k-1, 1)
	}
	coef := append(repeat(normalPrior(1), k-1), studentPrior(3, 8, 10))
	return newRegression(centred, column(t, data, "Y"), coef, studentPrior(3, 0, 10)).posterior()
}

// eightSchools is on (the eight standardised effects, μ, log τ).
func eightSchools(t testing.TB) model {
	data := load(t, "eight_schools")
	y, sd := column(t, data, "y"), column(t, data, "sigma")
	n := len(y)
	onMu, onTau := normalPrior(5), studentPrior(1, 0, 5)
	density := func(grad, theta []float64) float64 {
		mu, tau := theta[n], math.Exp(theta[n+1])
		logp, slope := onMu(mu)
		tauLog, tauSlope := onTau(tau)
		grad[n], grad[n+1] = slope, tauSlope*tau+1
		logp += tauLog + theta[n+1]
		for i := range n {
			z := (y[i] - theta[i]*tau - mu) / sd[i]
			logp -= (z*z + theta[i]*theta[i]) / 2
			grad[i] = z/sd[i]*tau - theta[i]
			grad[n] += z / sd[i]
			grad[n+1] += z / sd[i] * theta[i] * tau
		}
		return logp
	}
	return model{Func(n+2, density), func(theta []float64) []float64 {
		mu, tau := theta[n], math.Exp(theta[n+1])
		return append(mapped(theta[:n], func(z float64) float64 { return z*tau + mu }), mu, tau)
	}}
}

// softTails sums log(1 + exp(-|x|)) with one logarithm per 500 terms.
type softTails struct {
	sum, product float64
	terms        int
}

// add adds the term of x and returns 1/(1 + exp(-x)).
func (s *softTails) add(x float64) float64 {
	if s.terms%500 == 0 {
		s.sum, s.product = s.total(), 1
	}
	s.terms++
	tail := math.Exp(-math.Abs(x))
	s.product *= 1 + tail // at most 2 each
	if x < 0 {
		return tail / (1 + tail)
	}
	return 1 / (1 + tail)
}

func (s *softTails) total() float64 {
	if s.terms == 0 {
		return 0
	}
	return s.sum + math.Log(s.product)
}

// gaussMix is on (μ₁, log(μ₂ - μ₁), log σ₁, log σ₂, logit θ).
func gaussMix(t testing.TB) model {
	y := column(t, load(t, "low_dim_gauss_mix"), "y")
	constrain := func(u []float64) []float64 {
		return []float64{u[0], u[0] + math.Exp(u[1]), math.Exp(u[2]), math.Exp(u[3]), 1 / (1 + math.Exp(-u[4]))}
	}
	two := normalPrior(2)
	density := func(grad, u []float64) float64 {
		gap := math.Exp(u[1])
		mu := [2]float64{u[0], u[0] + gap}
		sigma := [2]float64{math.Exp(u[2]), math.Exp(u[3])}
		theta := 1 / (1 + math.Exp(-u[4]))
		var logp, dMix float64
		var dMu, dLogSigma [2]float64
		for k := range 2 {
			lp, slope := two(mu[k])
			logp, dMu[k] = logp+lp, slope
			lp, slope = two(sigma[k])
			logp, dLogSigma[k] = logp+lp+u[2+k], slope*sigma[k]+1
		}
		var tails softTails
		logWeight := [2]float64{math.Log(theta) - u[2], math.Log1p(-theta) - u[3]}
		logp += 5*math.Log(theta) + 5*math.Log1p(-theta) + u[1] // beta(5, 5) and the Jacobians
		for _, v := range y {
			z := [2]float64{(v - mu[0]) / sigma[0], (v - mu[1]) / sigma[1]}
			a, b := logWeight[0]-z[0]*z[0]/2, logWeight[1]-z[1]*z[1]/2
			first := tails.add(a - b)
			logp += max(a, b)
			for k, share := range [2]float64{first, 1 - first} {
				dMu[k] += share * z[k] / sigma[k]
				dLogSigma[k] += share * (z[k]*z[k] - 1)
			}
			dMix += first - theta
		}
		logp += tails.total()
		grad[0], grad[1] = dMu[0]+dMu[1], dMu[1]*gap+1
		grad[2], grad[3] = dLogSigma[0], dLogSigma[1]
		grad[4] = 5 - 10*theta + dMix
		return logp
	}
	return model{Func(5, density), constrain}
}

// logistic is Bernoulli with a flat prior.
func logistic(x *mat.Dense, y []float64) model {
	_, p := x.Dims()
	density := func(grad, theta []float64) float64 {
		clear(grad)
		var logp float64
		var tails softTails
		for i, label := range y {
			var eta float64
			row := x.RawRowView(i)
			for j, v := range row {
				eta += v * theta[j]
			}
			logp += label*eta - max(eta, 0)
			residual := label - tails.add(eta)
			for j, v := range row {
				grad[j] += residual * v
			}
		}
		logp -= tails.total()
		return logp
	}
	return model{Func(p, density), slices.Clone[[]float64]}
}

func wellsDist(t testing.TB) model {
	data := load(t, "wells_data")
	hundred := func(v float64) float64 { return v / 100 }
	return logistic(design(mapped(column(t, data, "dist"), hundred)), column(t, data, "switched"))
}

func wellsInteraction(t testing.TB) model { return logistic(wellsDesign(t)) }

func wellsDesign(t testing.TB) (x *mat.Dense, y []float64) {
	data := load(t, "wells_data")
	centred := func(key string, scale float64) []float64 {
		c := column(t, data, key)
		mean := floats.Sum(c) / float64(len(c))
		return mapped(c, func(v float64) float64 { return (v - mean) / scale })
	}
	dist, arsenic := centred("dist", 100), centred("arsenic", 1)
	inter := make([]float64, len(dist))
	floats.MulTo(inter, dist, arsenic)
	return design(dist, arsenic, inter), column(t, data, "switched")
}
