package targets

// Proof: docs/proofs/curator.md.

// Ours reports whether a target is one of this package's own, which are tested to
// write their destination alone and to read each record alone. The curator shows
// them the sealed records; every other target sees copies, one record at a time
// (docs/targets.md, "What remains assumed"). A type that embeds one is not one: a
// method of its own may do anything.
func Ours(t Target) bool {
	switch t := t.(type) {
	case *Remainder: // as far as what it wraps
		return Ours(t.base)
	case *Tangent: // the same
		return Ours(t.base)
	case *Regression, *Linear, *Heteroscedastic, *Softmax, *Network, *Mixture, *GaussianMean, *DirichletCategorical:
		return true
	}
	return false
}
