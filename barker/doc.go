// Package barker samples with Barker's acceptance test, the first private test
// of this library (Heikkilä et al. 2019) and still its cheapest: a move is
// accepted when its log posterior ratio plus standard logistic noise is
// positive, and the only thing released about the records is that bit.
//
// Not to be confused with the Barker proposal of Livingstone and Zanella
// (2022), which skews a proposal by the gradient: that is package barkerdynamics.
// Here Barker's name stands for the test.
//
// Three tests are offered:
//
//   - exact logistic noise (the default of curator.Test). On the full data
//     the chain's stationary law is exactly the tempered posterior, up to
//     clipping, which a certified target never needs. On minibatches the batch
//     noise adds to the logistic's and biases the chain by about 0.05 times the
//     batch variance of the log-odds (theory 5.3).
//   - Gaussian-mixture corrected noise (curator.Test.Corrected) on the full data:
//     the published decomposition, for comparison.
//   - the same on minibatches, where the correction absorbs the batch's own
//     noise (Heikkilä et al. 2019, §3.3, tempered by Temperature).
//
// The price of a step is that of an acceptance bit (docs/theory.md §2); the
// published accounting can be selected for comparison. It is unconditional: it
// holds for every step, whether or not the chain has converged.
package barker
