package curator

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/noise"
	"github.com/dpmcmc/dpmcmc/internal/record"
)

// Records is a table to be sealed. Seal copies it, unless it is Shared.
type Records struct {
	// X holds the features of N records, row-major, N×Features; nil without features.
	X []float64
	// X32 holds the features in single precision, instead of X. For shared tables only.
	X32 []float32
	// Shared says that the table is too large to be copied, such as a mapped file. Its
	// rows are copied and projected each time they are read instead. So whoever writes to
	// it during a run can bias the result, and cannot make a release cost more than was
	// charged. It must stay readable, at the same length, as long as the curator is used.
	Shared bool
	// Features is the number of columns of X. 0 is for models of a response alone.
	Features int
	// Y holds one response for each record, or is nil for models without one.
	// Required where there are no features.
	Y []float64
	// Radius is the public bound on the Euclidean norm of a row of X; rows
	// outside are projected onto it at sealing. Zero means that no bound is
	// enforced, and certificates that need one are not available.
	Radius float64
	// RowsPerPerson is the largest number of rows one person may have
	// contributed. Defaults to 1. Costs scale with it.
	RowsPerPerson int
}

// Facts is what is public about sealed records: all that a mechanism's price
// may depend on.
type Facts struct {
	// Records is the number of rows; public, under add/remove too (see the package
	// comment for what that leaves to protect).
	Records int64
	// Features is the number of features of a record.
	Features int
	// Response reports whether records carry a response.
	Response bool
	// Radius is the enforced bound on the norm of a feature row; 0 for none.
	Radius float64
	// RowsPerPerson is the number of rows that one person may own; at least 1.
	RowsPerPerson int
	// Adjacency is the neighbouring relation that costs are stated under.
	Adjacency accountant.Adjacency
}

// Curator owns sealed records and the budget that pays for every look at them.
// It is safe for concurrent use; a grant belongs to one goroutine at a time, and
// refuses another with ErrBusy.
type Curator struct {
	facts  Facts
	set    *record.Set
	budget *accountant.Budget
	root   *noise.Source
	track  func() track

	mu     sync.Mutex // guards grants and the root source's derivation order
	grants uint64
}

// Option changes how records are sealed.
type Option func(*Curator)

// Seal copies the records into a new curator whose releases are paid from
// budget. Errors name a shape or a setting, never a value of a record: records
// that are not finite are accepted and contribute as if clipped or zero.
func Seal(r Records, budget *accountant.Budget, opts ...Option) (*Curator, error) {
	if budget == nil {
		return nil, errors.New("curator: Seal was given no budget; make one with accountant.NewBudget")
	}
	facts, err := r.facts(budget.Config().Adjacency)
	if err != nil {
		return nil, err
	}
	c := &Curator{facts: facts, budget: budget, track: func() track { return untracked{} }}
	for _, o := range opts {
		o(c)
	}
	if c.root == nil {
		if c.root, err = noise.NewSource(); err != nil {
			return nil, fmt.Errorf("curator: the operating system gave no randomness: %w", err)
		}
	}
	if c.set = record.Share(r.X, r.X32, r.Features, r.Y, int(facts.Records), facts.Radius); !r.Shared {
		c.set = record.New(r.X, r.Features, r.Y, int(facts.Records), facts.Radius)
	}
	return c, nil
}

