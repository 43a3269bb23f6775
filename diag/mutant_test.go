package diag

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// variant is a second, direct implementation of R-hat and ESS whose parts can
// be broken one at a time. The zero value is the right one.
type variant struct {
	noSplit, noRank, noFold  bool // R-hat's and the bulk ESS's transformations
	unbiased, wrapped        bool // autocovariance: divisor n-t; circular
	noMonotone, noPositive   bool // Geyer's two truncations
	noBetween, noCap, noTail bool // between-chain variance; the bound S·log₁₀S; the last even lag
}

func (v variant) split(x [][]float64) [][]float64 {
	if v.noSplit {
		return x
	}
	return halves(x)
}

func (v variant) scores(x [][]float64) [][]float64 {
	if v.noRank {
		return x
	}
	return normalScores(x)
}

func (v variant) rhat(x [][]float64) float64 {
	bulk := potentialScaleReduction(v.scores(v.split(x)))
	if v.noFold {
		return bulk
	}
	median := Quantile(pooled(x), 0.5)
	folded := eachChain(x, func(c []float64) []float64 { return absDeviations(c, median) })
	return max(bulk, potentialScaleReduction(v.scores(v.split(folded))))
}

// essBulk sums autocovariances directly, in O(n²).
func (v variant) essBulk(x [][]float64) float64 {
	z := v.scores(v.split(x))
	m, n := len(z), len(z[0])
	acov, means := make([]float64, n), make([]float64, m)
	for c, chain := range z {
		means[c] = stat.Mean(chain, nil)
		for lag := range n {
			var sum float64
			for i := range n {
				if i+lag < n || v.wrapped {
					sum += (chain[i] - means[c]) * (chain[(i+lag)%n] - means[c])
				}
			}
			divisor := float64(n)
			if v.unbiased {
				divisor = float64(n - lag)
			}
			acov[lag] += sum / divisor / float64(m)
		}
	}
	within := acov[0] * float64(n) / float64(n-1)
	total := acov[0]
	if !v.noBetween {
		total += stat.Variance(means, nil)
	}
	rho := func(t int) float64 {
		if t == 0 {
			return 1
		}
		return 1 - (within-acov[t])/total
	}
	return v.truncate(rho, n, float64(m*n))
}

// truncate applies Geyer's rules to the autocorrelations.
func (v variant) truncate(rho func(int) float64, n int, size float64) float64 {
	tau, before, t := -1.0, math.Inf(1), 0
	for ; t < n-5; t += 2 {
		pair := rho(t) + rho(t+1)
		if pair <= 0 && !v.noPositive {
			break
		}
		if !v.noMonotone {
			pair = min(pair, before)
		}
		tau += 2 * pair
		before = pair
	}
	if !v.noTail {
		tau += max(rho(t), 0)
	}
	if !v.noCap {
		tau = max(tau, 1/math.Log10(size))
	}
	return size / tau
}

// rejected counts the golden cases of 40 draws and more that a variant fails.
func (v variant) rejected(t *testing.T) (rhat, ess int) {
	for _, g := range readGolden(t) {
		if g.Draws < 40 {
			continue
		}
		x := g.chains(t)
		if !agree(v.rhat(x), g.Figures["rhat"]) {
			rhat++
		}
		if !agree(v.essBulk(x), g.Figures["ess_bulk"]) {
			ess++
		}
	}
	return rhat, ess
}

// TestMutantsRejected shows that the golden values hold every part of the
// definitions in place: each broken variant disagrees with them.
func TestMutantsRejected(t *testing.T) {
	if rhat, ess := (variant{}).rejected(t); rhat != 0 || ess != 0 {
		t.Fatalf("the direct implementation fails %d R-hat and %d ESS golden values", rhat, ess)
	}
	for name, m := range map[string]struct {
		variant
		rhat, ess bool // what the mutant breaks
	}{
		"no split":              {variant{noSplit: true}, true, true},
		"no rank normalisation": {variant{noRank: true}, true, true},
		"no folding":            {variant{noFold: true}, true, false},
		"unbiased acov":         {variant{unbiased: true}, false, true},
		"circular acov":         {variant{wrapped: true}, false, true},
		"no monotone sequence":  {variant{noMonotone: true}, false, true},
		"no positive sequence":  {variant{noPositive: true}, false, true},
		"no between variance":   {variant{noBetween: true}, false, true},
		"no cap":                {variant{noCap: true}, false, true},
		"no last even lag":      {variant{noTail: true}, false, true},
	} {
		rhat, ess := m.rejected(t)
		if m.rhat && rhat == 0 {
			t.Errorf("%s: no golden R-hat rejects it", name)
		}
		if m.ess && ess == 0 {
			t.Errorf("%s: no golden ESS rejects it", name)
		}
	}
}

// TestOtherDefinitionsRejected shows the same for the simpler figures.
func TestOtherDefinitionsRejected(t *testing.T) {
	normalMCSESD := func(x [][]float64) float64 { // assumes normal draws, as ArviZ 0.17 does
		return Summarize(x).SD / math.Sqrt(2*ESSMean(x))
	}
	mutants := map[string]func([][]float64) float64{
		"sd":      func(x [][]float64) float64 { return stat.PopStdDev(pooled(x), nil) },
		"mcse_sd": normalMCSESD,
		"mad":     func(x [][]float64) float64 { return Summarize(x).MAD / madScale },
		"q5":      func(x [][]float64) float64 { return stat.Quantile(0.05, stat.Empirical, pooled(x), nil) },
		"ess_tail": func(x [][]float64) float64 {
			return essAt(x, 0.05)
		},
		"mcse_q95": func(x [][]float64) float64 { return mcseAt(x, 0.95) * math.Sqrt2 },
	}
	for name, mutant := range mutants {
		rejected := false
		for _, g := range readGolden(t) {
			rejected = rejected || !agree(mutant(g.chains(t)), g.Figures[name])
		}
		if !rejected {
			t.Errorf("%s: no golden value rejects the mutant", name)
		}
	}
}
