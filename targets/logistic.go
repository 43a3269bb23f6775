package targets

// Proof: docs/proofs/targets-certificates.md.

import (
	"math"

	"github.com/dpmcmc/dpmcmc/internal/vec"
)

// logistic is the family of P(y = 1) = 1/(1 + e^−η). Certificates: R_ℓ = 1/(β−1),
// infinite for the log loss; L = 1 for the log loss and
// L(β) = max_p [p^(β−1)(1−p)² + p(1−p)^β] for the β loss (theory §1).
type logistic struct {
	loss loss
	lip  float64
}

func newLogistic(_ RegressionConfig, l loss) (family, error) {
	f := logistic{loss: l, lip: 1}
	if l.b > 0 {
		f.lip = logisticCeiling(l.b)
	}
	return f, nil
}

func (f logistic) lossRange() float64 { return f.loss.massRange() }

func (f logistic) lipschitz(float64) float64 { return f.lip }

// lossAt works on the log-odds t against the observed label: the log loss is
// log(1 + e^t), and the β loss follows from the logarithms of both labels'
// probabilities.
func (f logistic) lossAt(dst, eta, y []float64) {
	if f.loss.isLog() {
		vec.Against(dst, eta, y)
		vec.Softplus(dst, dst)
		return
	}
	buf := getScratch()
	defer putScratch(buf)
	for lo := 0; lo < len(eta); lo += block {
		hi := min(lo+block, len(eta))
		f.betaLossBlock(dst[lo:hi], eta[lo:hi], y[lo:hi], buf)
	}
}

// betaLossBlock is the β loss of at most a block of records. With p ≥ q the
// probabilities of the two labels, u = q/p and b = β−1, the integral term is
// (p·(p^b − 1) + q·(q^b − 1))/β.
func (f logistic) betaLossBlock(dst, eta, y []float64, buf *scratch) {
	n, b := len(dst), f.loss.b
	u, odds, powP, powQ := dst, buf.a[:n], buf.b[:n], buf.c[:n]
	vec.Against(odds, eta, y)
	vec.ExpNegAbs(u, odds)
	for i, v := range u {
		logp := -vec.Log1pUnit(v)
		powP[i] = b * logp
		powQ[i] = b * (logp - math.Abs(odds[i]))
	}
	vec.Expm1All(powP, powP)
	vec.Expm1All(powQ, powQ)
	invB, invBeta := 1/b, 1/f.loss.beta()
	for i, v := range u {
		integral := (powP[i] + v*powQ[i]) / (1 + v) * invBeta
		dst[i] = integral - invB*choose(odds[i] > 0, powQ[i], powP[i])
	}
}

// slopeAt is, in the log-odds s of the observed label, −q for the log loss and
// −(p^(β−1)q² + p·q^β) for the β loss; the sign of η in s is restored.
func (f logistic) slopeAt(dst, eta, y []float64) {
	b := f.loss.b
	vec.Against(dst, eta, y)
	for i, t := range dst {
		p, q, logp, logq := logisticLabel(-t)
		dst[i] = q
		if b > 0 {
			dst[i] = q * (vec.Exp(b*logp)*q + p*vec.Exp(b*logq))
		}
	}
	vec.Against(dst, dst, y)
}

// logisticLabel returns the probabilities p of the observed label and q of the
// other one at log-odds s, and their logarithms, all to full relative accuracy.
func logisticLabel(s float64) (p, q, logp, logq float64) {
	t := math.Abs(s)
	u := vec.Exp(-t)
	p, q = 1/(1+u), u/(1+u)
	logp = -vec.Log1pUnit(u)
	logq = logp - t
	if s < 0 {
		return q, p, logq, logp
	}
	return p, q, logp, logq
}

// logisticCeiling returns L(β), the maximum over p of p^b(1−p)² + p(1−p)^(1+b)
// with b = β−1. On an interval every factor is greatest at an end.
func logisticCeiling(b float64) float64 {
	return ceiling(slopeSlack, 0, 1, func(lo, hi float64) float64 {
		q := 1 - lo
		return q * (math.Pow(hi, b)*q + hi*math.Pow(q, b))
	})
}
