package methods

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// column is a number, or a response, of scale 1.
func column(name string, role data.Role) data.Column {
	return data.Column{Name: name, Role: role, Kind: data.Number, Lower: -50, Upper: 50, Scale: 1}
}

// tableOf draws a table whose first number has twice the spread of the second, and the model of
// it.
func tableOf(t *testing.T, name, prior string) (*models.Model, targets.Rows) {
	t.Helper()
	schema := &data.Schema{Confirmed: true, Records: 2000,
		Columns: []data.Column{column("a", data.Feature), column("b", data.Feature), column("y", data.Target)}}
	if name == "logistic" {
		schema.Columns[2] = data.Column{Name: "y", Role: data.Target, Kind: data.Binary, Labels: []string{"no", "yes"}}
	}
	shape, err := schema.Shape()
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New(name, shape, models.Options{Prior: prior, PriorSD: 3})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(4, 4))
	table := shape.Simulate(rng, func(row []float64) {
		for j := range row {
			row[j] = shape.Terms[j].At(1)
			if j > 0 {
				row[j] = (rng.NormFloat64()*float64(3-j) + 1) / shape.Spread
			}
		}
	}, func(row []float64) float64 {
		if name == "logistic" {
			return float64(rng.IntN(2))
		}
		return floats.Sum(row) + rng.NormFloat64()
	})
	table = m.Weigh(table)
	return m, targets.Rows{X: table.X, Y: table.Y, P: table.Features()}
}

// centre is the least-squares fit of a state, with its standard deviations.
func centre(m *models.Model, rows targets.Rows) (theta, sds []float64) {
	s, d := sumsOf(m, rows), rows.P
	square, right := mat.NewSymDense(d, nil), mat.NewVecDense(d, nil)
	for j := range d {
		for k := range d {
			square.SetSym(j, k, s.Moment[j*(d+1)+k])
		}
		right.SetVec(j, s.Moment[j*(d+1)+d])
	}
	var chol mat.Cholesky
	var beta mat.VecDense
	inverse := mat.NewSymDense(d, nil)
	chol.Factorize(square)
	if chol.SolveVecTo(&beta, right) != nil || chol.InverseTo(inverse) != nil {
		panic("singular")
	}
	rest := s.Moment[(d+1)*(d+1)-1] - mat.Dot(&beta, right)
	sigma := math.Sqrt(rest / counted(m, rows))
	for j := range d {
		theta, sds = append(theta, beta.AtVec(j)), append(sds, sigma*math.Sqrt(inverse.At(j, j)))
	}
	least := m.Target.(*targets.Linear).MinScale()
	return append(theta, math.Log(sigma-least)), append(sds, sigma/(sigma-least)/math.Sqrt(2*counted(m, rows)))
}

// differ is how far the difference of two log densities is from a constant, about a point.
func differ(t *testing.T, a, b nuts.LogDensity, about, sds []float64) float64 {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	low, high := math.Inf(1), math.Inf(-1)
	grad, theta := make([]float64, a.Dim()), make([]float64, a.Dim())
	for range 30 {
		for j := range theta {
			theta[j] = about[j] + sds[j]*(2*rng.Float64()-1)
		}
		v := a.LogDensityGrad(grad, theta)
		for j := range theta { // the gradient is the density's
			h := 1e-3 * sds[j]
			at, other := theta[j], make([]float64, len(theta))
			theta[j] = at + h
			up := a.LogDensityGrad(other, theta)
			theta[j] = at - h
			slope := (up - a.LogDensityGrad(other, theta)) / (2 * h)
			if math.Abs(slope-grad[j])*sds[j] > 1e-4*(1+sds[j]*math.Abs(slope)) {
				t.Errorf("the density's slope is %v, its gradient %v", slope, grad[j])
			}
			theta[j] = at
		}
		v -= b.LogDensityGrad(grad, theta)
		low, high = min(low, v), max(high, v)
	}
	return high - low
}

