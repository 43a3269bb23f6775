package ops

import "github.com/dpmcmc/dpmcmc/internal/core/noise"

// Source is a stream of random words keyed by the operating system. Mechanisms
// take one because their randomness is their privacy. It is not safe for
// concurrent use.
type Source = noise.Source

// NewSource returns a source keyed by the operating system's generator.
func NewSource() (*Source, error) { return noise.NewSource() }

// NewInsecureSource returns the source determined by seed, for tests and for
// public data. Whoever knows the seed can undo the noise.
func NewInsecureSource(seed [32]byte) *Source { return noise.NewInsecure(seed) }
