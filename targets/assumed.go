package targets

// Proof: docs/proofs/curator.md.

// Assumed is what the privacy of a chain still rests on when the target is not the
// library's own: everything else that it does is enforced by the curator
// (docs/proofs/curator.md §2). README.md, SECURITY.md, docs/targets.md and this
// package's comment carry the same list, which a test holds. Package proptest tests
// what of it can be tested.
const Assumed = "No call leaves anything of a record behind: in the target, in a global, in a goroutine, in a file " +
	"or on the network. It prints and logs nothing. " +
	"It does not end or crash the process, nor use up its memory. A panic, or the end of its goroutine, costs only the " +
	"record's contribution. It returns, on every record. " +
	"LogPrior, Dim, Shape and certificates look at no record."
