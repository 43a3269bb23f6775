// Package ledger keeps what was spent on one group of people in one file, across
// runs, programs and crashes.
//
// # Guarantee
//
// A charge is on disk, fsynced, before it returns, and so before a curator opens the
// grant that it pays for. Nothing is ever refunded: what was charged and not used is
// forfeited. With a limit (ε, δ), everything charged to a ledger together is
// (ε, δ)-differentially private, although each run may have been chosen by looking at
// the results of earlier ones: charges are admitted by [accountant.Filter]. Without a
// limit the ledger reports what [accountant.Odometer] does, at any time.
// The proof is in docs/proofs/ledger.md.
//
// # What the caller must hold
//
// Every program that looks at these people charges this file, and nobody replaces it
// by an older copy. The file's hash chain shows damage and careless edits. It does not
// stop a person who may write the file and rewrites all of it. The file holds the key
// of its data files' fingerprints, so it is kept where the data are kept.
//
// # Use
//
//	l, err := ledger.Open("people.csv.ledger", ledger.Options{})
//	budget, err := l.Budget(accountant.BudgetConfig{…}, ledger.Note{Who: "ada"})
//	sealed, err := curator.Seal(records, budget)
//
// Several goroutines and several processes may charge one ledger. Charges that arrive
// together are committed together.
package ledger
