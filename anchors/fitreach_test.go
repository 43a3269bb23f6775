package anchors

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/convex"
	"github.com/dpmcmc/dpmcmc/internal/erm"
)

// bent are rows of loose columns of which the first has a long tail, and labels whose log odds bend along it.
func bent(n int) (r curator.Records) {
	rng := rand.New(rand.NewPCG(21, 22))
	r.Features, r.Radius = 5, 1
	for range n {
		x, y := looseRow(rng), 0.0
		tail := rng.ExpFloat64()
		x[1] = min(0.4, -0.3+0.05*tail)
		eta := 2*math.Tanh(tail) - 1.5 + 4*x[2]
		if rng.Float64() < 1/(1+math.Exp(-eta)) {
			y = 1
		}
		r.X, r.Y = append(r.X, x...), append(r.Y, y)
	}
	return r
}

// fitOf is the mode of a logistic regression on rows, without privacy and nearly without a prior.
func fitOf(t *testing.T, x, y []float64) []float64 {
	t.Helper()
	mode, err := erm.Objective{X: x, Y: y, Shape: erm.Shape{Loss: convex.Logistic(), Records: len(y), Features: 5,
		Radius: 1, Ridge: 1e-3}}.Minimise(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return mode
}

// TestLongRowsAreSeen: of 40 000 records with a long tail, along which log odds bend, coefficients are within
// four standard deviations of the fit of all rows at ε = 1. Records and noise have fixed seeds, and of five
// normal errors one is farther once in 3000. The control is the fit of the rows within the radius of
// the map, which is more than six standard deviations off.
func TestLongRowsAreSeen(t *testing.T) {
	r := bent(40_000)
	config := looseConfig(t, Fitted)
	_, mean, sd, _ := fittedDraws(t, config, r)
	n := len(r.Y)
	f := &fitScore{fit: newFit(config, curator.Facts{Records: int64(n), Radius: 1}, 0.5)}
	moment := make([]float64, 25)
	for i := range n {
		x := r.X[i*5 : i*5+5]
		for j, u := range x {
			floats.AddScaled(moment[j*5:(j+1)*5], u, x)
		}
	}
	f.from(moment)
	var x, y []float64
	for i := range n {
		var seen mat.VecDense
		row := r.X[i*5 : i*5+5]
		if seen.MulVec(f.matrix, mat.NewVecDense(5, row)); mat.Norm(&seen, 2) <= f.radius {
			x, y = append(x, row...), append(y, r.Y[i])
		}
	}
	all, within, control := fitOf(t, r.X, r.Y), fitOf(t, x, y), 0.0
	for j, want := range all {
		if off := math.Abs(mean[j]-want) / sd[j]; off > 4 {
			t.Errorf("coefficient %d is %v ± %v, and %v of all rows", j, mean[j], sd[j], want)
		}
		control = max(control, math.Abs(within[j]-want)/sd[j])
	}
	if control < 6 {
		t.Errorf("rows within the radius have a fit %v standard deviations off, which shows nothing", control)
	}
}

// TestReach: it is what noise allows, more where rows are seen to be left out, and 1 where none that count are.
func TestReach(t *testing.T) {
	const n = 50_000
	config := looseConfig(t, Fitted)
	var err error
	if config, err = Afford(config, looseFacts(n), 1, 1e-6); err != nil {
		t.Fatal(err)
	}
	m, err := config.model()
	if err != nil {
		t.Fatal(err)
	}
	begun, err := scoreFit{}.begin(config, m, looseFacts(n))
	if err != nil {
		t.Fatal(err)
	}
	f := begun.(*fitScore)
	information := reachLabels * n
	for _, c := range []struct{ seen, hides, noise, least, most float64 }{
		{0.8, 0, 0.1, reachMost, reachMost},
		{0.8, 0, 0.7, 1.4, 1.45},
		{0.8, 0, 1, reachSome, reachSome},
		{1, 0.1, 1, reachSome, reachSome},
		{1, 0, 0.1, reachFrom, 1.5},
		{1, 0, 3, 1, 1},
	} {
		values := make([]float64, f.size())
		values[(fitLooks-1)*25] = c.seen * n
		f.scoreSD, f.noise[fitLooks-1] = c.noise*math.Sqrt(information), c.hides*n
		f.widen(values)
		if f.reach < c.least || f.reach > c.most {
			t.Errorf("of %v of the rows, or %v more or less, and with noise of %v the reach is %v, not %v to %v", c.seen,
				c.hides, c.noise, f.reach, c.least, c.most)
		}
	}
}

// TestReachIsUndone: a release of rows that are seen shrunk says of rows as they are what one of twice the
// noise says.
func TestReachIsUndone(t *testing.T) {
	r := bent(40_000)
	config := looseConfig(t, Fitted)
	_, _, _, release := fittedDraws(t, config, r)
	s := release.Statistics
	// The constant is 1 in the map, and so is a level where it is.
	if count := s.Moment[0] / float64(len(r.Y)); math.Abs(count-1) > 6*s.MomentSD/float64(len(r.Y)) {
		t.Errorf("the constant's second moment is %v of the records", count)
	}
	if !(s.Radius > reachFrom*scoreFit{}.radius(config)) || len(release.Earlier) != 1 {
		t.Fatalf("rows of %v are seen, and %d looks before", s.Radius, len(release.Earlier))
	}
	// Between two anchors scores differ by the curvature times the way, between 0 and the second moments'.
	first := release.Earlier[0]
	square, noise := 0.0, math.Hypot(first.ScoreSD, s.ScoreSD)
	for j := range s.Anchor {
		square += math.Pow((s.Anchor[j]-first.Anchor[j])/0.5, 2) / 5
	}
	if way := math.Sqrt(square); way > 1 || !(noise > 0) || first.ScoreSD < s.ScoreSD {
		t.Errorf("two anchors are %v apart, with noise of %v and %v in their scores", way, first.ScoreSD, s.ScoreSD)
	}
}
