package room

// Proof: docs/proofs/curator.md.

import (
	"errors"
	"fmt"
	"sync"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/noise"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// Facts is what is public about sealed records: see curator.Facts.
type Facts struct {
	Records       int64
	Features      int
	Response      bool
	Radius        float64
	RowsPerPerson int
	Adjacency     accountant.Adjacency
}

// Room owns sealed records and the budget that pays for every look at them. It is
// safe for concurrent use.
type Room struct {
	facts  Facts
	set    *record.Set
	budget *accountant.Budget
	root   *noise.Source
	track  func() Track

	mu     sync.Mutex // guards grants and the root source's derivation order
	grants uint64
}

// Seal returns a room whose releases are paid from budget. Noise comes from root, or
// where that is nil from the operating system; grants are seen by tracks, or where
// track is nil by none. Errors name a shape or a setting, never a value of a record:
// records that are not finite contribute as if clipped or zero.
func Seal(set *record.Set, rowsPerPerson int, budget *accountant.Budget, root *noise.Source,
	track func() Track) (*Room, error) {
	facts := Facts{Records: int64(set.Len()), Features: set.Features(), Response: set.Response(), Radius: set.Radius(),
		RowsPerPerson: rowsPerPerson, Adjacency: budget.Config().Adjacency}
	if err := facts.Check(); err != nil {
		return nil, err
	}
	if root == nil {
		var err error
		if root, err = noise.NewSource(); err != nil {
			return nil, fmt.Errorf("curator: the operating system gave no randomness: %w", err)
		}
	}
	if track == nil {
		track = func() Track { return untracked{} }
	}
	return &Room{facts: facts, set: set, budget: budget, root: root, track: track}, nil
}

// Check reports settings that no table can have.
func (f Facts) Check() error {
	switch {
	case f.Records < 1 || f.Records > maxRecords:
		return fmt.Errorf("curator: there are %d records; between 1 and %d are allowed", f.Records, int64(maxRecords))
	case f.Features < 0 || f.Features > MostParameters:
		return fmt.Errorf("curator: there are %d features; between 0 and %d are allowed", f.Features, MostParameters)
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
func (r *Room) Facts() Facts { return r.facts }

// Insecure reports whether releases are reproducible from a seed, and so not
// private.
func (r *Room) Insecure() bool { return r.root.Insecure() }
