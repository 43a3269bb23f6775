// Package tune chooses a chain's settings on simulated data: what (ε, δ) buys at
// the public facts of a table, before a record of it is touched.
//
// Run draws coefficients from the prior (or with a stated scale), simulates tables
// of the stated shape, seals them into curators of their own with the stated
// budget, and runs private chains on them exactly as they would run on the records.
// It compares kernels and, kernel by kernel, the settings that package chains
// leaves open: the number of iterations, and with it the step or the noise; batches;
// variances; clips; the lengths of trajectories and moves; frictions. Nothing in its
// API can hold a private record, so what it chooses costs no privacy.
//
// # What is measured
//
// A non-private sampler (ops/nuts) draws from the same simulated posterior. Its
// means and standard deviations are the reference:
//
//   - The search starts chains at a draw of the reference and measures mean
//     squared displacements. With v the reference's variance, a displacement of
//     m at lag k puts the autocorrelation at 1 − m/2v, and so the autocorrelation
//     time at τ ≈ −2k/log(1 − m/2v), even of a chain that is far too slow for an
//     effective sample size to be estimated from its own draws.
//   - Finalists, a kernel's defaults among them, run their whole chains from where
//     a real one would start, leave out the warm-up, and report predicted bulk ESS,
//     the error of the mean in posterior standard deviations, and the ratio of
//     the standard deviations. A mean that is e standard deviations off is worth
//     at most 9/e² draws, whatever the displacements say.
//
// # What is not tuned
//
// The temperature and the loss change the posterior that is sampled. They are the
// caller's choice: Run compares those that it is given, and no others. Effective
// sample sizes of different posteriors say nothing about which one to want.
//
// Results depend on the Config alone, the seed included, and not on the number of
// workers.
package tune
