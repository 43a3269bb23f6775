// Package conjugate releases one draw from the posterior of a Beta-Bernoulli or
// Dirichlet-categorical model under Rényi differential privacy (Geumlek, Song,
// Chaudhuri 2017, Algorithms 1 to 3).
//
// Records are categories; what the mechanism sees of them are the counts, whose
// sum n is public. Adjacent data sets differ in one record, which moves one
// count to another category. The Direct posterior has a finite Rényi divergence
// only below the order 1 + min prior. Diffused shrinks the counts and
// Concentrated strengthens the prior, each by the least factor found that
// reaches a given (order, ε). Divergences are closed forms at the worst pair of
// adjacent posteriors, rounded up; docs/proofs/ops-conjugate.md shows which pairs
// can be worst.
//
// Draws are direct, not by Markov chain, but computed in float64, and nothing bounds how
// far that is from the exact law: the guarantee is conditional on exact sampling.
package conjugate
