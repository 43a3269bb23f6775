package metrics

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/diag"
)

// input is two chains of ten draws of two parameters, with figures to compute by
// hand: parameter 0 runs over 0, …, 19 (mean 9.5), parameter 1 over −19, −17, …, 19
// (mean 0), each over both chains.
func input() *Input {
	in := &Input{Chains: make([][][]float64, 2), Advantage: math.NaN(), Random: rand.New(rand.NewPCG(1, 2))}
	for i := range 20 {
		in.Chains[i/10] = append(in.Chains[i/10], []float64{float64(i), float64(2*i - 19)})
	}
	return in
}

func near(t *testing.T, name string, got, want float64) {
	t.Helper()
	if math.IsNaN(want) != math.IsNaN(got) || !math.IsNaN(want) && !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) {
		t.Errorf("%s is %v, want %v", name, got, want)
	}
}

// TestAgainstTheTruth: errors of the mean (9.5, 0) against a truth of (6.5, −4).
func TestAgainstTheTruth(t *testing.T) {
	in := input()
	in.Truth = []float64{6.5, -4}
	in.Reference = [][]float64{{100, 100}} // not looked at while the truth is known
	near(t, "rmse", RMSE(in), math.Sqrt((9.0+16)/2))
	near(t, "log-rmse", LogRMSE(in), math.Log(math.Sqrt(12.5)))
	near(t, "sign-accuracy", SignAccuracy(in), 0.5) // a mean of 0 has no sign
	in.Truth = []float64{-1, 0}
	near(t, "sign-accuracy", SignAccuracy(in), 0.5)
}

// TestAgainstThePosterior: without a truth the reference's mean takes its place.
func TestAgainstThePosterior(t *testing.T) {
	in := input()
	in.Reference = [][]float64{{4, 2}, {8, 6}} // mean (6, 4), sd (2√2, 2√2)
	near(t, "rmse", RMSE(in), math.Sqrt((3.5*3.5+16)/2))
	near(t, "sign-accuracy", SignAccuracy(in), 0.5)
	near(t, "mean-error", MeanError(in), (3.5+4)/2/(2*math.Sqrt2))
	// The standard deviation of 0, …, n−1 is √(n(n+1)/12).
	sd := math.Sqrt(20.0 * 21 / 12)
	near(t, "sd-error", SDError(in), (math.Abs(math.Log(sd/(2*math.Sqrt2)))+math.Abs(math.Log(2*sd/(2*math.Sqrt2))))/2)
	in.Reference = [][]float64{{0, -100}, {100, 100}} // wider than the draws: errors do not cancel
	ref := [2]float64{100 / math.Sqrt2, 200 / math.Sqrt2}
	near(t, "sd-error", SDError(in), (math.Log(ref[0]/sd)+math.Log(ref[1]/(2*sd)))/2)
}

// TestIntervals: the central 90% of 0, …, 19 is 0.95 to 18.05.
func TestIntervals(t *testing.T) {
	in := input()
	near(t, "interval-width", IntervalWidth(in), (17.1+34.2)/2)
	for aim, want := range map[[2]float64]float64{
		{0.96, 0}: 1, {0.94, 0}: 0.5, {18.04, 0}: 1, {18.06, 0}: 0.5, {9, 17.2}: 0.5, {9, 17}: 1, {-5, 40}: 0,
	} {
		in.Truth = aim[:]
		near(t, "coverage", Coverage(in), want)
	}
	in.Truth, in.Reference = nil, [][]float64{{0, 0}, {1, 0}}
	near(t, "coverage of the posterior mean", Coverage(in), 0.5)
}

// TestDistances are those of package diag, on evenly spaced draws.
func TestDistances(t *testing.T) {
	in := &Input{Chains: [][][]float64{nil}, Random: rand.New(rand.NewPCG(1, 2))}
	var every3 [][]float64
	for i := range 3 * distanceDraws {
		in.Chains[0] = append(in.Chains[0], []float64{math.Sin(float64(i))})
		if i%3 == 0 {
			every3 = append(every3, in.Chains[0][i])
		}
	}
	for i := range 50 {
		in.Reference = append(in.Reference, []float64{float64(i) / 20})
	}
	near(t, "energy", Energy(in), diag.Energy(every3, in.Reference))
	near(t, "mmd", MMD(in), diag.MMD(every3, in.Reference, rand.New(rand.NewPCG(1, 2))))
	if !(Energy(in) > 0.5) || !(MMD(in) > 0.3) {
		t.Errorf("samples far apart have energy %v and MMD %v", Energy(in), MMD(in))
	}
}

