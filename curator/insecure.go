package curator

import (
	"github.com/dpmcmc/dpmcmc/internal/core/noise"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/internal/tape"
)

// InsecureSeed replaces the operating system's randomness by a stream anyone
// can reproduce from seed. Nothing released under it is private: it exists for
// tests and for demonstrations on public data. Insecure then reports true.
func InsecureSeed(seed uint64) Option {
	var key [32]byte
	for i := range 8 {
		key[i] = byte(seed >> (8 * i))
	}
	return func(s *sealing) { s.root = noise.NewInsecure(key) }
}

func init() {
	tape.Option = func(t *tape.Tape) any {
		return Option(func(s *sealing) { s.track = func() room.Track { return t.Track() } })
	}
}
