package curator_test

import (
	"math"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// straight has the loss x·θ in two dimensions.
type straight struct{}

func (straight) Dim() int                                     { return 2 }
func (straight) Shape() (int, bool)                           { return 2, false }
func (straight) LogPrior([]float64) float64                   { return 0 }
func (straight) GradLogPrior(dst, _ []float64)                { clear(dst) }
func (straight) LossGrad(dst, _ []float64, rows targets.Rows) { copy(dst, rows.X) }
func (straight) LossAt(dst, eta, _ []float64)                 { copy(dst, eta) }
func (straight) PredictorLipschitz() float64                  { return 1 }
func (straight) SlopeAt(dst, _, _ []float64) {
	for i := range dst {
		dst[i] = 1
	}
}
func (straight) Loss(dst, theta []float64, rows targets.Rows) {
	for i := range dst {
		x := rows.Row(i)
		dst[i] = x[0]*theta[0] + x[1]*theta[1]
	}
}

// leaning is a factor of norm 0.9999, widest at 45°.
var leaning = []float64{0.72, 0, 0.68, 0.12}

func shaped(scale float64) curator.AcceptanceBit {
	return curator.AcceptanceBit{Target: straight{}, Proposal: curator.Shaped(scale, leaning)}
}

// TestShapedMovesHaveTheirCovariance: second moments of 20000 drawn moves are
// within 6 standard errors of scale²·LLᵀ (false alarm 10⁻⁸), which those of an
// isotropic or a transposed factor are not.
func TestShapedMovesHaveTheirCovariance(t *testing.T) {
	const n, scale = 20_000, 0.3
	c, err := sealed(curator.Records{X: []float64{0, 0}, Features: 2, Radius: 1}, accountant.Substitute, 1)
	if err != nil {
		t.Fatal(err)
	}
	bits, err := c.GrantBits(shaped(scale), n)
	if err != nil {
		t.Fatal(err)
	}
	var aa, ab, bb float64
	next := make([]float64, 2)
	for range n {
		if _, err := bits.Move(next, []float64{0, 0}, func([]float64) float64 { return 0 }); err != nil {
			t.Fatal(err)
		}
		aa, ab, bb = aa+next[0]*next[0], ab+next[0]*next[1], bb+next[1]*next[1]
	}
	a, b, d := leaning[0], leaning[2], leaning[3]
	for name, v := range map[string][2]float64{"first": {aa, a * a}, "both": {ab, a * b}, "second": {bb, b*b + d*d}} {
		// Var(zᵢzⱼ) ≤ 2·scale⁴.
		if got, want := v[0]/n, scale*scale*v[1]; math.Abs(got-want) > 6*scale*scale*math.Sqrt(2.0/n) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestShapedMovesCostWhatIsotropicOnesDo, and a distinguisher finds no more in them,
// with records along the widest direction; a claim for moves of half the scale is
// refuted. False-alarm rate 10⁻⁶ each.
func TestShapedMovesCostWhatIsotropicOnesDo(t *testing.T) {
	f := curator.Facts{Records: 1, Features: 2, Radius: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	isotropic := curator.AcceptanceBit{Target: straight{}, Proposal: curator.Isotropic(1)}
	want, err := isotropic.Event(f)
	if err != nil {
		t.Fatal(err)
	}
	got, err := shaped(1).Event(f)
	if err != nil || !got.Equal(want) {
		t.Errorf("shaped moves cost %v, isotropic ones %v (%v)", got, want, err)
	}
	m, err := proptest.Bit(shaped(1), f, []float64{0, 0}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	along := math.Sqrt2 / 2
	options := proptest.MechanismOptions{
		Effort: proptest.Quick,
		A:      curator.Records{X: []float64{along, along}, Features: 2, Radius: 1},
		B:      curator.Records{X: []float64{-along, -along}, Features: 2, Radius: 1}, Delta: 1e-6,
		Statistic: func(release []float64) float64 { return (release[0] + release[1]) * (2*release[2] - 1) },
	}
	audit := proptest.CheckMechanism(t, m, options)
	half, err := shaped(0.5).Event(f)
	if err != nil {
		t.Fatal(err)
	}
	if claimed := half.RDP(audit.Order); audit.LowerRDP <= claimed {
		t.Errorf("a claim for half the scale, %v, would pass: %v", claimed, audit)
	}
}

func TestShapeRefusals(t *testing.T) {
	f := curator.Facts{Records: 1, Features: 2, Radius: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	for words, factor := range map[string][]float64{
		"has norm":        {0.8, 0, 0.68, 0.12},
		"2 parameters":    {1},
		"above the diag":  {0.5, 0.1, 0, 0.5},
		"must be finite":  {math.NaN(), 0, 0, 0.5},
		"value 3 of the ": {0.5, 0, 0, math.Inf(1)},
	} {
		m := curator.AcceptanceBit{Target: straight{}, Proposal: curator.Shaped(1, factor)}
		if _, err := m.Event(f); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v: error %v, want %q", factor, err, words)
		}
	}
}
