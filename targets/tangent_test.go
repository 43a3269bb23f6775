package targets

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/internal/core/dense"
	"github.com/dpmcmc/dpmcmc/priors"
)

// TestTangentsAreAtMostOne: what a record adds to the sums has a norm of at most 1 but for
// rounding, or is no number, whatever the record, the anchor and the lengths.
func TestTangentsAreAtMostOne(t *testing.T) {
	for _, c := range modelCases(t, Loss{}) {
		base, ok := c.target.(GradTarget)
		if !ok {
			continue
		}
		rapid.Check(t, func(t *rapid.T) {
			features, response := base.Shape()
			n := rapid.IntRange(1, 5).Draw(t, "n")
			rows := Rows{X: rapid.SliceOfN(wild(), n*features, n*features).Draw(t, "x"), P: features}
			if response {
				rows.Y = rapid.SliceOfN(wild(), n, n).Draw(t, "y")
			}
			weight := rapid.SampledFrom([]float64{0, 0.5, 0.999}).Draw(t, "weight")
			tangent, err := New(TangentConfig{Target: base, Weight: weight,
				Radius: rapid.SampledFrom([]float64{0, 0.3, 4}).Draw(t, "radius")})
			if err != nil {
				t.Fatal(err)
			}
			lengths := Lengths{rapid.Float64Range(1e-6, 1e3).Draw(t, "score"),
				rapid.Float64Range(1e-6, 1e3).Draw(t, "products")}
			anchor := rapid.SliceOfN(rapid.Float64Range(-2, 2), base.Dim(), base.Dim()).Draw(t, "anchor")
			if err := tangent.At(anchor, lengths); err != nil {
				t.Fatal(err)
			}
			d := tangent.Dim()
			out := make([]float64, n*d)
			tangent.LossGrad(out, make([]float64, d), rows)
			for i := range n {
				if norm := length(out[i*d : (i+1)*d]); norm > 1+1e-12 {
					t.Fatalf("record %d adds %v", i, norm)
				}
			}
		})
	}
}

// TestTangentsAreReadBack: sums of records say the sums of their gradients, cut at one
// length, and of the products of gradients, cut at another, or of features, cut at the radius.
func TestTangentsAreReadBack(t *testing.T) {
	for _, radius := range []float64{0, 0.7} {
		checkReadBack(t, radius)
	}
}

func checkReadBack(t *testing.T, radius float64) {
	model := must[*Softmax](t)(New(SoftmaxConfig{Features: 2, Classes: 3, Prior: priors.Gaussian{SD: 1}}))
	tangent := must[*Tangent](t)(New(TangentConfig{Target: model, Weight: 0.3, Radius: radius}))
	rows := Rows{X: []float64{1, 0.5, -0.2, 0.3, 0.2, 0.9}, P: 2, Y: []float64{0, 2, 1}}
	anchor, cut := []float64{0.4, -0.3, 0.1, 0, 0.2, -0.5}, Lengths{Score: 0.5, Products: 0.3}
	d := len(anchor)
	side, long := d, cut.Products
	if radius > 0 {
		side, long = 2, radius
	}
	score, moment := make([]float64, d), make([]float64, side*side)
	wantScore, wantMoment := make([]float64, d), make([]float64, side*side)
	gradients := make([]float64, 3*d)
	model.LossGrad(gradients, anchor, rows)
	for i := range 3 {
		g := gradients[i*d : (i+1)*d]
		size := math.Sqrt(dense.Dot(g, g))
		for j := range d {
			wantScore[j] += g[j] * min(1, cut.Score/size)
		}
		v := g
		if radius > 0 {
			v = rows.Row(i)
		}
		by := min(1, long/math.Sqrt(dense.Dot(v, v)))
		for e := range wantMoment {
			wantMoment[e] += v[e/side] * v[e%side] * by * by
		}
	}
	each, sums := make([]float64, 3*tangent.Dim()), make([]float64, tangent.Dim())
	if tangent.LossGrad(each, nil, rows); length(each) != 0 {
		t.Error("a tangent says something before it has an anchor")
	}
	if err := tangent.At(anchor, cut); err != nil {
		t.Fatal(err)
	}
	tangent.LossGrad(each, nil, rows)
	for e, v := range each {
		sums[e%len(sums)] += v
	}
	tangent.Read(score, moment, sums)
	for j, v := range wantScore {
		if math.Abs(v-score[j]) > 1e-14 {
			t.Errorf("score %d is %v, want %v", j, score[j], v)
		}
	}
	for e, v := range wantMoment {
		if math.Abs(v-moment[e]) > 1e-14 {
			t.Errorf("product %d is %v, want %v", e, moment[e], v)
		}
	}
	for name, bad := range map[string]Lengths{"0": {0, 1}, "none": {1, math.NaN()}, "infinite": {math.Inf(1), 1}} {
		if tangent.At(anchor, bad) == nil {
			t.Errorf("lengths that are %s were taken", name)
		}
	}
	if _, err := New(TangentConfig{Target: model, Weight: 1, Radius: 0}); err == nil {
		t.Error("a weight of 1 was taken")
	}
	if _, err := New(TangentConfig{Target: model, Weight: 0.5, Radius: math.NaN()}); err == nil {
		t.Error("a radius of NaN was taken")
	}
}
