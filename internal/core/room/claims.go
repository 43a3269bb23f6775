package room

// Proof: docs/proofs/curator.md, docs/proofs/gradients.md.

import (
	"errors"
	"fmt"

	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// Target is what the room asks of a target. Package targets says what the methods do.
type Target interface {
	Dim() int
	Shape() (features int, response bool)
	Loss(dst, theta []float64, rows record.Rows)
}

// What a target may have besides.
type (
	ratioTarget interface {
		LossRatio(dst, theta, next []float64, rows record.Rows)
	}
	gradTarget interface {
		LossGrad(dst, theta []float64, rows record.Rows)
		GradLogPrior(dst, theta []float64)
	}
	linearTarget interface {
		LossAt(dst, eta, y []float64)
		SlopeAt(dst, eta, y []float64)
		PredictorLipschitz() float64
	}
)

// Subject is a target as it was when a grant was planned.
type Subject struct {
	// Dim is the number of parameters.
	Dim int
	// Linear reports whether the target has one parameter for each feature, and a
	// loss of the linear predictor.
	Linear bool

	target   Target
	ours     bool
	linear   linearTarget
	ratio    ratioTarget // nil when it has no one-pass ratio
	gradient gradTarget  // nil when it has none
}

// MostParameters is the largest dimension that the proofs of rounding cover
// (docs/proofs/gradients.md §1).
const MostParameters = 1 << 24

// Admit checks that a target fits the records. ours are trusted with the sealed rows.
func (f Facts) Admit(t Target, ours bool) (*Subject, error) {
	if t == nil {
		return nil, errors.New("curator: no target was given")
	}
	features, response := t.Shape()
	if features != f.Features || response != f.Response {
		return nil, fmt.Errorf("curator: the target is for records of %d features%s, but those sealed have %d%s",
			features, responseText(response), f.Features, responseText(f.Response))
	}
	s := &Subject{target: t, ours: ours, Dim: t.Dim()}
	if s.Dim < 1 || s.Dim > MostParameters {
		return nil, fmt.Errorf("curator: the target's Dim is %d; between 1 and %d parameters are covered", s.Dim,
			MostParameters)
	}
	s.linear, s.Linear = t.(linearTarget)
	s.Linear = s.Linear && s.Dim == f.Features
	s.ratio, _ = t.(ratioTarget)
	s.gradient, _ = t.(gradTarget)
	return s, nil
}

func responseText(has bool) string {
	if has {
		return " and a response"
	}
	return " and no response"
}
