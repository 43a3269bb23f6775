// Package ops and the packages below it hold the published mechanisms that
// dpmcmc is compared with: one-posterior sampling and its relatives, each with
// the guarantee it really has and without the defects of the published code.
//
//	ops/conjugate      Geumlek et al. 2017: direct, diffused and concentrated posteriors of Beta and Dirichlet models
//	ops/posterior      one exact draw of a generalised posterior: β-divergence, Gibbs, truncated prior, Minami,
//	                   Geumlek's GLM
//	ops/chaudhuri      output and objective perturbation of regularised logistic regression
//	ops/suffstat       sufficient-statistic perturbation
//	ops/laplaceapprox  a private optimum with a noisy Hessian: a Gaussian posterior that knows of its noise
//	ops/dpsgd          stochastic gradient descent with Poisson batches
//	ops/perfect        perfect sampling by an artificial atom and by rejection, for small problems
//	ops/nuts           a reference sampler, not private
//
// They are one-shot mechanisms over plain records ([targets.Rows]). The curator
// does not meter them: whoever calls one has spent what its Cost says. Cost is
// an [accountant.Event], so that several releases compose, and the [Guarantee]
// beside it names the theorem and whether it holds for whatever the program
// computes (Unconditional) or only for a sampler that has converged
// (Conditional).
//
// The adjacency is substitution throughout: the number of records is public.
// Randomness comes from a [Source], since here it is what protects the records.
// Values computed in floating point are rounded to a public grid before they are
// released; docs/ops.md says what that does and does not cover.
package ops
