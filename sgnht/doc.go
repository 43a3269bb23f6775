// Package sgnht samples with the stochastic gradient Nosé–Hoover thermostat (Ding et
// al. 2014), driven by released gradients. Momentum and a friction that learns how much
// noise the gradients bring: the minibatch's, and what the privacy noise has too much.
//
// All that is released about the records is, in each step, one noisy sum of clipped
// gradients (curator.NoisyGradient), whose price is a Gaussian's, on the full data or on
// a minibatch. The price is unconditional: it holds for every step, converged or not.
//
// There is no acceptance test, so the chain is biased: by the step, to second order; by
// what clipping takes away; and by what of the minibatch's noise varies with θ.
// docs/proofs/dpsgld.md has the proof of the step and the measured figures. Package
// dpsgld has Langevin dynamics, which need no friction.
package sgnht
