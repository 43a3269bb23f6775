// Package batch draws minibatches of records: the exact binomial size of a Poisson
// batch, and uniform subsets. [Binomial] is within 2^-100 of its law in total
// variation, which whoever releases from a batch is charged for; [Subset] is exact.
// The proofs are in docs/proofs/noise.md, §8 and §9. A Binomial is immutable; nothing
// else here may be used by two goroutines at once.
package batch
