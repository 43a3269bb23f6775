// Package curator is the locked room: it owns the sealed records and their
// privacy budget, and nothing else in the library can see a record.
//
// # Guarantee
//
// Everything a curator ever hands out, taken together and whatever the caller
// does with its grants, is (ε, δ)-differentially private for the ε, δ and adjacency
// of the budget it was sealed with. The guarantee is unconditional: it does
// not depend on a chain having converged, on a target being right about its
// own bounds, or on a sampler being correct. It holds because
//
//   - every mechanism is priced by the curator from what the curator itself
//     enforces (clip, noise, batch scheme, the law of the move), and the price
//     of all its releases is charged before the first one touches a record;
//   - contributions are clipped one record at a time, rounded to a public
//     power-of-two grid and summed as integers, so the sensitivity that was
//     charged is exact, rounding and order of summation included;
//   - noise is exact on that grid, and bits are drawn by comparing a uniform
//     with a probability whose rounding error is charged;
//   - after sealing, no error, panic or running count depends on the records.
//
// The proofs are in docs/proofs/curator.md and docs/proofs/accountant-*.md.
//
// # What the caller must hold
//
// The number of rows one person may contribute, the norm bound, and every setting
// of a sampler are public and chosen without looking at the records. The price of a
// grant, and the number of its releases, do not depend on what earlier ones
// released, unless the budget has an Order; the states, moves and shapes that it is
// used on may, in any way. What is
// assumed of a target that is not the library's own is targets.Assumed. A running
// machine is not copied: copies repeat its noise.
//
// The number of rows sealed is public under both adjacencies: Facts reports it, and
// samplers choose batches from it. Add/remove then compares tables of one size,
// in one of which a person's rows count but contribute nothing.
//
// Wall-clock time, memory traffic and the records' own process are outside the
// guarantee: do not let an adversary time a curator.
//
// # Use
//
// Seal the records with a budget, Charge it for releases of one kind (or Grant
// several kinds as one), and draw against the grant. Samplers do the latter two; an analyst only seals.
package curator
