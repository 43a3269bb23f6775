package curator

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/noise"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// thinnedAcceptance is the chance that a thinned bit accepts a move of public
// log-odds, by enumeration of the records that are used, from the formulas of
// docs/proofs/tunamh.md, §1. r are the records' log-likelihood ratios.
func thinnedAcceptance(r []float64, bound, rate, public float64) float64 {
	lambda := -math.Log1p(-rate) - bound
	include := func(r float64) float64 { return 1 - math.Exp(-(lambda + (bound-r)/2)) }
	total := 0.0
	for used := range 1 << len(r) {
		weight, u := 1.0, public
		for i, v := range r {
			if used>>i&1 == 0 {
				weight *= 1 - include(v)
				continue
			}
			weight *= include(v)
			u += v + math.Log(include(-v)/include(v))
		}
		total += weight / (1 + math.Exp(-u))
	}
	return total
}

func logit(p float64) float64 { return math.Log(p) - math.Log1p(-p) }

func TestThinnedAcceptanceIsReversible(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		r, reverse, sum := make([]float64, 6), make([]float64, 6), 0.0
		for i := range r {
			r[i] = 0.3 * (2*rng.Float64() - 1)
			reverse[i], sum = -r[i], sum+r[i]
		}
		public, rate := 4*rng.NormFloat64(), 0.5+0.4*rng.Float64()
		a, b := thinnedAcceptance(r, 0.3, rate, public), thinnedAcceptance(reverse, 0.3, rate, -public)
		if math.Abs(a/(b*math.Exp(public+sum))-1) > 1e-12 {
			t.Fatalf("%v at public %v, rate %v: %v forth, %v back", r, public, rate, a, b)
		}
	}
}

// TestThinnedBitFrequency ties the mechanism to the formulas. False-alarm rate:
// 6 standard errors, 2·10⁻⁹ for each of 3.
func TestThinnedBitFrequency(t *testing.T) {
	const n = 40_000
	x := []float64{0.3, -0.1, 0.25, -0.3, 0.3, 7} // the last is clipped to 0.3
	r := []float64{0.3, -0.1, 0.25, -0.3, 0.3, 0.3}
	for _, public := range []float64{-1.5, 0, 1} {
		b, err := Charge(seal(t, Records{X: x, Features: 1}), ThinnedBit{Target: newToy(1), Clip: 0.3, Rate: 0.5}, n)
		if err != nil {
			t.Fatal(err)
		}
		accepted := 0
		for range n {
			ok, err := b.Accept([]float64{-1}, []float64{0}, public)
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				accepted++
			}
		}
		p := thinnedAcceptance(r, 0.3, 0.5, public)
		z := func(p float64) float64 { return (float64(accepted)/n - p) / math.Sqrt(p*(1-p)/n) }
		if math.Abs(z(p)) > 6 {
			t.Errorf("public %v: %d of %d accepted, want a share of %v", public, accepted, n, p)
		}
		// The mutant that forgets to thin is told apart.
		if q := 1 / (1 + math.Exp(-public-0.75*2)); math.Abs(z(q)) < 6 {
			t.Errorf("public %v: the frequency does not tell apart unthinned batches", public)
		}
	}
}

// TestKeepersKeepWithTheProbabilityOfInclusion: suspects are enough, and what clears them
// makes up for the rest, for every contribution within the bound, to 2⁻⁴⁸.
func TestKeepersKeepWithTheProbabilityOfInclusion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		intensity := rapid.Float64Range(1e-6, -math.Log1p(-mostRate)).Draw(t, "intensity")
		bound := intensity / 2 * rapid.Float64Range(0, 1).Draw(t, "share")
		r := bound * rapid.OneOf(rapid.Float64Range(-1, 1), rapid.SampledFrom([]float64{-1, 0, 1})).Draw(t, "r")
		k := (&thinning{intensity: intensity, rate: -math.Expm1(-intensity)}).keeper(bound)
		want := math.Expm1((bound+r)/2-intensity) / math.Expm1(-intensity)
		suspect := float64(k.suspects) / (1 << 16)
		kept := 1 - suspect + suspect*k.cleared(r)
		if suspect > 0.51 || math.Abs(kept-want) > 0x1p-48 {
			t.Fatalf("a record is kept with probability %v, a share of %v suspect; it is included with %v", kept, suspect, want)
		}
	})
}