// TestESS is the least of any parameter, and the number of independent draws.
func TestESS(t *testing.T) {
	in := &Input{Chains: make([][][]float64, 2)}
	rng := rand.New(rand.NewPCG(5, 6))
	slow := 0.0
	var slowly [2][]float64
	for i := range 1000 {
		slow = 0.95*slow + rng.NormFloat64()
		in.Chains[i/500] = append(in.Chains[i/500], []float64{rng.NormFloat64(), slow})
		slowly[i/500] = append(slowly[i/500], slow)
	}
	near(t, "ess", ESS(in), diag.ESSBulk(slowly[:]))
	if !(ESS(in) < 200) {
		t.Errorf("ess of a slow chain is %v", ESS(in))
	}
	in.Independent = true
	near(t, "ess of independent draws", ESS(in), 1000)
}

// withTest adds held-out records whose prediction is parameter 0 over 19, plus an
// offset each.
func withTest(y, offset []float64, binary bool) *Input {
	in := input()
	in.Test = &Test{Y: y, Binary: binary, Unit: 3, Predict: func(dst, theta []float64) {
		for i := range dst {
			dst[i] = theta[0]/19 + offset[i]
		}
	}}
	return in
}

// TestPredictions: the mean prediction is ½ plus the offset.
func TestPredictions(t *testing.T) {
	in := withTest([]float64{1, 0, 1, 0}, []float64{0.3, 0.1, -0.2, -0.4}, true)
	near(t, "auc", AUC(in), 0.75)
	near(t, "log-loss", LogLoss(in), -(math.Log(0.8)+math.Log(0.4)+math.Log(0.3)+math.Log(0.9))/4)
	near(t, "predictive-rmse of probabilities", PredictiveRMSE(in), math.NaN())

	in = withTest([]float64{1, 0, 2}, []float64{0.5, 1.5, -0.5}, false)
	near(t, "predictive-rmse", PredictiveRMSE(in), 3*math.Sqrt((0+4+4)/3.0))
	near(t, "auc of numbers", AUC(in), math.NaN())
	near(t, "log-loss of numbers", LogLoss(in), math.NaN())

	in = withTest([]float64{1, 0}, []float64{-0.5, 0.5}, true) // wrong, and certain of it
	if got, want := LogLoss(in), -math.Log(1e-15); math.Abs(got-want) > 0.001 {
		t.Errorf("log-loss of certain mistakes is %v, want %v", got, want)
	}
}

// TestAUCByPairs compares with the definition, ties included.
func TestAUCByPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 20 {
		n := 2 + rng.IntN(30)
		p, y := make([]float64, n), make([]float64, n)
		for i := range p {
			p[i], y[i] = float64(rng.IntN(6))/5, float64(rng.IntN(2))
		}
		y[0], y[1] = 0, 1
		wins, pairs := 0.0, 0.0
		for i := range p {
			for j := range p {
				if y[i] == 1 && y[j] == 0 {
					pairs++
					switch {
					case p[i] > p[j]:
						wins++
					case p[i] == p[j]:
						wins += 0.5
					}
				}
			}
		}
		near(t, "auc", Area(p, y), wins/pairs)
	}
}

// TestWhatDoesNotApply is NaN.
func TestWhatDoesNotApply(t *testing.T) {
	in := &Input{Chains: [][][]float64{{{1, 2}}}, Independent: true, Advantage: math.NaN(),
		Random: rand.New(rand.NewPCG(1, 2))}
	for _, m := range List() {
		if v := m.Compute(in); !math.IsNaN(v) != (m.Name == "ess") {
			t.Errorf("%s of a single estimate, compared with nothing, is %v", m.Name, v)
		}
	}
	in.Truth, in.Reference = []float64{1, 2}, [][]float64{{1, 2}, {2, 3}}
	for _, m := range List() {
		switch v := m.Compute(in); m.Name {
		case "coverage", "interval-width", "sd-error", "mmd", "energy":
			if !math.IsNaN(v) {
				t.Errorf("%s of a single estimate is %v; it has no spread", m.Name, v)
			}
		}
	}
	in.Advantage = 0.25
	near(t, "membership", Membership(in), 0.25)
}

// TestList: names are unique, every metric says what it is, and those that read
// nothing are computed without anything to read.
func TestList(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range List() {
		if seen[m.Name] || m.Title == "" || m.About == "" {
			t.Errorf("%+v: seen before, or not described", m)
		}
		seen[m.Name] = true
		if got, err := ByName(m.Name); err != nil || got.Title != m.Title {
			t.Errorf("ByName(%q): %v", m.Name, err)
		}
		if v := m.Compute(input()); math.IsNaN(v) == (m.Reads == Nothing) && m.Name != "ess" {
			t.Errorf("%s reads %q, and is %v where there is nothing to read", m.Name, m.Reads, v)
		}
	}
	if _, err := ByName("rsme"); err == nil || !strings.Contains(err.Error(), "rmse, log-rmse") {
		t.Errorf("a name that is not there: %v", err)
	}
}
