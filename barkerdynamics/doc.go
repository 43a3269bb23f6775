// Package barkerdynamics samples with the proposal of Livingstone and Zanella (2022),
// which skews every coordinate's move by the gradient: of the records only the signs of
// the moves are released. Alone it is biased by its scale; under Barker's acceptance
// test, one bit more, it is exact up to clipping. Package barker has that test alone.
//
// docs/proofs/barker-dynamics.md has the price and the bias.
package barkerdynamics