// TestKeepersDrawRecordsIndependently: how often which of four records that share a word
// are kept, by the largest of 16 deviations from independence, in standard errors. The
// source is fixed. Four that are decided by the same bits are told apart.
func TestKeepersDrawRecordsIndependently(t *testing.T) {
	const n, bound, intensity = 100_000, 0.3, 0.7
	p := math.Expm1(bound-intensity) / math.Expm1(-intensity)
	k := (&thinning{intensity: intensity, rate: -math.Expm1(-intensity)}).keeper(bound)
	src := noise.NewInsecure([32]byte{2})
	far := func(draw func(record int) bool) (worst float64) {
		var counts [16]float64
		for range n {
			kept := 0
			for i := range 4 {
				if draw(i) {
					kept |= 1 << i
				}
			}
			counts[kept]++
		}
		for kept, count := range counts {
			ones := float64(bits.OnesCount(uint(kept)))
			want := math.Pow(p, ones) * math.Pow(1-p, 4-ones)
			worst = max(worst, math.Abs(count-n*want)/math.Sqrt(n*want*(1-want)))
		}
		return worst
	}
	if z := far(func(int) bool { return k.draw(src, bound) }); z > 6 {
		t.Errorf("a pattern is %.1f standard errors from independence", z)
	}
	all := false
	if z := far(func(i int) bool {
		if i == 0 {
			all = k.draw(src, bound)
		}
		return all
	}); z < 6 {
		t.Errorf("four records that share their bits pass, at %.1f standard errors", z)
	}
}

// TestCountsOfRecords: a batch whose records are all kept adds up to the sum of
// r + log(p(−r)/p(r)), rounded to the grid, for contributions small and large.
func TestCountsOfRecords(t *testing.T) {
	for _, c := range []struct{ bound, intensity float64 }{{0.3, 0.6}, {1e-3, 6.9}, {3.4, 6.9}, {3.4, 6.8}, {1e-5, 2e-5}} {
		th := &thinning{intensity: c.intensity, rate: -math.Expm1(-c.intensity)}
		grid := room.NewGrid(c.bound * (1 + 1/math.Expm1(c.intensity-c.bound)))
		src := noise.NewInsecure([32]byte{1})
		p := func(r float64) float64 { return -math.Expm1((c.bound+r)/2 - c.intensity) }
		for _, r := range []float64{-c.bound, -c.bound / 3, 0, 1e-3 * c.bound, c.bound / 2, c.bound} {
			want := r + math.Log1p((p(-r)-p(r))/p(r))
			got := int64(0)
			for range 500 { // at least one of them is kept, but for a chance of 2⁻⁵⁰⁰
				if got = th.sum([]float64{r}, c.bound, grid, src); got != 0 {
					break
				}
			}
			if off := float64(got)*grid.Step - want; math.Abs(off) > grid.Step {
				t.Errorf("bound %v, intensity %v: a record of %v counts %v, want %v", c.bound, c.intensity, r,
					float64(got)*grid.Step, want)
			}
		}
	}
}

