// Package noise holds the exact samplers: the only place from which
// randomness that protects a record may come (docs/theory.md, section 4).
//
// A [Source] is a ChaCha8 stream keyed by the operating system. On it stand
//
//   - [DiscreteGaussian]: noise for integer sums, exactly discrete Gaussian;
//   - [Bernoulli] and [Bit]: an acceptance bit, exact for the given float64,
//     with [Logistic] to compute a probability without losing its small side;
//   - [Uint64n]: an unbiased bounded integer;
//   - [StandardNormal]: public moves, from any generator, exact on a grid too. As
//     noise it is worth what the proof of the mechanism that adds it says.
//
// Exact means that the law of the output, given uniform random words, is the
// stated one and not an approximation to it: floating point decides nothing,
// and a comparison that fixed precision cannot settle is repeated with more
// random bits and more digits until it is. The one exception is stated with a
// bound: DiscreteGaussian leaves out values beyond 5000 standard deviations. The
// proofs are in docs/proofs/noise.md, in the order of the code.
//
// The running time of a draw depends on the random words it used and, for a
// rejection, on how many were needed: it says something about the magnitude of
// the noise to whoever can time single draws inside the process. That observer
// is outside the threat model. [Bernoulli] takes one word and the same path
// whatever the probability, except with chance 2^-64.
//
// Nothing here may be used by two goroutines at once, except that a
// DiscreteGaussian is immutable: goroutines that each have their own Source may
// share it.
package noise
