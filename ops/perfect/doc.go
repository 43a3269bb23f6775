// Package perfect draws exactly from a generalised posterior with a bounded loss,
// so that the guarantee of one-posterior sampling holds without the word
// "conditional": by rejection from the prior (Awan, Rao 2023). Regeneration at an
// artificial atom (Lee, Doucet, Łatuszyński 2014; Seeman, Reimherr, Slavković 2021) is
// never cheaper (docs/proofs/ops-perfect.md); this package's tests measure it.
//
// That is for small problems. One draw at ε takes up to about e^(nε/2) passes
// over the n records in the worst case; docs/ops.md has measurements. That is the
// finding, not a defect of this code: everything an exact sampler may use of the
// records without a further privacy cost is the bound on their losses.
//
// Exact samplers stop when the data let them, so the running time tells about the
// records, and no bound on its privacy exists (Awan, Rao 2023). [NewRejection]
// with a fixed number of proposals always makes all of them, at the price of a δ;
// without it the caller must hide the running time.
package perfect