// TestThinnedBitDivergence holds prices against brute force over data sets,
// under both adjacencies: divergences never exceed them, and the log-odds range
// reaches 99.9 % of what a removed record is charged, and of 2B where one is
// replaced. A removed record exceeds B, so its own randomness has to be paid for.
func TestThinnedBitDivergence(t *testing.T) {
	const bound, rate = 0.3, 0.6
	m := ThinnedBit{Target: newToy(1), Clip: bound, Rate: rate}
	for _, adj := range []accountant.Adjacency{accountant.Substitute, accountant.AddRemove} {
		facts := Facts{Records: 4, Features: 1, RowsPerPerson: 1, Adjacency: adj}
		event, err := m.Event(facts)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.thinning(facts)
		if err != nil {
			t.Fatal(err)
		}
		paid, reached := 2*p.charged, 2*bound
		if adj == accountant.AddRemove {
			paid, reached = p.charged, p.charged
		}
		widest := 0.0
		for _, others := range [][]float64{{0, 0, 0}, {bound, bound, bound}, {-bound, 0.1, 0}} {
			for public := -14.0; public < 14; public += 0.1 {
				one := thinnedAcceptance(append([]float64{-bound}, others...), bound, rate, public)
				other := thinnedAcceptance(others, bound, rate, public)
				if adj == accountant.Substitute {
					other = thinnedAcceptance(append([]float64{bound}, others...), bound, rate, public)
				}
				widest = max(widest, logit(other)-logit(one))
				for _, alpha := range []float64{1.5, 4, 16} {
					if d := rdpOfBits(alpha, one, other); d > event.RDP(alpha)*(1+1e-9) {
						t.Fatalf("%v, α=%v: divergence %v at public %v exceeds the price %v", adj, alpha, d, public, event.RDP(alpha))
					}
				}
			}
		}
		if widest > paid || widest < reached*0.999 || adj == accountant.AddRemove && widest < bound*1.2 {
			t.Errorf("%v: log-odds move by up to %v; %v is paid for, 2B = %v", adj, widest, paid, 2*bound)
		}
	}
}

// TestThinnedContributions checks the two-sided bound of the proof for one
// record of any ratio, and the monotonicity that the price rests on.
func TestThinnedContributions(t *testing.T) {
	const bound = 0.4
	for _, rate := range []float64{0.56, 0.8, 0.99} {
		intensity := -math.Log1p(-rate)
		fall := func(b float64) float64 {
			e := math.Expm1(-b)
			return math.Log1p(e * e / math.Expm1(intensity-(bound+b)/2))
		}
		last := 0.0
		for r := 0.05; r <= bound+1e-9; r += 0.05 {
			low, high := 0.0, 0.0
			for public := -14.0; public <= 14; public += 0.25 {
				high = max(high, logit(thinnedAcceptance([]float64{r}, bound, rate, public))-public)
				low = min(low, logit(thinnedAcceptance([]float64{-r}, bound, rate, public))-public)
			}
			if high > r*(1+1e-9) || high < r*0.999 || -low > (r+fall(r))*(1+1e-9) || -low < (r+fall(r))*0.999 {
				t.Errorf("rate %v, r=±%v: contributions up to %v and down to %v, want %v and %v", rate, r, high, low, r, -r-fall(r))
			}
			if fall(r) < last || fall(r) > r*bound/(intensity-bound) {
				t.Errorf("rate %v, r=%v: log(1+χ²) = %v, want it to grow and below %v", rate, r, fall(r), r*bound/(intensity-bound))
			}
			last = fall(r)
		}
	}
}

