package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpmcmc/dpmcmc/internal/plot"
	"github.com/dpmcmc/dpmcmc/ops/conjugate"
)

func init() {
	figures["geumlek-beta"] = figure{"Beta-Bernoulli under Rényi DP: curves, divergence, held-out likelihood (Geumlek " +
		"et al. 2017, Fig. 1 and 2)", geumlekBeta}
}

// The published setting.
const (
	betaRecords   = 100
	betaSuccesses = 38
)

var betaPrior = []float64{6, 18}

// geumlekBeta computes everything in closed form or by quadrature: there is no
// simulation and so no error bar.
func geumlekBeta(_ context.Context, s settings) error {
	curves := newTable("algorithm", "factor", "order", "ε(order)")
	var panels []plot.Panel
	for _, m := range []conjugate.Method{conjugate.Diffused, conjugate.Concentrated} {
		p, err := renyiCurves(m, curves)
		if err != nil {
			return err
		}
		panels = append(panels, p)
	}
	quiet := s
	quiet.log = io.Discard
	if err := quiet.save("geumlek-curves", curves, 2, panels...); err != nil {
		return err
	}
	utility := newTable("order", "log ε", "r of Alg. 2", "m of Alg. 3", "KL Alg. 2", "KL Alg. 3", "KL Gauss",
		"−log p Alg. 2", "−log p Alg. 3", "−log p Gauss", "−log p posterior")
	panels = nil
	for _, order := range []float64{2, 15} {
		more, err := betaUtility(order, utility)
		if err != nil {
			return err
		}
		panels = append(panels, more...)
	}
	return s.save("geumlek-kl", utility, 2, panels...)
}

func renyiCurves(method conjugate.Method, t *table) (plot.Panel, error) {
	letter, number := "r", 2
	if method == conjugate.Concentrated {
		letter, number = "m", 3
	}
	p := plot.Panel{Title: fmt.Sprintf("Algorithm %d", number), XLabel: "order λ", YLabel: "ε(λ)"}
	for _, f := range []float64{0.1, 0.3, 0.5, 0.7, 0.9, 1} {
		m, err := conjugate.New(conjugate.Config{Method: method, Prior: betaPrior, Records: betaRecords, Factor: f})
		if err != nil {
			return p, err
		}
		l := plot.Line{Name: fmt.Sprintf("%s = %v", letter, f)}
		for order := 1.05; order <= 20; order += 0.05 {
			eps := m.RDP(order)
			t.add(number, f, order, eps)
			if eps <= 2 {
				l.X, l.Y = append(l.X, order), append(l.Y, eps)
			}
		}
		p.Lines = append(p.Lines, l)
	}
	return p, nil
}

// betaUtility fills the two panels of one order.
func betaUtility(order float64, t *table) ([]plot.Panel, error) {
	kl := plot.Panel{Title: fmt.Sprintf("Divergence from the posterior, λ = %v", order), XLabel: "log ε",
		YLabel: "KL(posterior ‖ release)"}
	held := plot.Panel{Title: fmt.Sprintf("Held-out likelihood, λ = %v", order), XLabel: "log ε",
		YLabel: "mean of −log p of 100 new records"}
	lines := [7]plot.Line{{Name: "Alg. 2"}, {Name: "Alg. 3"}, {Name: "Gauss. mech."}, {Name: "Alg. 2"}, {Name: "Alg. 3"},
		{Name: "Gauss. mech."}, {Name: "posterior", Dashed: true}}
	direct := expectedScore(func(successes int) (betaLaw, error) {
		return betaLaw{{1, successesOf(successes, 1, 1)}}, nil
	})
	for logEps := -12.0; logEps <= 2; logEps += 0.5 {
		eps := math.Exp(logEps)
		laws, factors, err := betaLaws(order, eps)
		if err != nil {
			return nil, err
		}
		var v [7]float64
		for k, law := range laws {
			l, err := law(betaSuccesses)
			if err != nil {
				return nil, err
			}
			v[k] = l.divergence(successesOf(betaSuccesses, 1, 1))
			v[3+k] = expectedScore(law)
		}
		v[6] = direct
		t.add(order, logEps, factors[0], factors[1], v[0], v[1], v[2], v[3], v[4], v[5], v[6])
		for k := range v {
			if k < 3 && (logEps < -11 || v[k] > 0.6) {
				continue // the published axes
			}
			lines[k].X, lines[k].Y = append(lines[k].X, logEps), append(lines[k].Y, v[k])
		}
	}
	kl.Lines, held.Lines = lines[:3], lines[3:]
	return []plot.Panel{kl, held}, nil
}

