package noise

// Proof: docs/proofs/noise.md.

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	mathrand "math/rand/v2"
)

// words is what a sampler draws from: independent uniform 64-bit words. The
// exported samplers take a *Source, so that privacy noise cannot be drawn from
// anything weaker; their bodies take words, so that tests can script them.
type words interface{ Uint64() uint64 }

// Source is a stream of independent uniform 64-bit words: the ChaCha8 generator
// of math/rand/v2 (C2SP chacha8rand, which erases its key every 992 bytes), keyed
// with 256 bits. Make one with [NewSource]; the zero value panics when used.
//
// A Source is not safe for concurrent use: give each goroutine its own through
// [Source.Derive]. An accidental copy continues the same stream instead of
// repeating it.
type Source struct {
	stream   *mathrand.ChaCha8
	key      [32]byte // of the children; independent of the stream's key
	children map[uint64]struct{}
	insecure bool
}

var _ mathrand.Source = (*Source)(nil)

// NewSource returns a source keyed by the operating system's generator
// (crypto/rand). The error says that it could not be read.
func NewSource() (*Source, error) {
	var key [32]byte
	if _, err := io.ReadFull(rand.Reader, key[:]); err != nil {
		return nil, fmt.Errorf("noise: cannot read 32 bytes from the operating system's random generator: %w", err)
	}
	return newSource(key, false), nil
}

// NewInsecure returns the source determined by seed, for tests and for
// demonstrations on public data. Whoever knows the seed can subtract the
// noise, so nothing drawn from it protects anybody: it and every source
// derived from it report Insecure.
func NewInsecure(seed [32]byte) *Source { return newSource(seed, true) }

// newSource separates the root key into a key for the stream and one for the
// children, so that neither tells anything about the other.
func newSource(root [32]byte, insecure bool) *Source {
	return &Source{
		stream:   mathrand.NewChaCha8(expand(root, "stream")),
		key:      expand(root, "children"),
		children: make(map[uint64]struct{}),
		insecure: insecure,
	}
}

// expand is HKDF-Expand (RFC 5869) with SHA-256: a key for the purpose info.
func expand(key [32]byte, info string) [32]byte {
	out, err := hkdf.Expand(sha256.New, key[:], "dpmcmc noise "+info, 32)
	if err != nil {
		panic(fmt.Sprintf("noise: HKDF cannot give 32 bytes: %v", err))
	}
	return [32]byte(out)
}

// Uint64 returns the next word of the stream. It does not allocate.
func (s *Source) Uint64() uint64 { return s.stream.Uint64() }

// Derive returns the child stream with the given label. It depends on the
// source's key and the label alone, neither on what was drawn from s nor on the
// order of derivations, so the streams of parallel chains do not depend on
// scheduling. Deriving a label a second time would hand out the same noise
// twice, which reveals what it was added to: it panics.
func (s *Source) Derive(label uint64) *Source {
	if _, used := s.children[label]; used {
		panic(fmt.Sprintf("noise: stream %d was derived twice from one source, so its noise would repeat; use a new label",
			label))
	}
	s.children[label] = struct{}{}
	return newSource(expand(s.key, "child"+string(binary.BigEndian.AppendUint64(nil, label))), s.insecure)
}

// Insecure reports whether the stream can be reproduced from a seed, so that
// nothing drawn from it is private.
func (s *Source) Insecure() bool { return s.insecure }