// TestThinnedDirections: a record of direction x is replaced by one of direction
// x′, so that a drawn move gives them different bounds, b and b′, and the
// log-odds move by up to b + b′ + max(g, g′), g = b²/(I−B). The price covers the
// mean of the moment over moves for every angle; charging half of g for each
// record, which would do for equal bounds, would not.
func TestThinnedDirections(t *testing.T) {
	const scale, order, h = 0.01, 2.0, 0.1
	m := ThinnedBit{Target: newToy(2), Proposal: Proposal{Scale: scale}}
	m.Rate = -math.Expm1(-2.0000001 * scale * (math.Sqrt2 + 4)) // the smallest
	facts := Facts{Records: 4, Features: 2, Radius: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	p, err := m.thinning(facts)
	if err != nil {
		t.Fatal(err)
	}
	event, err := m.Event(facts)
	if err != nil {
		t.Fatal(err)
	}
	growth := 1 / (p.intensity - p.largest)
	halved, err := accountant.Bit{Contribution: p.perScale, Isotropic: true, Growth: growth / 2, Most: p.largest}.
		Event(accountant.Substitute)
	if err != nil {
		t.Fatal(err)
	}
	needed := func(angle float64) float64 {
		sum := 0.0
		for x := -7.0; x < 7; x += h {
			for y := -7.0; y < 7; y += h {
				b, other := p.perScale*math.Abs(x), p.perScale*math.Abs(x*math.Cos(angle)+y*math.Sin(angle))
				move := b + other + growth*math.Pow(max(b, other), 2)
				sum += h * h * math.Exp(-(x*x+y*y)/2) / (2 * math.Pi) * math.Expm1((order-1)*order*move*move/8)
			}
		}
		return math.Log1p(sum) / (order - 1)
	}
	for _, angle := range []float64{0, 0.2, 0.8, math.Pi / 2} {
		if got := needed(angle); got > event.RDP(order) {
			t.Errorf("angle %v: %v is needed, %v is charged", angle, got, event.RDP(order))
		}
	}
	if got := needed(0.2); got < halved.RDP(order)*1.005 {
		t.Errorf("%v is needed, half of each record's inclusion costs %v: the test could not tell", got, halved.RDP(order))
	}
}

// TestThinnedMovesAndRefusals draws moves of a certified linear target, refuses
// those beyond their reach, and settings without a meaning.
func TestThinnedMovesAndRefusals(t *testing.T) {
	c := seal(t, Records{X: []float64{0.6, 0.8, -1, 0, 0.3, 0.4, 1, 0}, Features: 2, Radius: 1})
	m := ThinnedBit{Target: newToy(2), Proposal: Proposal{Scale: 0.01}, Rate: 0.5}
	b, err := Charge(c, m, 2000)
	if err != nil {
		t.Fatal(err)
	}
	if b.Event().RDP(4) > 1.15*4*2*0.01*0.01 { // αs²/8 at s = 2·0.01, with its slack
		t.Errorf("an isotropic thinned bit costs %v", b.Event().RDP(4))
	}
	theta, next := []float64{0, 0}, []float64{0, 0}
	accepted := 0
	for range 2000 {
		ok, err := b.Move(next, theta, func([]float64) float64 { return 0 })
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			accepted++
		}
	}
	if accepted < 850 || accepted > 1150 { // 6.7 standard errors
		t.Errorf("%d of 2000 tiny moves were accepted", accepted)
	}
	// A move longer than the bound of the rate is refused, always.
	far := b.thin.largest / b.thin.perLength * 1.01
	b.moveStep = []float64{far, 0}
	if b.decide([]float64{far, 0}, theta, 1000) {
		t.Error("a move beyond the reach was accepted")
	}
	for want, bad := range map[string]ThinnedBit{
		"the rate is 0":   {Target: newToy(2), Proposal: Proposal{Scale: 0.01}},
		"full data":       {Target: newToy(2), Proposal: Proposal{Scale: 0.01}, Rate: 1},
		"at least 1":      {Target: newToy(2), Proposal: Proposal{Scale: 1}, Rate: 0.5},
		"nothing bounds":  {Target: newToy(2), Rate: 0.5},
		"limit":           {Target: newToy(2), Rate: 0.5, Limit: -1},
		"the clip":        {Target: newToy(2), Rate: 0.5, Clip: math.NaN()},
		"the temperature": {Target: newToy(2), Rate: 0.5, Clip: 0.1, Temperature: 2},
	} {
		if _, err := bad.Event(c.Facts()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want one about %q", bad, err, want)
		}
	}
}

// TestThinnedLimit refuses moves by a certificate, on public grounds.
func TestThinnedLimit(t *testing.T) {
	target, err := targets.New(targets.GaussianMeanConfig{Features: 1, Prior: priors.Gaussian{SD: 1}})
	if err != nil {
		t.Fatal(err)
	}
	c := seal(t, Records{X: []float64{1, -2, 0.5}, Features: 1, Radius: 3})
	b, err := Charge(c, ThinnedBit{Target: target, Limit: 0.35, Rate: 0.6}, 200)
	if err != nil {
		t.Fatal(err)
	}
	accepted := map[float64]int{}
	for range 100 {
		for _, step := range []float64{0.1, 0.13} { // bounds 0.305 and 0.398
			if ok, err := b.Accept([]float64{step}, []float64{0}, 3); err != nil {
				t.Fatal(err)
			} else if ok {
				accepted[step]++
			}
		}
	}
	if accepted[0.1] < 60 || accepted[0.13] != 0 {
		t.Errorf("accepted %v of 100 each; the longer move must be refused", accepted)
	}
}