// TestReferenceIsWhatIsSampled: the non-private posterior of linear regressions is the one that
// anchored chains sample, given sums without noise: with their prior, and of as many records as count. It
// is neither that of the records under the normal prior, nor that of all records.
func TestReferenceIsWhatIsSampled(t *testing.T) {
	for _, prior := range []string{"zellner-siow", "normal"} {
		m, rows := tableOf(t, "linear", prior)
		if !m.Weighs() || counted(m, rows) > 0.95*float64(rows.Len()) {
			t.Fatal("no row is long: the test sees nothing")
		}
		density, err := posteriorOf(m, rows, false)
		if err != nil {
			t.Fatal(err)
		}
		target := m.Target.(*targets.Linear)
		exact, err := surrogates.NewLinear(surrogates.LinearConfig{Sums: sumsOf(m, rows), Prior: target.Prior(),
			ZellnerSiow: target.ZellnerSiow(), MinScale: target.MinScale(), ScalePrior: target.ScalePrior()})
		if err != nil {
			t.Fatal(err)
		}
		at, sds := centre(m, rows)
		// Given the rest, it takes the law of yᵀy for normal.
		if off := differ(t, density(), exact.Density(), at, sds); off > 0.3 {
			t.Errorf("prior %s: %v from what is sampled", prior, off)
		}
		if off := differ(t, density(), nuts.Posterior(target, rows, 1), at, sds); off < 3 {
			t.Errorf("prior %s: that of all records, shortened, is %v from it: the test sees nothing", prior, off)
		}
	}
}

// TestReferenceOfExplainedVariance: two references that differ by their priors alone differ by
// the factor of the variance explained, which rows say.
func TestReferenceOfExplainedVariance(t *testing.T) {
	m, rows := tableOf(t, "linear", "zellner-siow")
	plain, _ := tableOf(t, "linear", "normal")
	a, err := posteriorOf(m, rows, false)
	if err != nil {
		t.Fatal(err)
	}
	b, err := posteriorOf(plain, rows, false)
	if err != nil {
		t.Fatal(err)
	}
	target, grad, n := m.Target.(*targets.Linear), make([]float64, 4), float64(rows.Len())
	factor := func(theta []float64) float64 { // k = 2 columns beside the intercept
		ones, along, all := 0.0, 0.0, 0.0
		for i := range rows.Len() {
			x := rows.Row(i)
			eta := floats.Dot(x, theta[:3])
			ones, along, all = ones+x[0]*x[0], along+x[0]*eta, all+eta*eta
		}
		sigma := target.Scale(theta)
		return -1.5*math.Log1p((all-along*along/ones)/n/(target.ZellnerSiow()/2*sigma*sigma)) - 2*math.Log(sigma)
	}
	zero := []float64{0, 0, 0, 0}
	for _, theta := range [][]float64{{1, 2, -1, 0}, {0, 0, 3, 1}, {5, 0, 0, -1}} {
		got := a().LogDensityGrad(grad, theta) - b().LogDensityGrad(grad, theta) -
			a().LogDensityGrad(grad, zero) + b().LogDensityGrad(grad, zero)
		if want := factor(theta) - factor(zero); !(math.Abs(got-want) < 1e-6) {
			t.Errorf("at %v the priors differ by %v, want %v", theta, got, want)
		}
	}
}

