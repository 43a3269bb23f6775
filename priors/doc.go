// Package priors holds distributions of parameters, which know nothing of data.
//
// A [Prior] is one of a vector of parameters: [Gaussian], [Laplace], [StudentT] and
// [Uniform] give every parameter the same law, and [Independent] each its own.
// [NormalScale] and [Horseshoe] have a spread that is unknown; it is integrated out, and
// drawn back from a released state at no cost (docs/proofs/hyperparameters.md).
//
// A [Scale] is one of a single positive number, such as a standard deviation:
// [HalfNormal], [HalfCauchy], [HalfStudentT] and [InverseGamma]. A [Dirichlet] is one of
// class probabilities.
//
// A prior of a caller's own is any type with the methods of [Prior] or [Scale]. Every
// prior of this package is immutable and safe for concurrent use.
package priors
