package targets

// Proof: docs/proofs/curator.md.

// config describes a target of type T.
type config[T Target] interface{ build() (T, error) }

// New returns the target that a config of this package describes, such as a
// [RegressionConfig] or a [MixtureConfig]. It returns an error when a required field is
// missing or one is out of range.
func New[T Target](cfg config[T]) (T, error) {
	t, err := cfg.build()
	if err != nil {
		var none T
		return none, err
	}
	return t, nil
}