// TestReferenceOfClasses: regressions of two labels have the prior of what a standard deviation of
// a number adds. Between two points the density differs from that under the normal prior by what the
// priors do.
func TestReferenceOfClasses(t *testing.T) {
	m, rows := tableOf(t, "logistic", "standardized")
	density, err := posteriorOf(m, rows, false)
	if err != nil {
		t.Fatal(err)
	}
	target := m.Target.(*targets.Regression)
	plain := nuts.Posterior(target, rows, 1)
	mean, square, grad, n := 0.0, 0.0, make([]float64, 3), float64(rows.Len())
	for i := range rows.Len() { // shortened rows weigh less
		x := rows.Row(i)
		mean, square = mean+x[1]*x[0]/m.Shape.Terms[0].At(1)/n, square+x[1]*x[1]/n
	}
	zero, one := []float64{0, 0, 0}, []float64{0, 1, 0}
	normal := target.LogPrior(one) - target.LogPrior(zero)
	effect := target.Standardized()
	// The predictor at the column's mean is N(0, sd²) of the constant's value, over it.
	model, at := target.Prior().(priors.Gaussian), mean/m.Shape.Terms[0].At(1)
	want := -(square-mean*mean)/(2*effect*effect) - math.Pow(at/model.SD, 2)/2 - normal
	got := density().LogDensityGrad(grad, one) - density().LogDensityGrad(grad, zero) -
		plain.LogDensityGrad(grad, one) + plain.LogDensityGrad(grad, zero)
	if effect == 0 || math.Abs(got-want) > 1e-8 || math.Abs(want) < 1e-4 {
		t.Errorf("effect %v: the prior's difference is %v, want %v", effect, got, want)
	}
}

// TestReferenceOfFittedColumns: the prior is of the variance of the predictor over records, whatever
// correlations are, a share of each column's variance being its own, and of the predictor at their means, as wide
// as anchors have it. Between two points
// the density differs from that under the normal prior by what the priors do, and from that of
// standardized columns by more.
func TestReferenceOfFittedColumns(t *testing.T) {
	m, rows := tableOf(t, "logistic", "standardized")
	for i := range rows.Len() { // the second number follows the first one
		row := rows.Row(i)
		row[2] = 0.4*row[1] + 0.3*row[2]
	}
	density, err := posteriorOf(m, rows, true)
	if err != nil {
		t.Fatal(err)
	}
	apart, err := posteriorOf(m, rows, false)
	if err != nil {
		t.Fatal(err)
	}
	target := m.Target.(*targets.Regression)
	model, level, n := target.Prior().(priors.Gaussian), m.Shape.Terms[0].At(1), float64(rows.Len())
	prior := func(theta []float64) float64 {
		sum, square := 0.0, 0.0
		var sums, squares [2]float64
		for i := range rows.Len() {
			x := rows.Row(i)
			eta := theta[1]*x[1] + theta[2]*x[2]
			sum, square = sum+eta*x[0]/level, square+eta*eta
			for j := range 2 {
				sums[j], squares[j] = sums[j]+x[1+j]*x[0]/level, squares[j]+x[1+j]*x[1+j]
			}
		}
		own := 0.0
		for j := range 2 {
			own += 0.01 * theta[1+j] * theta[1+j] * (squares[j]/n - sums[j]/n*sums[j]/n)
		}
		at, effect := theta[0]+sum/n/level, target.Standardized()
		sd := model.SD * surrogates.Openness(2)
		return -(square/n-sum/n*sum/n+own)/(2*effect*effect) - at*at/(2*sd*sd)
	}
	zero := []float64{0, 0, 0}
	rise := func(of nuts.LogDensity, theta []float64) float64 {
		grad := make([]float64, 3)
		return of.LogDensityGrad(grad, theta) - of.LogDensityGrad(grad, zero)
	}
	for _, theta := range [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 2}, {-0.5, 2, -3}} {
		likelihood := rise(nuts.Posterior(target, rows, 1), theta) - target.LogPrior(theta) + target.LogPrior(zero)
		if got := rise(density(), theta) - likelihood; math.Abs(got-prior(theta)) > 1e-8 {
			t.Errorf("at %v the prior is %v, want %v", theta, got, prior(theta))
		}
	}
	theta, sds := []float64{0.2, 1, -1}, []float64{0.1, 1, 1}
	if off := differ(t, density(), apart(), theta, sds); off < 0.01 {
		t.Errorf("correlations make a difference of %v", off)
	}
}
