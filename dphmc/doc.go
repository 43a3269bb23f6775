// Package dphmc samples with Hamiltonian trajectories along released gradients
// (DP-HMC; Räisä, Koskela and Honkela 2021) and an acceptance test that makes
// the chain exact.
//
// An iteration draws a momentum and a step size, follows L leapfrog steps whose
// forces are noisy sums of clipped gradients (curator.NoisyGradient), and then
// accepts or rejects the end point by
//
//   - one acceptance bit of Barker's test (BarkerBit, the default), or
//   - a released noisy log-likelihood ratio with the penalty method's
//     correction (PublishedPenalty), as published.
//
// # Exactness
//
// Clipping, noise and minibatches in the gradients do not bias the chain: for
// noise drawn independently of the state, a leapfrog trajectory is reversible
// and preserves volume whatever the force field is, and the test uses the true
// energies. The stationary law is exactly the tempered posterior as long as no
// record's log-likelihood ratio is clipped in the test: under a target's
// certificates none is (the range of its loss, a bound on its gradient, for the
// penalty also on the move at hand), and Config.RejectClipped turns away the moves
// where another one could be. See
// docs/proofs/dphmc.md.
//
// The gradient at the current point was released when the chain arrived there,
// and is used again (kL+1 gradients in k iterations instead of k(L+1));
// Config.FreshStart releases it anew, as published. A trajectory that stops
// being finite is rejected without a look at the data.
//
// The price is unconditional: it holds for every step, converged or not.
package dphmc
