package proptest

import (
	"slices"
	"testing"

	"github.com/dpmcmc/dpmcmc/curator"
)

// TestRelatives: in tables of six records a relation holds between some, and seldom between others.
func TestRelatives(t *testing.T) {
	r := curator.Records{X: []float64{1.5, -0.3, 0.5, 0.2, 2, -0.7, 0.1, 0.4, -1.1, 0.6, 0.9, -0.8}, Features: 2}
	rng := rand64(1, 48)
	holds := func(x []float64, relation func(dst, a, b []float64)) bool {
		made := make([]float64, 2)
		for i := 2; i < len(x); i += 2 {
			for k := range (i / 2) * (i / 2) {
				a, b := 2*(k/(i/2)), 2*(k%(i/2))
				if relation(made, x[a:a+2], x[b:b+2]); slices.EqualFunc(made, x[i:i+2], identical) {
					return true
				}
			}
		}
		return false
	}
	for i, relation := range relations {
		found := 0
		for range 100 {
			if holds(relatives(r, relation, rng).X, relation) {
				found++
			}
		}
		if found < 80 { // 31 in 32 by construction: fewer than 80 of 100 with probability 10⁻¹¹
			t.Errorf("relation %d holds in %d of 100 tables", i, found)
		}
	}
	if apart := relatives(r, func(_, _, _ []float64) {}, rng).X; holds(apart, relations[0]) {
		t.Errorf("a record of %v is twice another, which no relation made", apart)
	}
}
