//go:build slow

package targets_test

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestSlowReferencePosteriors has the posteriors with more records or parameters.
func TestSlowReferencePosteriors(t *testing.T) {
	for _, c := range []referenceCase{earnings(t), nes(t), diamonds(t), wells(t, false), wells(t, true)} {
		t.Run(c.name, func(t *testing.T) { c.check(t, 5000) })
	}
}

func earnings(t testing.TB) referenceCase {
	d := load(t, "earnings")
	return linear(t, "earnings-earn_height", design(get[[]float64](t, d, "earn"),
		get[[]float64](t, d, "height")), nil, nil)
}

func nes(t testing.TB) referenceCase {
	d := load(t, "nes1980")
	column := func(key string) []float64 { return get[[]float64](t, d, key) }
	is := func(group float64) []float64 {
		return mapped(column("age_discrete"), func(a float64) float64 {
			if a == group {
				return 1
			}
			return 0
		})
	}
	return linear(t, "nes1980-nes", design(column("partyid7"), column("real_ideo"), column("race_adj"), is(2),
		is(3), is(4),
		column("educ1"), column("gender"), column("income")), nil, nil)
}

// diamonds centres the features. The prior of its intercept, Student-t about 8, is
// that of an intercept about 0 when 8 is taken off the responses.
func diamonds(t testing.TB) referenceCase {
	d := load(t, "diamonds")
	x := get[[][]float64](t, d, "X")
	k := len(x[0])
	means := make([]float64, k)
	for _, row := range x {
		floats.AddScaled(means, 1/float64(len(x)), row)
	}
	r := targets.Rows{P: k, Y: mapped(get[[]float64](t, d, "Y"), func(v float64) float64 { return v - 8 })}
	for _, row := range x {
		for j := 1; j < k; j++ {
			r.X = append(r.X, row[j]-means[j])
		}
		r.X = append(r.X, 1)
	}
	prior := priors.Independent(slices.Repeat([]priors.Prior{priors.Gaussian{SD: 1}}, k))
	prior[k-1] = priors.StudentT{DegreesOfFreedom: 3, Scale: 10}
	c := linear(t, "diamonds-diamonds", r, prior, priors.HalfStudentT{DegreesOfFreedom: 3, Scale: 10})
	constrain := c.constrain
	c.constrain = func(theta []float64) {
		constrain(theta)
		theta[k-1] += 8
	}
	return c
}

// wells is logistic regression on the distance alone, or on distance, arsenic and
// their product, both centred.
func wells(t testing.TB, interaction bool) referenceCase {
	d := load(t, "wells_data")
	dist, arsenic, y := get[[]float64](t, d, "dist"), get[[]float64](t, d, "arsenic"), get[[]float64](t, d, "switched")
	floats.Scale(0.01, dist)
	name, rows := "wells_data-wells_dist100_model", design(y, dist)
	if interaction {
		floats.AddConst(-floats.Sum(dist)/float64(len(dist)), dist)
		floats.AddConst(-floats.Sum(arsenic)/float64(len(arsenic)), arsenic)
		product := slices.Clone(dist)
		floats.Mul(product, arsenic)
		name, rows = "wells_data-wells_interaction_c_model", design(y, dist, arsenic, product)
	}
	m, err := targets.New(targets.RegressionConfig{Features: rows.P, Prior: priors.Uniform{Low: -100, High: 100}})
	if err != nil {
		t.Fatal(err)
	}
	return referenceCase{name: name, target: m, rows: rows, centre: make([]float64, rows.P),
		unit: slices.Repeat([]float64{1}, rows.P), constrain: func([]float64) {}}
}
