package curator

import (
	"errors"
	"fmt"

	"github.com/dpmcmc/dpmcmc/targets"
)

// What a target says of itself enters the curator here and in certificates.go. A plan
// asks each claim once, and both charges and enforces the value that it was given.

// subject is a target as it was when a grant was planned.
type subject struct {
	target   targets.Target
	ours     bool // see targets.Ours
	dim      int
	linear   targets.LinearTarget     // nil unless it has one parameter for each feature
	ratio    targets.RatioTarget      // nil when it has no one-pass ratio
	gradient targets.GradTarget       // nil when it has none
	moves    targets.RatioCertificate // nil when it has none
}

// mostParameters is the largest dimension that the proofs of rounding cover
// (docs/proofs/gradients.md §1). Moves along which contributions are clipped and shaped
// moves have smaller ones: mostAlong, mostShaped.
const mostParameters = 1 << 24

// admit checks that a target fits the records.
func (f Facts) admit(t targets.Target) (*subject, error) {
	if t == nil {
		return nil, errors.New("curator: no target was given")
	}
	features, response := t.Shape()
	if features != f.Features || response != f.Response {
		return nil, fmt.Errorf("curator: the target is for records of %d features%s, but those sealed have %d%s",
			features, responseText(response), f.Features, responseText(f.Response))
	}
	s := &subject{target: t, ours: targets.Ours(t), dim: t.Dim()}
	if s.dim < 1 || s.dim > mostParameters {
		return nil, fmt.Errorf("curator: the target's Dim is %d; between 1 and %d parameters are covered", s.dim,
			mostParameters)
	}
	if l, ok := t.(targets.LinearTarget); ok && s.dim == f.Features {
		s.linear = l
	}
	s.ratio, _ = t.(targets.RatioTarget)
	s.gradient, _ = t.(targets.GradTarget)
	s.moves, _ = t.(targets.RatioCertificate)
	return s, nil
}

func responseText(has bool) string {
	if has {
		return " and a response"
	}
	return " and no response"
}

// claimed checks a bound that a target claims: a number of at least 0, or +Inf for
// none.
func claimed(what string, v float64) (float64, error) {
	if !(v >= 0) {
		return 0, fmt.Errorf("curator: the target's %s is %v; a bound is a number of at least 0, or +Inf for none", what, v)
	}
	return v, nil
}
