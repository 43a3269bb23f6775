// Package laplaceapprox releases a private Laplace approximation of a logistic
// regression posterior, one that knows of the noise it was made with.
//
// It releases a private optimum, by objective perturbation with Gaussian noise and
// an approximate minimum (Kifer, Smith, Thakurta 2012; Iyengar et al. 2019), and
// the Hessian there with Gaussian noise. The optimum then is a noisy observation
// of the coefficients, through the score there, whose noise is the sampling error
// plus the known privacy noise; the posterior combines it with the prior, and with
// what the noisy Hessian says of the features (package surrogates). It is near the
// Laplace approximation when ε is large, and the prior when ε is small.
//
// The guarantee is unconditional, with a proof of its own
// (docs/proofs/ops-laplaceapprox.md): the cost is that of a Gaussian mechanism at
// δ/1.15 plus the determinant's log(1 + R²/4Λ). Over n of 500
// and 2000, d from 2 to 6 and ε from 0.2 to 5, intervals of 90% hold .85 to .95 of truths from
// a prior of standard deviation 3, .91 of all; the mean is nearer than the optimum in most
// of these cells, and in none measurably farther (docs/ops.md). Name the intercept in
// Config.Columns: a posterior that does not know of it is worse.
package laplaceapprox
