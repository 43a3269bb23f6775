// Package tunamh samples with exact minibatches: Barker's test on a random part
// of the records, whose stationary law is nevertheless the tempered posterior
// itself, with no batch noise to correct for and no estimate of a variance. It
// follows TunaMH (Zhang, Cooper and De Sa 2020) in what makes that possible, a
// bound on every record's part of a move, and is what DP-Fast MH (Zhang and
// Zhang 2023) set out to be.
//
// In place of draws with replacement each record is used or not, once, so that
// a record drawn several times is no concern; bounds are public and the same for
// all records, so that the law of the batch says nothing of them; and nothing is
// released but the decision, on which no branch but the chain's own depends.
// A step costs close to what Barker's test on the full data does, whatever the
// rate: the batch saves computation.
//
// # Choosing the rate
//
// With I = −log(1−Rate), a step reads Rate·N records. Its log-odds get a variance
// of about Σr²/(I−B/2), r being the records' log-likelihood ratios and B the bound
// of the move, which slows the chain when it exceeds 1. A record of bound b costs
// what one of b + b²/(I−B) would in Barker's test, B being the bound of the longest
// move that is not refused; I must be at least 2B. Small moves make small rates
// possible.
//
// Proofs: docs/proofs/tunamh.md.
package tunamh