// facts checks a table's shape and returns what is public about it.
func (r Records) facts(adj accountant.Adjacency) (Facts, error) {
	f := Facts{Features: r.Features, Response: r.Y != nil, Radius: r.Radius, RowsPerPerson: r.RowsPerPerson,
		Adjacency: adj}
	if f.RowsPerPerson == 0 {
		f.RowsPerPerson = 1
	}
	entries := len(r.X) + len(r.X32)
	switch {
	case r.X32 != nil && (r.X != nil || !r.Shared):
		return f, errors.New("curator: Records.X32 is given beside X, or without Shared; give one of X and X32, and X32 " +
			"of a shared table only")
	case r.Features < 0 || r.Features > mostParameters:
		return f, fmt.Errorf("curator: Records.Features is %d; it must be between 0 and %d", r.Features, mostParameters)
	case r.Features == 0 && (entries > 0 || r.Y == nil):
		return f, errors.New("curator: Records.Features is 0; records without features have responses and no X")
	case r.Features == 0:
		f.Records = int64(len(r.Y))
	case entries%r.Features != 0:
		return f, fmt.Errorf("curator: Records.X has %d values, not a multiple of the %d features", entries, r.Features)
	default:
		f.Records = int64(entries / r.Features)
	}
	if f.Records == 0 {
		return f, errors.New("curator: there are no records; at least 1 is needed")
	}
	switch {
	case f.Records > maxRecords:
		return f, fmt.Errorf("curator: %d records were given, at most %d are allowed", f.Records, int64(maxRecords))
	case r.Y != nil && int64(len(r.Y)) != f.Records:
		return f, fmt.Errorf("curator: Records.Y has %d responses for %d records", len(r.Y), f.Records)
	}
	return f, f.check()
}

// check reports settings that no table can have.
func (f Facts) check() error {
	switch {
	case f.Records < 1:
		return fmt.Errorf("curator: Facts.Records is %d; at least 1 is needed", f.Records)
	case f.Radius != 0 && !(f.Radius >= 1e-100 && f.Radius <= 1e100):
		return fmt.Errorf("curator: the radius is %v; give a norm bound between 1e-100 and 1e100, or 0 for none", f.Radius)
	case f.RowsPerPerson < 1 || int64(f.RowsPerPerson) > f.Records:
		return fmt.Errorf("curator: rows per person is %d; it must be between 1 and the %d records",
			f.RowsPerPerson, f.Records)
	case f.Adjacency != accountant.Substitute && f.Adjacency != accountant.AddRemove:
		return errors.New("curator: the adjacency is not stated; use accountant.Substitute or accountant.AddRemove")
	}
	return nil
}

// Facts returns what is public about the records.
func (c *Curator) Facts() Facts { return c.facts }

// Budget returns the budget that pays for releases; asking it never spends.
func (c *Curator) Budget() *accountant.Budget { return c.budget }

// Insecure reports whether releases are reproducible from a seed, and so not
// private.
func (c *Curator) Insecure() bool { return c.root.Insecure() }

// charge pays for count releases, or refuses.
func (c *Curator) charge(event accountant.Event, count int64) error {
	if err := c.budget.Charge(event, count); err != nil {
		return fmt.Errorf("curator: the grant was refused and nothing was read: %w", err)
	}
	return nil
}

// open returns the grant of releases that have been charged.
func (c *Curator) open(event accountant.Event, count int64) *grant {
	c.mu.Lock()
	defer c.mu.Unlock()
	// Two streams a grant: what is published (moves) and what is secret.
	public, secret := c.root.Derive(2*c.grants), c.root.Derive(2*c.grants+1)
	c.grants++
	return &grant{event: event, left: count, total: count, public: public, secret: secret, track: c.track()}
}

// grant is a prepaid number of releases of one mechanism on one curator's
// records. It is handed out inside a pointer and never copied.
type grant struct {
	event          accountant.Event
	left, total    int64
	public, secret *noise.Source
	track          track
	busy           atomic.Bool
}

// track sees what a grant releases, and may replace it by what was released before:
// for the library's own tests.
type track interface {
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

// enter begins a release, during which no other can: they share buffers, and a
// move that is drawn must be the one that is decided. leave ends it.
func (g *grant) enter() error {
	if !g.busy.CompareAndSwap(false, true) {
		return ErrBusy
	}
	return nil
}

func (g *grant) leave() { g.busy.Store(false) }

// take uses up one release.
func (g *grant) take() error {
	if g.left == 0 {
		return ErrSpent
	}
	g.left--
	return nil
}

// Left is the number of releases still paid for and unused.
func (g *grant) Left() int64 { return g.left }

// Event is the price of one release.
func (g *grant) Event() accountant.Event { return g.event }
