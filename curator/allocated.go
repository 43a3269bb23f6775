package curator

// Proof: docs/proofs/allocation.md.

import (
	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/noise"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
)

// perCharge is the number of releases that are charged together.
func (b Batch) perCharge() int64 {
	if b.scheme() == allocatedBatch {
		return max(1, b.Steps)
	}
	return 1
}

// epochEvent prices an epoch of Gaussian releases as gaussianEvent does one, for one row a
// person (docs/proofs/allocation.md).
func epochEvent(f Facts, b Batch, multiplier float64, coordinates int) (accountant.Event, error) {
	sd := 2 * multiplier * (1 << room.GridBits) // in grid steps
	multiplier /= 1 + room.RelativeSlack
	if f.Adjacency == accountant.AddRemove {
		multiplier *= 2
	}
	return accountant.GridGaussian{NoiseMultiplier: multiplier, Coordinates: coordinates, Steps: sd}.
		Allocated(f.Adjacency, b.Steps)
}

// epoch puts records into batches, each into one.
type epoch struct {
	bins  []int32 // of each record
	index []int32 // records, batch by batch
	ends  []int   // of each batch in index
	begun int     // batches that were read
}

func newEpoch(records, batches int) *epoch {
	return &epoch{make([]int32, records), make([]int32, records), make([]int, batches), batches}
}

// unread is the number of batches not read yet.
func (e *epoch) unread() int64 { return int64(len(e.ends) - e.begun) }

// draw puts every record into a batch, uniformly and independently of the others.
func (e *epoch) draw(src *noise.Source) {
	clear(e.ends)
	for i := range e.bins {
		b := noise.Uint64n(src, uint64(len(e.ends)))
		e.bins[i] = int32(b)
		e.ends[b]++
	}
	// Ends become starts, and ends again as the batches fill.
	at := 0
	for b, size := range e.ends {
		e.ends[b] = at
		at += size
	}
	for i, b := range e.bins {
		e.index[e.ends[b]] = int32(i)
		e.ends[b]++
	}
	e.begun = 0
}

// next is the records of the next batch, which may be none.
func (e *epoch) next() []int32 {
	from := 0
	if e.begun > 0 {
		from = e.ends[e.begun-1]
	}
	to := e.ends[e.begun]
	e.begun++
	return e.index[from:to]
}