// successesOf are the concentrations after that many successes among the records,
// with counts times r and the prior divided by m.
func successesOf(successes int, r, m float64) [2]float64 {
	return [2]float64{betaPrior[0]/m + r*float64(successes), betaPrior[1]/m + r*float64(betaRecords-successes)}
}

// betaLaw is a mixture of Beta distributions.
type betaLaw []struct {
	weight float64
	shape  [2]float64
}

// betaLaws are the laws of the release by Algorithms 2 and 3 and by the Gaussian
// mechanism, as functions of the number of successes, and the factors r and m.
func betaLaws(order, eps float64) ([3]func(int) (betaLaw, error), [2]float64, error) {
	var laws [3]func(int) (betaLaw, error)
	var factors [2]float64
	for k, method := range []conjugate.Method{conjugate.Diffused, conjugate.Concentrated} {
		m, err := conjugate.New(conjugate.Config{Method: method, Prior: betaPrior, Records: betaRecords, Order: order,
			Epsilon: eps})
		if err != nil {
			return laws, factors, err
		}
		r, divisor := m.Factors()
		factors[k] = []float64{r, divisor}[k]
		laws[k] = func(successes int) (betaLaw, error) {
			a, err := m.Posterior([]int{successes, betaRecords - successes})
			if err != nil {
				return nil, err
			}
			return betaLaw{{1, [2]float64{a[0], a[1]}}}, nil
		}
	}
	sd := math.Sqrt(order / (2 * eps)) // Mironov 2017, Cor. 3, for a sensitivity of 1
	laws[2] = func(successes int) (betaLaw, error) { return gaussianRelease(successes, sd), nil }
	return laws, factors, nil
}

// gaussianRelease is the law of a draw from the posterior of a noisy number of
// successes, brought back to 0 … n where it left it.
func gaussianRelease(successes int, sd float64) betaLaw {
	const parts = 800
	noisy := distuv.Normal{Mu: float64(successes), Sigma: sd}
	var out betaLaw
	add := func(weight, at float64) {
		if weight > 0 {
			shape := [2]float64{betaPrior[0] + at, betaPrior[1] + betaRecords - at}
			out = append(out, struct {
				weight float64
				shape  [2]float64
			}{weight, shape})
		}
	}
	add(noisy.CDF(0), 0)
	add(noisy.Survival(betaRecords), betaRecords)
	for i := range parts {
		lo, hi := betaRecords*float64(i)/parts, betaRecords*float64(i+1)/parts
		add(noisy.CDF(hi)-noisy.CDF(lo), (lo+hi)/2)
	}
	return out
}

// divergence is KL(Beta(p) ‖ the mixture), by quadrature unless it is one Beta.
func (l betaLaw) divergence(p [2]float64) float64 {
	if len(l) == 1 {
		return conjugate.KL(p[:], l[0].shape[:])
	}
	const points = 1000
	truth := distuv.Beta{Alpha: p[0], Beta: p[1]}
	norms := make([]float64, len(l))
	for j, c := range l {
		norms[j] = math.Log(c.weight) - mathext.Lbeta(c.shape[0], c.shape[1])
	}
	sum := 0.0
	for i := range points {
		x := (float64(i) + 0.5) / points
		log1, log2 := math.Log(x), math.Log1p(-x)
		if truth.LogProb(x) < -40 {
			continue
		}
		mixed := 0.0
		for j, c := range l {
			mixed += math.Exp(norms[j] + (c.shape[0]-1)*log1 + (c.shape[1]-1)*log2)
		}
		sum += truth.Prob(x) * (truth.LogProb(x) - math.Log(mixed)) / points
	}
	return sum
}

// expectedScore is the expectation of −log p(X_H|θ) for X and X_H of 100 fair coins
// each and θ drawn from the law that X gives.
func expectedScore(law func(successes int) (betaLaw, error)) float64 {
	sum := 0.0
	coins := distuv.Binomial{N: betaRecords, P: 0.5}
	for successes := range betaRecords + 1 {
		p := coins.Prob(float64(successes))
		if p < 1e-9 {
			continue
		}
		l, err := law(successes)
		if err != nil {
			return math.NaN()
		}
		for _, c := range l {
			both := 2 * mathext.Digamma(c.shape[0]+c.shape[1])
			sum -= p * c.weight * betaRecords / 2 * (mathext.Digamma(c.shape[0]) + mathext.Digamma(c.shape[1]) - both)
		}
	}
	return sum
}
