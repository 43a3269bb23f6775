package methods

import (
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/ops"
)

// Noise is where a run's randomness comes from. The zero value is the operating
// system, for private data.
type Noise struct {
	seeded bool
	seed   [32]byte
}

// Seeded is the repeatable randomness of a seed. What is released with it is not
// private.
func Seeded(seed [32]byte) Noise { return Noise{seeded: true, seed: seed} }

// Insecure reports whether the randomness comes from a seed.
func (n Noise) Insecure() bool { return n.seeded }

// key derives the key of one purpose.
func (n Noise) key(purpose string) (key [32]byte) {
	if !n.seeded {
		_, _ = crand.Read(key[:]) // never fails: it ends the program instead
		return key
	}
	return sha256.Sum256(append(n.seed[:], purpose...))
}

// source is the randomness that protects the records.
func (n Noise) source() (*ops.Source, error) {
	if n.seeded {
		return ops.NewInsecureSource(n.key("noise")), nil
	}
	return ops.NewSource()
}

// options are those of a curator of the run's records.
func (n Noise) options() []curator.Option {
	if !n.seeded {
		return nil
	}
	key := n.key("curator")
	return []curator.Option{curator.InsecureSeed(binary.LittleEndian.Uint64(key[:]))}
}

// public seeds what protects nothing: proposals, and post-processing.
func (n Noise) public() uint64 {
	key := n.key("public")
	return binary.LittleEndian.Uint64(key[:])
}

// rand is a generator for what protects nothing.
func (n Noise) rand() *rand.Rand { return rand.New(rand.NewChaCha8(n.key("public generator"))) }
