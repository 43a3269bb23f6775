// Package penalty samples with the penalty algorithm (Ceperley and Dewing 1999;
// Yıldırım and Ermiş 2019): Gaussian noise of variance σ² is added to the
// log-likelihood ratio of a move, and the Metropolis test is taken at the noisy
// ratio less σ²/2. That correction makes detailed balance exact for every σ, so
// on the full data the stationary law is the tempered posterior, up to clipping,
// which a certified target never needs.
//
// Proposals are random walks of all coordinates, of one coordinate, or guided
// (Gustafson 1998): each coordinate keeps a direction while its moves are
// accepted.
//
// # Two prices
//
// What is released is a choice (Config.Accounting):
//
//   - decisions, the default: noise, correction and uniform stay with the
//     curator, and only the decision is released. It costs a third to a half of
//     the other for the same chain.
//   - "published": the noisy ratio itself is released, as in the papers, at
//     the price of a Gaussian, and the test is post-processing.
//
// # Choosing σ
//
// Fixed(σ²) is the same noise for every move. A larger one makes a lazier chain,
// which accepts 2Φ(−σ/2) of the moves between equally likely states, but each
// decision says less: a move made costs less, down to half of what Barker's test
// pays (theory 2.5). Scaled(m) is noise in proportion to what a record can
// contribute to the move at hand, so that every move has the same published
// price and short ones are decided sharply.
//
// # Minibatches
//
// On batches the batch's own noise takes the place of a part of σ², so that it
// does not bias the chain (theory 2.6), as far as it is normal and below σ²/2.
// That makes decisions steeper, and dearer than Barker's: prefer package barker
// for batches, or tunamh where exactness matters.
//
// Proofs: docs/proofs/penalty.md.
package penalty
