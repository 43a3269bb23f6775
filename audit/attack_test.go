package audit

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/targets"
)

func run(t testing.TB, a Attack) Finding {
	t.Helper()
	f, err := a.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestMechanismsKeepTheirClaims: no mechanism of the curator is above its claim (false
// alarm 1e-7 each), and single bits and Gaussians are nearly as bad as claimed.
func TestMechanismsKeepTheirClaims(t *testing.T) {
	rounds, tight := 200_000, 0.8
	if testing.Short() {
		rounds, tight = 60_000, 0.6
	}
	attacks, err := Mechanisms(rounds, 1e-7, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(attacks) < 15 {
		t.Fatalf("%d mechanisms", len(attacks))
	}
	for _, a := range attacks {
		f := run(t, a)
		if f.Violated() || f.Lower == 0 || f.Most <= f.Lower {
			t.Error(f)
		}
		switch f.Name {
		case "bit, exact logistic test, full data", "bit, Gaussian-mixture corrected test of variance 1, full data",
			"noisy ratio, full data", "noisy gradient, full data":
			if f.Tightness() < tight {
				t.Errorf("only %.2f of the claim is shown: %v", f.Tightness(), f)
			}
		}
		t.Logf("%v; tightness %.2f", f, f.Tightness())
	}
}

// defect is a mechanism that does not do what it charges for.
type defect struct {
	mechanism
	actual mechanism // what it does instead
}

// doubled releases the sum of two draws at the price of one.
func doubled(m mechanism) mechanism {
	once := m.grant
	m.grant = func(c *curator.Curator, count int64) (draw, error) {
		d, err := once(c, 2*count)
		return func() ([]float64, error) {
			a, err := d()
			if err != nil {
				return nil, err
			}
			first := a[0] // the next draw overwrites it
			b, err := d()
			return []float64{first + b[0]}, err
		}, err
	}
	return m
}

// defects are planted: each must be caught.
func defects() []defect {
	target := slope{1}
	with := func(name string, claimed, actual mechanism) defect {
		claimed.name = name
		return defect{claimed, actual}
	}
	noise := func(v float64) mechanism {
		return gradient("", curator.NoisyGradient{Target: target, Clip: 0.5, NoiseMultiplier: v})
	}
	rate := func(b curator.Batch) mechanism {
		return gradient("", curator.NoisyGradient{Target: target, Clip: 0.5, NoiseMultiplier: 0.7, Batch: b})
	}
	noisyRatio := func(v float64) mechanism {
		return ratio("", curator.NoisyRatio{Target: target, Clip: 0.5, NoiseMultiplier: v})
	}
	clipped := func(clip float64) mechanism {
		return bit("", curator.AcceptanceBit{Target: target, Clip: clip})
	}
	tempered := func(tau float64) mechanism {
		return bit("", curator.AcceptanceBit{Target: target, Temperature: tau, Proposal: curator.Proposal{Radius: 1}})
	}
	moves := func(scale float64) mechanism {
		return drawn("", curator.AcceptanceBit{Target: target, Proposal: curator.Proposal{Scale: scale}})
	}
	minimum := func(v float64) mechanism { return optimum("", curator.Optimum{Ridge: 2.5, NoiseMultiplier: v}) }
	moment := func(v float64) mechanism { return moments("", curator.SecondMoment{NoiseMultiplier: v}) }

	twice := doubled(clipped(0.5)) // both bits are of one grant: two are used where one was charged
	certain := clipped(0.5)
	certain.grant = func(c *curator.Curator, count int64) (draw, error) {
		d, err := noisyRatio(0.05).grant(c, count)
		return func() ([]float64, error) { // what the test would decide without its noise
			v, err := d()
			if err != nil {
				return nil, err
			}
			return number(v[0] > 0), nil
		}, err
	}
	both := doubled(noise(0.7)) // a person with two rows, charged for one
	return []defect{
		with("half the noise of a gradient", noise(0.7), noise(0.35)),
		with("half the noise of a ratio", noisyRatio(0.7), noisyRatio(0.35)),
		with("half the noise of second moments", moment(0.7), moment(0.2)),
		with("an eighth of an optimum's noise", minimum(0.7), minimum(0.0875)),
		with("a tenth of the noise missing", noise(0.7), noise(0.55)),
		with("twice the sensitivity of a bit", clipped(0.25), clipped(0.5)),
		with("a bit charged once and used twice", clipped(0.5), twice),
		with("the temperature charged and not applied", tempered(0.5), tempered(1)),
		with("a rate of a half charged as a quarter", rate(curator.Batch{Rate: 0.1}), rate(curator.Batch{Rate: 0.5})),
		with("the full data charged as a batch", rate(curator.Batch{Rate: 0.3}), rate(curator.Batch{})),
		with("a fixed batch charged as a smaller rate", rate(curator.Batch{Rate: 0.1}), rate(curator.Batch{Size: 2})),
		with("a gradient charged once and released twice", noise(0.7), both),
		with("moves of four times the scale", moves(0.25), moves(1)),
		with("a bit without its randomness", clipped(0.1), certain),
	}
}

// TestPlantedDefectsAreCaught, every one, although the honest mechanism that it claims
// to be is not (TestMechanismsKeepTheirClaims).
func TestPlantedDefectsAreCaught(t *testing.T) {
	caught := 0
	for i, d := range defects() {
		actual := d.actual
		actual.event, actual.name = d.event, d.name
		a, err := actual.attack(200_000, 1e-6, 100+uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		f := run(t, a)
		if !f.Violated() {
			t.Errorf("not caught: %v", f)
			continue
		}
		caught++
	}
	if caught < 10 {
		t.Errorf("%d planted defects were caught", caught)
	}
}

// TestOneRunAgainstTheTheorem: at δ = 0 the p-value is the binomial tail, and with δ it
// grows.
func TestOneRunAgainstTheTheorem(t *testing.T) {
	o := OneRun{Canaries: 100, Guesses: 60, Correct: 50}
	p, err := o.PValue(1, 0)
	if want := binomialTail(50, 60, 1/(1+math.Exp(-1))); err != nil || math.Abs(p/want-1) > 1e-9 {
		t.Errorf("%v, want %v, %v", p, want, err)
	}
	q, err := o.PValue(1, 1e-3)
	if err != nil || q <= p || q > p+2*100*1e-3 {
		t.Errorf("with δ: %v, %v", q, err)
	}
	lower, err := o.LowerEpsilon(0, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	if at, err := o.PValue(lower, 0); err != nil || math.Abs(at-0.05) > 1e-6 {
		t.Errorf("p-value at the bound %v: %v, %v", lower, at, err)
	}
	for _, bad := range []OneRun{{}, {10, 11, 5}, {10, 5, 6}, {10, 5, -1}, {10, 0, 0}} {
		if _, err := bad.LowerEpsilon(0, 0.05); err == nil {
			t.Errorf("%+v accepted", bad)
		}
	}
	if _, err := o.LowerEpsilon(0, 0); err == nil {
		t.Error("a false alarm of 0 was accepted")
	}
	if none, err := (OneRun{10, 10, 5}).LowerEpsilon(0, 0.05); err != nil || none != 0 {
		t.Errorf("a coin flip shows ε %v, %v", none, err)
	}
}

// TestOneRunFalseAlarms enumerates every outcome of randomised response, which is the
// worst of its ε: the bound exceeds ε with probability at most the false alarm, and not
// by far less.
func TestOneRunFalseAlarms(t *testing.T) {
	const n, falseAlarm = 80, 0.05
	for _, eps := range []float64{0, 0.5, 2} {
		right := 1 / (1 + math.Exp(-eps))
		wrong := 0.0
		for k := range n + 1 {
			lower, err := OneRun{n, n, k}.LowerEpsilon(0, falseAlarm)
			if err != nil {
				t.Fatal(err)
			}
			if lower > eps {
				wrong += binomial(n, k, right)
			}
		}
		if wrong > falseAlarm || wrong < falseAlarm/5 {
			t.Errorf("ε %v: exceeded with probability %v", eps, wrong)
		}
	}
}

// respond is a run that tells each canary's response through randomised response.
func respond(eps float64, rng *rand.Rand) func(context.Context, targets.Rows, int) ([][]float64, error) {
	return func(_ context.Context, table targets.Rows, _ int) ([][]float64, error) {
		state := make([]float64, table.P)
		for i := range state {
			state[i] = 2*table.Y[i] - 1
			if rng.Float64() > 1/(1+math.Exp(-eps)) {
				state[i] = -state[i]
			}
		}
		return [][]float64{state}, nil
	}
}

// TestCanaries: runs that tell as much as they claim are believed and nearly shown, and
// runs that tell more are caught. False alarm 1e-6.
func TestCanaries(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	claim, err := accountant.Pure(accountant.Substitute, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := Canaries{Name: "randomised response", Run: respond(1, rng), Claim: claim, Records: 250, Each: 200, Runs: 20,
		Responses:  [2]float64{0, 1},
		FalseAlarm: 1e-6, Coin: rng}
	honest, err := c.Attack(context.Background())
	if err != nil || len(honest) != 3 || honest[0].Violated() || honest[1].Violated() || honest[0].Tightness() < 0.6 ||
		honest[1].Tightness() < 0.6 {
		t.Errorf("%v, %v", honest, err)
	}
	c.Run = respond(1.7, rng)
	if f, err := c.Attack(context.Background()); err != nil || !f[0].Violated() || !f[1].Violated() {
		t.Errorf("%v, %v", f, err)
	}
	c.Runs = 0
	if _, err := c.Attack(context.Background()); err == nil {
		t.Error("no runs were accepted")
	}
}

// blur is a run that tells each canary's response with normal noise, mu standard
// deviations apart.
func blur(mu float64, rng *rand.Rand) func(context.Context, targets.Rows, int) ([][]float64, error) {
	return func(_ context.Context, table targets.Rows, _ int) ([][]float64, error) {
		state := make([]float64, table.P)
		for i := range state {
			state[i] = mu*(table.Y[i]-0.5) + rng.NormFloat64()
		}
		return [][]float64{state}, nil
	}
}

// TestCurvesSeeMoreThanPairs: of runs whose noise is Gaussian, as that of most chains
// nearly is, the claim's curve shows more than one (ε, δ) does, and scores more than
// guesses. None refutes what is true, and a third of the noise is refuted. False alarm
// 1e-6.
func TestCurvesSeeMoreThanPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const mu = 1.0
	claim, err := accountant.Gaussian(accountant.Substitute, 1/mu)
	if err != nil {
		t.Fatal(err)
	}
	c := Canaries{Name: "blurred", Run: blur(mu, rng), Claim: claim, Records: 1000, Each: 1000, Runs: 20,
		Responses: [2]float64{0, 1}, Delta: 1e-8,
		FalseAlarm: 1e-6, Coin: rng}
	f, err := c.Attack(context.Background())
	if err != nil || f[0].Violated() || f[1].Violated() || f[2].Lower > f[2].Claimed {
		t.Fatalf("%v, %v", f, err)
	}
	if !(f[1].Lower > 1.3*f[0].Lower && f[1].Tightness() > 0.25 && f[2].Tightness() > 0.85 && f[2].Most <= f[2].Claimed) {
		t.Errorf("%v", f)
	}
	t.Log(f)
	c.Run = blur(3*mu, rng)
	if f, err = c.Attack(context.Background()); err != nil || !f[1].Violated() || f[2].Lower < f[2].Claimed {
		t.Errorf("%v, %v", f, err)
	}
	t.Log(f)
}

// TestCurvesFalseAlarms: the curve's test refutes a true claim with probability at most
// the false alarm, on every outcome of randomised response, and in simulated runs with
// Gaussian noise (itself wrong with probability 1e-6). Runs
// that tell more are refuted.
func TestCurvesFalseAlarms(t *testing.T) {
	const n, falseAlarm = 60, 0.05
	for _, eps := range []float64{0.5, 2} {
		claim, err := accountant.Pure(accountant.Substitute, eps)
		if err != nil {
			t.Fatal(err)
		}
		c, err := curveOf(claim)
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0.0
		for k := range n + 1 {
			if (OneRun{n, n, k}).refutes(c.at, falseAlarm) {
				wrong += binomial(n, k, 1/(1+math.Exp(-eps)))
			}
		}
		if wrong > falseAlarm || wrong < falseAlarm/100 {
			t.Errorf("ε %v: refuted with probability %v", eps, wrong)
		}
	}
	rng := rand.New(rand.NewPCG(7, 8))
	claim, err := accountant.Gaussian(accountant.Substitute, 1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := curveOf(claim)
	if err != nil {
		t.Fatal(err)
	}
	const plays, canaries = 2000, 200
	refuted := [2]int{}
	for range plays {
		for i, mu := range []float64{1, 2.4} { // the second is a mutant: more is told than claimed
			var s scores
			for range canaries {
				side := rng.IntN(2)
				s[side] = append(s[side], mu*(float64(side)-0.5)+rng.NormFloat64())
			}
			if s.guess(guessedByCurve).refutes(c.at, falseAlarm) {
				refuted[i]++
			}
		}
	}
	if low, _ := ClopperPearson(refuted[0], plays, 1e-6); low > falseAlarm {
		t.Errorf("a true claim was refuted %d times of %d", refuted[0], plays)
	}
	if refuted[1] < plays/2 {
		t.Errorf("a false claim was refuted %d times of %d", refuted[1], plays)
	}
}

func TestAttackRefusals(t *testing.T) {
	attacks, err := Mechanisms(1000, 1e-6, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Attack){
		"rounds": func(a *Attack) { a.Rounds = 10 }, "score": func(a *Attack) { a.Score = nil },
		"alarm": func(a *Attack) { a.FalseAlarm = 0 },
		"coin":  func(a *Attack) { a.Coin = nil }, "claim": func(a *Attack) { a.Claim = accountant.Event{} },
		"release": func(a *Attack) { a.Release = func(bool) ([]float64, error) { return nil, fmt.Errorf("no") } },
	} {
		a := attacks[0]
		spoil(&a)
		if _, err := a.Run(context.Background()); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := attacks[0].Run(ctx); err == nil {
		t.Error("cancelled: no error")
	}
}

func TestJUnit(t *testing.T) {
	var out bytes.Buffer
	findings := []Finding{{Name: "a", Lower: 1, Claimed: 2}, {Name: "b <", Lower: 3, Claimed: 2}}
	if err := WriteJUnit(&out, findings); err != nil {
		t.Fatal(err)
	}
	var s suite
	if err := xml.Unmarshal(out.Bytes(), &s); err != nil || s.Tests != 2 || s.Failures != 1 || s.Cases[1].Failure == nil ||
		!strings.Contains(s.Cases[1].Failure.Message, "VIOLATED") {
		t.Errorf("%s, %v", out.String(), err)
	}
}
