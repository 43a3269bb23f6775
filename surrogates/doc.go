// Package surrogates says what released statistics tell of a model's parameters. It
// is post-processing: it sees released values and public facts alone, so nothing here
// can cost privacy. What it can be is wrong, and its tests are about that.
//
// [Statistics] is the release at an anchor: a noisy score and noisy second moments.
// A posterior given them contains the noise of both.
package surrogates
