// Package dpsgld samples with Langevin dynamics driven by released gradients
// (Welling and Teh 2011, Li et al. 2019). Package sgnht has the thermostat that
// absorbs noise of unknown size. All that is released about the records is, in each
// step, one noisy sum of clipped gradients (curator.NoisyGradient), whose price is a
// Gaussian's, on the full data or on a minibatch.
//
// # Drift and noise
//
// A step is θ ← θ + (h/2)·∇log π(θ) + N(0, h), whose stationary law
// tends to the posterior as h → 0. Published private implementations step
// θ ← θ + h·∇log π(θ) + N(0, h) and so sample from the posterior squared, with
// half its variance (theory 2.8); Config.AsPublished does the same, for
// comparison only.
//
// The privacy noise counts toward the Langevin noise: of the variance h of a
// step, (h/2)²s² comes with the gradient, whose noise has standard deviation s,
// and the rest is topped up from public randomness. When h > 4/s² the privacy
// noise alone is too much; New refuses that, naming the largest step that is
// allowed, unless Config.Hot says to go on: the chain then samples, to first
// order in h, at the temperature h·s²/4 > 1.
//
// # Bias
//
// There is no acceptance test, so the chain is biased: by the step, by
// what clipping takes away, and, on minibatches, by the batch's own noise, which
// is not counted since its size is not public. For a Gaussian posterior of
// curvature λ the stationary variance is 1/(λ(1 − hλ/4)) exactly;
// docs/proofs/dpsgld.md has the proof and the measured figures. The price is
// unconditional: it holds for every step, converged or not.
package dpsgld
