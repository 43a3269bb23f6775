// Package methods gives every way of learning from a table one shape, so that an
// experiment can run them side by side: private chains, the published mechanisms
// of ops, and the non-private posterior.
//
// A [Method] says what it is, which models it fits and which settings it has. New
// makes a [Mechanism] from a [Problem], which holds public facts only, and a
// [Budget]; the mechanism's Cost never exceeds the budget and is known before a
// record is read. Its Run reads the records once and returns a [Release].
//
// Where the randomness of a run comes from is the caller's choice, a [Noise]:
// the operating system's for private data, a seed for public data, whose results
// are then repeatable and not private.
package methods
