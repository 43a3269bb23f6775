package curator

// Proof: docs/proofs/curator.md.

import (
	"fmt"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/batch"
	"github.com/dpmcmc/dpmcmc/internal/core/noise"
)

// Batch is how the records of one release are chosen. The zero value is the
// full data.
type Batch struct {
	// Rate, if not 0, includes each record independently with this probability, in (0, 1]. It is
	// cheaper than Size for the same expected number.
	Rate float64
	// Size, if not 0, draws that many records without replacement. It is refused under add/remove,
	// where it has no price.
	Size int64
	// Steps, if not 0, makes allocated batches (balls into bins): in each epoch of that many
	// releases every record is in exactly one, drawn uniformly and secretly. It is for
	// NoisyGradient alone, is priced by the epoch, and needs one row a person.
	Steps int64
}

type batchScheme uint8

const (
	fullData batchScheme = iota
	poissonBatch
	fixedBatch
	allocatedBatch
)

// scheme is what the fields say.
func (b Batch) scheme() batchScheme {
	switch {
	case b.Rate != 0:
		return poissonBatch
	case b.Size != 0:
		return fixedBatch
	case b.Steps != 0:
		return allocatedBatch
	}
	return fullData
}

// IsFull reports whether every record is used.
func (b Batch) IsFull() bool { return b.scheme() == fullData }

// String describes the batch.
func (b Batch) String() string {
	switch b.scheme() {
	case poissonBatch:
		return fmt.Sprintf("Poisson batches of rate %v", b.Rate)
	case fixedBatch:
		return fmt.Sprintf("fixed batches of %d records", b.Size)
	case allocatedBatch:
		return fmt.Sprintf("epochs of %d batches", b.Steps)
	}
	return "full data"
}

// check reports a batch that the facts do not allow.
func (b Batch) check(f Facts) error {
	switch {
	case b.Rate != 0 && (b.Size != 0 || b.Steps != 0) || b.Size != 0 && b.Steps != 0:
		return fmt.Errorf("curator: the batch has Rate %v, Size %d and Steps %d; give one of them", b.Rate, b.Size, b.Steps)
	case b.scheme() == poissonBatch && !(b.Rate > 0 && b.Rate <= 1):
		return fmt.Errorf("curator: the Poisson rate is %v; it must be in (0, 1]", b.Rate)
	case b.scheme() == fixedBatch && (b.Size < 1 || b.Size > f.Records):
		return fmt.Errorf("curator: the batch is %d records; it must be between 1 and the %d records sealed",
			b.Size, f.Records)
	case b.scheme() == allocatedBatch && (b.Steps < 1 || b.Steps > f.Records || f.RowsPerPerson != 1):
		return fmt.Errorf("curator: epochs of %d batches of %d records with %d rows a person; give 1 to as many as the "+
			"records, and records of one row a person", b.Steps, f.Records, f.RowsPerPerson)
	case b.scheme() == fixedBatch && f.Adjacency != accountant.Substitute:
		return fmt.Errorf("curator: fixed-size batches have a price under %v adjacency only, the budget's is %v; use "+
			"Poisson batches", accountant.Substitute, f.Adjacency)
	}
	return nil
}

// inverseRate is the factor 1/q that makes a batch sum an unbiased estimate of
// the full sum.
func (b Batch) inverseRate(f Facts) float64 {
	switch b.scheme() {
	case poissonBatch:
		return 1 / b.Rate
	case fixedBatch:
		return float64(f.Records) / float64(b.Size)
	case allocatedBatch:
		return float64(b.Steps)
	}
	return 1
}

// charge prices one release of an event stated for the whole of a batch: it
// adds what hiding a person inside the batch is worth. A person owns up to
// RowsPerPerson rows; the event already covers all of them being present, so
// the sampling rate that counts is the chance that any of them is
// (docs/proofs/curator.md, "Several rows a person").
func (b Batch) charge(f Facts, event accountant.Event) (accountant.Event, error) {
	k := int64(f.RowsPerPerson)
	switch b.scheme() {
	case poissonBatch:
		return event.PoissonSampled(min(1, float64(k)*b.Rate))
	case fixedBatch:
		return event.SubsetSampled(f.Records, min(f.Records, k*b.Size))
	case allocatedBatch:
		return accountant.Event{}, fmt.Errorf("curator: %v are for noisy gradients; use Poisson batches", b)
	}
	return event, nil
}

// sampler draws batches as lists of record numbers.
type sampler struct {
	size   *batch.Binomial // nil for fixed sizes
	fixed  int64
	subset *batch.Subset
	index  []int32
}

// newSampler returns a sampler for n records, or nil for the full data and for epochs.
func (b Batch) newSampler(n int) (*sampler, error) {
	if b.IsFull() || b.scheme() == allocatedBatch {
		return nil, nil
	}
	s := &sampler{fixed: b.Size}
	var err error
	if b.scheme() == poissonBatch {
		if s.size, err = batch.NewBinomial(int64(n), b.Rate); err != nil {
			return nil, err
		}
	}
	if s.subset, err = batch.NewSubset(n); err != nil {
		return nil, err
	}
	s.index = make([]int32, n)
	return s, nil
}

// draw returns the record numbers of a fresh batch, valid until the next draw.
func (s *sampler) draw(src *noise.Source) []int32 {
	m := s.fixed
	if s.size != nil {
		m = s.size.Sample(src)
	}
	index := s.index[:m]
	s.subset.Sample(src, index)
	return index
}
