// Package surrogates says what released statistics tell of a model's parameters. It
// is post-processing: it sees released values and public facts alone, so nothing here
// can cost privacy. What it can be is wrong, and its tests are about that.
//
// [Statistics] is the release at an anchor, a noisy score and noisy second moments, and
// [Score] the posterior given it. [Sums] are the noisy second moments of a linear
// regression with its response, and [Linear] the posterior given those. Both contain
// the noise of the release, so their intervals can be believed at every budget.
// [Sample] draws from either.
package surrogates
