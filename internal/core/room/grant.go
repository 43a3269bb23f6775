package room

// Proof: docs/proofs/curator.md.

import (
	"errors"
	"sync/atomic"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/noise"
)

// open returns the grant of releases that have been charged.
func (r *Room) open(event accountant.Event, count int64) *Grant {
	r.mu.Lock()
	defer r.mu.Unlock()
	// Two streams a grant: what is published (moves) and what is secret.
	public, secret := r.root.Derive(2*r.grants), r.root.Derive(2*r.grants+1)
	r.grants++
	return &Grant{event: event, left: count, public: public, secret: secret, track: r.track()}
}

// Grant is a prepaid number of releases of one mechanism on one room's records. It is
// handed out inside a pointer and never copied.
type Grant struct {
	event          accountant.Event
	left           int64
	public, secret *noise.Source
	track          Track
	busy           atomic.Bool
}

// Track sees what a grant releases, and may replace it by what was released before:
// for the library's own tests.
type Track interface {
	Values(v []float64)
	Bit(b bool) bool
}

type untracked struct{}

func (untracked) Values([]float64) {}
func (untracked) Bit(b bool) bool  { return b }

// ErrSpent is returned by a release after the last one that was paid for.
var ErrSpent = errors.New("curator: every release of this grant has been used; ask for a new grant")

// ErrBusy is returned by a release that is asked for while another one of the same
// grant is under way: from another goroutine, or from the function that Move calls.
var ErrBusy = errors.New("curator: a release of this grant is under way; ask for the next one when it has returned")

// Enter begins a release, during which no other can: they share buffers, and a
// move that is drawn must be the one that is decided. Leave ends it.
func (g *Grant) Enter() error {
	if !g.busy.CompareAndSwap(false, true) {
		return ErrBusy
	}
	return nil
}

// Leave ends a release.
func (g *Grant) Leave() { g.busy.Store(false) }

// Take uses up one release.
func (g *Grant) Take() error {
	if g.left == 0 {
		return ErrSpent
	}
	g.left--
	return nil
}

// Left is the number of releases still paid for and unused.
func (g *Grant) Left() int64 { return g.left }

// Event is the price of one release.
func (g *Grant) Event() accountant.Event { return g.event }

// Public is the generator of what the grant publishes itself, such as moves.
func (g *Grant) Public() *noise.Source { return g.public }

// Secret is the generator of what it keeps, such as batches.
func (g *Grant) Secret() *noise.Source { return g.secret }
