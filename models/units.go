package models

import (
	"fmt"

	"github.com/dpmcmc/dpmcmc/data"
)

// perUnit names the unit of a coefficient of a term.
func perUnit(unit string, t *data.Term) string {
	switch {
	case t.Name == data.Intercept:
		return unit
	case t.Level != "":
		return fmt.Sprintf("%s, %s is %s", unit, t.Column, t.Level)
	}
	return fmt.Sprintf("%s per 1 of %s", unit, t.Column)
}

// block turns the coefficients from first on into those of the file's columns, times
// a factor: with η = Σ βⱼ(xⱼ − cⱼ)/uⱼ, that of xⱼ is βⱼ/uⱼ, and the intercept collects
// −Σ βⱼcⱼ/uⱼ. Without an intercept there is nothing to collect it in.
func (b *builder) block(first int, factor float64) func(dst, values []float64) {
	terms := b.Shape.Terms
	return func(dst, values []float64) {
		shift, intercept := 0.0, -1
		for j := range terms {
			t := &terms[j]
			v := values[first+j] / t.Unit * factor
			dst[first+j] = v
			shift -= v * t.Center
			if t.Name == data.Intercept {
				intercept = first + j
			}
		}
		if intercept >= 0 {
			dst[intercept] += shift
		}
	}
}

// response is block for a response that is a number, in its own units: the intercept
// gains its center.
func (b *builder) response(first int) func(dst, values []float64) {
	target, terms := b.Shape.Target, b.Shape.Terms
	block := b.block(first, target.Unit)
	return func(dst, values []float64) {
		block(dst, values)
		if len(terms) > 0 && terms[0].Name == data.Intercept {
			dst[first] += target.Center
		}
	}
}

// scaled turns the scale of the errors, at index i, into units of the response.
func (b *builder) scaled(i int) func(dst, values []float64) {
	unit := b.Shape.Target.Unit
	return func(dst, values []float64) { dst[i] = values[i] * unit }
}

func copied(dst, values []float64) { copy(dst, values) }

// each does all of them, in order.
func each(all ...func(dst, values []float64)) func(dst, values []float64) {
	return func(dst, values []float64) {
		for _, f := range all {
			f(dst, values)
		}
	}
}
