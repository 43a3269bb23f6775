// Package maintain holds what only this repository's maintainers run, and nothing that
// the library or its command needs:
//
//	reproduce    the figures and tables of docs/, from the papers' experiments and ours
//	mutation     deliberate defects, each of which a test has to notice
//	planted      targets, kernels and mechanisms with one defect each
//	rights       right targets and kernels of every package
//	power        how many of the planted defects package proptest detects
//	kills        what is left of a ledger when its runs are killed
//	posteriors   small posteriors with exact moments, for the tests of every sampler
//	surveys      tables of made-up people, for the tests of guides and commands
//	processor    the time that this process has used of its processors, for benchmarks
//	bigtable     simulated tables of any length, and passes over them timed
//	acceptfit    the coefficients of the corrected acceptance tests
package maintain
