package curator

// Proof: docs/proofs/curator.md, "Records through a map".

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/view"
)

// View shows records to a mechanism through a linear map: a row x is seen as Matrix·x, and as the
// zero row where that is longer than Radius. So the price rests on Radius alone, and Matrix may
// follow from what was released before, such as second moments that say how columns spread. A
// record that is seen as the zero row contributes nothing to a gradient, and only its response to
// second moments.
type View struct {
	// Radius replaces that of the records. Required, from 1e-100 to 1e100. The value at the time of
	// the grant is the one that is enforced.
	Radius float64
	// Matrix has a row and a column for each feature, row-major. It is required before a release,
	// which copies it, and public. Where a mechanism reads responses as numbers, as SecondMoment
	// does with a Response, a row for the response may follow, with a factor for each feature and
	// then its own. Records are then seen whole: the response is that combination, and a row that is
	// too long is shortened to the Radius, with its response as it is.
	Matrix []float64

	asked *View // whose Matrix counts, of the view of a grant
	whole bool  // that matrix may have a row for the response
}

// granted is the view as it is when a mechanism is granted: its price cannot change. whole says that
// responses are numbers to the mechanism.
func (v *View) granted(whole bool) *View {
	if v == nil {
		return nil
	}
	return &View{Radius: v.Radius, asked: v, whole: whole}
}

// seen are the facts of records in the view.
func (v *View) seen(f Facts) Facts {
	if v != nil && f.Radius != 0 {
		f.Radius = v.Radius
	}
	return f
}

func (v *View) check(f Facts) error {
	switch {
	case v == nil:
		return nil
	case !(v.Radius >= 1e-100 && v.Radius <= 1e100):
		return fmt.Errorf("curator: View.Radius is %v; it must be from 1e-100 to 1e100", v.Radius)
	}
	return nil
}

// source is what a mechanism reads records from.
type source interface {
	Len() int
	Features() int
	Block(x, y []float64, lo, hi int) (bx, by []float64)
}

// over are the records in the view.
func (v *View) over(set *record.Set) source {
	if v == nil {
		return set
	}
	return view.Through(set, v.Radius)
}

// aim points records in the view, those of over, as the matrix says now.
func (v *View) aim(set source) error {
	if v == nil {
		return nil
	}
	matrix, p := v.asked.Matrix, set.Features()
	if len(matrix) != p*p && !(v.whole && len(matrix) == p*p+p+1) {
		return fmt.Errorf("curator: View.Matrix has %d values before a release; %d features need %d", len(matrix), p, p*p)
	}
	for i, a := range matrix {
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return fmt.Errorf("curator: View.Matrix[%d] is %v; it must be finite", i, a)
		}
	}
	set.(*view.Set).Aim(matrix)
	return nil
}
