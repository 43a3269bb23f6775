package accountant

// Proof: docs/proofs/accountant-curves.md.

import "math"

// FailureProbability bounds the probability that a release of the event reveals
// everything, as an (ε, δ) event may with probability δ. RDP is that of releases that
// do not fail.
func (e Event) FailureProbability() float64 {
	logOK := 0.0
	for _, p := range e.flat().parts {
		if f, ok := p.m.(failing); ok {
			logOK += float64(p.count) * math.Log1p(-f.failure())
		}
	}
	return min(1, -math.Expm1(logOK)*(1+slack))
}

// unfailed is the δ left to what does not fail, of a total: negative where the
// failures alone exceed it.
func (e Event) unfailed(delta float64) float64 {
	if delta >= 1 {
		return 1
	}
	fail := e.FailureProbability()
	return (delta - fail) / (1 - fail)
}

// gaussianMu returns µ of a composition of Gaussians only, µ² being the sum.
func (e Event) gaussianMu() (float64, bool) {
	square := 0.0
	for _, p := range e.flat().parts {
		g, ok := p.m.(gaussianLike)
		if !ok {
			return 0, false
		}
		square += float64(p.count) * g.mu() * g.mu()
	}
	return math.Sqrt(square), true
}

// departure is the sum of what the parts depart by from the pairs they are stated as:
// δ(ε) is at most e^departure times that of those pairs at ε − departure.
func (e Event) departure() float64 {
	total := 0.0
	for _, p := range e.flat().parts {
		if d, ok := p.m.(departing); ok {
			total += float64(p.count) * d.departure()
		}
	}
	return total * (1 + slack)
}
