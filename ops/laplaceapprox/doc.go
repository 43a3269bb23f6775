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
// δ/1.15 plus the determinant's log(1 + R²/4Λ). With d = 3, n = 2000, a prior of
// standard deviation 3 and truths from it, intervals of 90% cover .88, .89 and .88
// (± .03) at ε = 0.2, 1 and 5; the mean's error is .90 at ε = 1 where the optimum's is
// .77: take the optimum for a point, the posterior for its uncertainty.
package laplaceapprox
