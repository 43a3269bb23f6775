package curator

// Proof: docs/proofs/curator.md.

import (
	"errors"
	"fmt"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/noise"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
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

func (f Facts) check() error { return room.Facts(f).Check() }

// Curator owns sealed records and the budget that pays for every look at them.
// It is safe for concurrent use; a grant belongs to one goroutine at a time, and
// refuses another while a release is under way.
type Curator struct {
	room   *room.Room
	budget *accountant.Budget
}

// Option changes how records are sealed.
type Option func(*sealing)

// sealing is what options change.
type sealing struct {
	root  *noise.Source     // nil for the operating system's randomness
	track func() room.Track // nil for none
}

// Seal copies the records into a new curator whose releases are paid from
// budget. Errors name a shape or a setting, never a value of a record: records
// that are not finite are accepted and contribute as if clipped or zero.
func Seal(r Records, budget *accountant.Budget, opts ...Option) (*Curator, error) {
	var s sealing
	for _, o := range opts {
		o(&s)
	}
	if budget == nil {
		return nil, errors.New("curator: Seal was given no budget; make one with accountant.NewBudget")
	}
	f, err := r.facts(budget.Config().Adjacency)
	if err != nil {
		return nil, err
	}
	sealed, err := room.Seal(r.set(f), f.RowsPerPerson, budget, s.root, s.track)
	if err != nil {
		return nil, err
	}
	return &Curator{sealed, budget}, nil
}

// set is the table, copied unless it is shared.
func (r Records) set(f Facts) *record.Set {
	if r.Shared {
		return record.Share(r.X, r.X32, r.Features, r.Y, int(f.Records), f.Radius)
	}
	return record.New(r.X, r.Features, r.Y, int(f.Records), f.Radius)
}

// facts checks a table's shape and returns what is public about it.
func (r Records) facts(adj accountant.Adjacency) (Facts, error) {
	f := Facts{Features: r.Features, Response: r.Y != nil, Radius: r.Radius, RowsPerPerson: r.RowsPerPerson,
		Adjacency: adj}
	if r.RowsPerPerson == 0 {
		f.RowsPerPerson = 1
	}
	entries := len(r.X) + len(r.X32)
	switch {
	case r.X32 != nil && (r.X != nil || !r.Shared):
		return f, errors.New("curator: Records.X32 is given beside X, or without Shared; give one of X and X32, and X32 " +
			"of a shared table only")
	case r.Features < 0:
		return f, fmt.Errorf("curator: Records.Features is %d; it must be at least 0", r.Features)
	case r.Features == 0 && (entries > 0 || r.Y == nil):
		return f, errors.New("curator: Records.Features is 0; records without features have responses and no X")
	case r.Features == 0:
		f.Records = int64(len(r.Y))
	case entries%r.Features != 0:
		return f, fmt.Errorf("curator: Records.X has %d values, not a multiple of the %d features", entries, r.Features)
	default:
		f.Records = int64(entries / r.Features)
	}
	if r.Y != nil && int64(len(r.Y)) != f.Records {
		return f, fmt.Errorf("curator: Records.Y has %d responses for %d records", len(r.Y), f.Records)
	}
	return f, f.check()
}

// Facts returns what is public about the records.
func (c *Curator) Facts() Facts { return Facts(c.room.Facts()) }

// Budget returns the budget that pays for releases; asking it never spends.
func (c *Curator) Budget() *accountant.Budget { return c.budget }

// Insecure reports whether releases are reproducible from a seed, and so not
// private.
func (c *Curator) Insecure() bool { return c.room.Insecure() }

// Request is a grant that has not been paid for: see Grant.
type Request struct{ of room.Request }

// Grant charges several requests as one, all or nothing: a kernel whose step
// needs releases of two kinds never pays for the first and then finds that the
// budget does not cover the second. Errors: a mechanism or target that does not fit the
// records, or a budget that does not cover the releases (an
// *accountant.ExceededError, which says what was asked, spent and left); no
// record has been read in either case.
func (c *Curator) Grant(requests ...Request) error {
	if len(requests) == 0 {
		return errors.New("curator: Grant was given no requests")
	}
	inner := make([]room.Request, len(requests))
	for i, r := range requests {
		inner[i] = r.of
	}
	return c.room.Grant(inner...)
}

// mechanism is what a curator can be asked for: one of the types of this package that
// have an Event, whose grant is a G.
type mechanism[G grant] interface {
	// prepare prices a release, and builds the grant before anything is charged.
	prepare(Facts, *record.Set) (accountant.Event, G, error)
}

// grant is what releases once it has been paid for.
type grant interface{ pay(*room.Grant) }

// RequestFor asks for count releases of a mechanism: AcceptanceBit, ThinnedBit, NoisyGradient,
// NoisyRatio, GradientSigns, SecondMoment, Optimum or LastIterate. Grant sets *dst. For gradients
// with Batch.Steps, count must be a multiple of Steps.
func RequestFor[G grant](dst *G, m mechanism[G], count int64) Request {
	per := int64(1)
	if e, ok := m.(interface{ perCharge() int64 }); ok {
		per = e.perCharge()
	}
	return Request{room.Request{Count: count / per, Prepare: func(f room.Facts, set *record.Set) (accountant.Event,
		func(*room.Grant), error) {
		event, g, err := m.prepare(Facts(f), set)
		if err == nil && count%per != 0 {
			err = fmt.Errorf("curator: %d releases were asked for, of epochs of %d; ask for whole epochs", count, per)
		}
		return event, func(paid *room.Grant) { g.pay(paid); *dst = g }, err
	}}}
}

// Charge charges count releases of a mechanism, all at once, and returns the grant that
// makes them. Errors are those of Curator.Grant.
func Charge[G grant](c *Curator, m mechanism[G], count int64) (G, error) {
	var g G
	err := c.Grant(RequestFor(&g, m, count))
	return g, err
}

// prepaid is the part of a grant that every mechanism has.
type prepaid struct{ room *room.Grant }

func (p *prepaid) pay(g *room.Grant) { p.room = g }

// Left is the number of releases still paid for and unused.
func (p prepaid) Left() int64 { return p.room.Left() }

// Event is the price of one release.
func (p prepaid) Event() accountant.Event { return p.room.Event() }

// ErrSpent is returned by a release after the last one that was paid for.
var ErrSpent = room.ErrSpent
