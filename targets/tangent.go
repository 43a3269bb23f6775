package targets

// Proof: docs/proofs/anchored.md.

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Tangent is what anchored chains of order 1 release of a model, as a target: its
// "gradient" of a record is, with g the gradient of the model's loss at an anchor, u that
// over a public length, v over another, both shortened to 1 where they are longer,
//
//	(√(1−w²)·u, w·(v₁², √2·v₁v₂, …, v_d²)),
//
// whose norm is at most 1, whatever the record. So one release of a sum of gradients says
// the score at the anchor and the second moments of the gradients, which have the
// curvature as their expectation. With a radius v is the record's features over that, and
// the curvature is the model's to say. Its loss and its prior are 0. Until At is called it
// says nothing.
type Tangent struct {
	base    wrapped
	dim     int     // of the model
	side    int     // of the second moments
	radius  float64 // of features, 0 for moments of gradients
	weight  float64
	anchor  []float64
	lengths Lengths
}

var (
	_ GradTarget      = (*Tangent)(nil)
	_ GradCertificate = (*Tangent)(nil)
)

// TangentConfig describes a [Tangent].
type TangentConfig struct {
	// Target is the model. Required.
	Target GradTarget
	// Weight is w, in [0, 1). Defaults to 0: no second moments, and as many parameters as
	// the model has.
	Weight float64
	// Radius makes second moments those of records' features, if positive. Defaults to 0:
	// those of gradients.
	Radius float64
}

func (cfg TangentConfig) build() (*Tangent, error) {
	t, weight, radius := cfg.Target, cfg.Weight, cfg.Radius
	switch {
	case t == nil:
		return nil, errors.New("targets: tangent: no target; give the model")
	case !(weight >= 0 && weight < 1):
		return nil, fmt.Errorf("targets: tangent: the weight is %v; it must be in [0, 1)", weight)
	case !(radius >= 0) || math.IsInf(radius, 1):
		return nil, fmt.Errorf("targets: tangent: the radius is %v; it must be positive and finite, or 0 for moments of "+
			"gradients", radius)
	}
	side := t.Dim()
	if radius > 0 {
		side, _ = t.Shape()
	}
	return &Tangent{base: wrap(t), dim: t.Dim(), side: side, radius: radius, weight: weight}, nil
}

// Lengths are what gradients of records are cut to: Score in their sum, Products in the
// sum of their products.
type Lengths struct{ Score, Products float64 }

// At sets the anchor and the lengths, which are public or released. It must not be called
// while gradients are summed. Errors: an anchor of the wrong length; lengths that are not
// positive and finite.
func (t *Tangent) At(anchor []float64, l Lengths) error {
	if len(anchor) != t.dim || !(min(l.Score, l.Products) > 0) || math.IsInf(max(l.Score, l.Products), 1) {
		return fmt.Errorf("targets: tangent: an anchor of %d values for %d parameters, with gradients cut to %v and %v; "+
			"lengths must be positive and finite", len(anchor), t.dim, l.Score, l.Products)
	}
	t.anchor, t.lengths = slices.Clone(anchor), l
	return nil
}

// Dim returns the number of sums.
func (t *Tangent) Dim() int {
	if t.weight == 0 {
		return t.dim
	}
	return t.dim + t.side*(t.side+1)/2
}

// Shape returns that of the model.
func (t *Tangent) Shape() (features int, response bool) { return t.base.Shape() }

// LogPrior returns 0.
func (t *Tangent) LogPrior([]float64) float64 { return 0 }

// GradLogPrior sets dst to 0.
func (t *Tangent) GradLogPrior(dst, _ []float64) { clear(dst) }

// Loss sets dst to 0.
func (t *Tangent) Loss(dst, _ []float64, _ Rows) { clear(dst) }

// GradBound returns 1, whatever the radius.
func (t *Tangent) GradBound(float64) float64 { return 1 }

// LossGrad sets row i of dst to what record i adds to the sums. It does not depend on
// theta.
func (t *Tangent) LossGrad(dst, _ []float64, rows Rows) {
	if t.anchor == nil {
		clear(dst)
		return
	}
	d, width, n := len(t.anchor), t.Dim(), rows.Len()
	room := getRow(n * d)
	defer putRow(room)
	t.base.lossGrad(*room, t.anchor, rows)
	plain := math.Sqrt(1 - t.weight*t.weight)
	for i := range n {
		g, row := (*room)[i*d:(i+1)*d], dst[i*width:(i+1)*width]
		long := length(g) // NaN where a gradient is none
		shrink := plain / max(t.lengths.Score, long)
		for j, v := range g {
			row[j] = shrink * v
		}
		if t.weight == 0 {
			continue
		}
		if t.radius > 0 {
			g = rows.Row(i)
			long = length(g)
		}
		products(row[d:], g, t.weight*math.Pow(max(t.longest(), long), -2))
	}
}

// longest is what vectors are shortened to before they are multiplied.
func (t *Tangent) longest() float64 {
	if t.radius > 0 {
		return t.radius
	}
	return t.lengths.Products
}

// products sets dst to the products of pairs of values times weight, those of two
// different ones √2 times that.
func products(dst, u []float64, weight float64) {
	k := 0
	for i, a := range u {
		dst[k] = weight * a * a
		k++
		for _, b := range u[i+1:] {
			dst[k] = weight * math.Sqrt2 * a * b
			k++
		}
	}
}

// Read sets score and the row-major moment to what sums of records say: the sums of
// gradients, shortened to the length, and of products.
func (t *Tangent) Read(score, moment, sums []float64) {
	d := t.dim
	plain := t.lengths.Score / math.Sqrt(1-t.weight*t.weight)
	for j := range d {
		score[j] = plain * sums[j]
	}
	each, k, side := t.longest()*t.longest()/t.weight, d, t.side
	for i := range side {
		moment[i*side+i] = each * sums[k]
		k++
		for j := i + 1; j < side; j++ {
			moment[i*side+j] = each / math.Sqrt2 * sums[k]
			moment[j*side+i] = moment[i*side+j]
			k++
		}
	}
}

// Noise is the standard deviation of the noise in a value of the score, and in a diagonal
// one of the moment, where that of a sum is sd; beside the diagonal it is less by √2.
func (t *Tangent) Noise(sd float64) (score, moment float64) {
	return sd * t.lengths.Score / math.Sqrt(1-t.weight*t.weight), sd * t.longest() * t.longest() / t.weight
}
