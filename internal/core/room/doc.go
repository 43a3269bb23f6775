// Package room seals records, charges for looks at them, and releases what was
// charged. It is tier 1 of the trusted code (SECURITY.md), and package curator what
// the rest of the library sees of it.
//
// A mechanism of package curator says what it enforces and what that costs, in a
// Request. Room.Grant charges first; then the mechanism has passes over the records,
// which clip one record at a time and return integer sums (Pass, VectorPass), and a
// Grant, through which alone something leaves: integers with exact noise
// (Grant.Noisy), or a bit (Grant.Logistic, Grant.Decide). docs/proofs/curator.md is
// the proof.
package room
