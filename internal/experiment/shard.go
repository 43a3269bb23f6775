package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Shard is the part of an experiment's cells that one of Count processes runs.
type Shard struct {
	// Index is from 1 to Count.
	Index, Count int
}

// mostShards bounds their number; more than a sweep has cells would be idle.
const mostShards = 10_000

func (s Shard) check() error {
	if s.Count < 1 || s.Count > mostShards || s.Index < 1 || s.Index > s.Count {
		return fmt.Errorf("experiment: shard %d of %d; there are 1 to %d shards, counted from 1", s.Index, s.Count,
			mostShards)
	}
	return nil
}

// String is index/count.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// file is the shard's journal. The zero shard's is that of a run of all cells.
func (s Shard) file() string {
	if s == (Shard{}) {
		return journalFile
	}
	return fmt.Sprintf("journal-%d-of-%d.jsonl", s.Index, s.Count)
}

// of is the shard's share of cells: neighbours, which share data.
func (s Shard) of(cells []Cell) []Cell {
	return cells[(s.Index-1)*len(cells)/s.Count : s.Index*len(cells)/s.Count]
}

// Reservation is what the launcher of a sweep on private data has charged for all of
// its cells, once each. It stands in the journal of every shard.
type Reservation struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// ErrNotReserved refuses a shard on private data that nobody has charged.
var ErrNotReserved = errors.New("experiment: the cells of this shard are not reserved")

// Reserve charges all cells of a sweep on private data, before any process looks at a
// record, and leaves the journals of count shards in o.Dir, which say so. It is the one
// place that charges: a shard runs each of its reserved cells at most once, whatever
// interrupts it, and one without its journal none. A Reserve that is interrupted may
// have charged, and must be called again in another folder.
//
// Errors are those of Run; a folder that has journals.
func (p *Plan) Reserve(o RunOptions, count int) error {
	if err := (Shard{1, count}).check(); err != nil {
		return err
	}
	if !p.Private {
		return errors.New("experiment: public data need no reservation; run the shards")
	}
	if o.Epsilon == 0 || o.Delta == 0 {
		return p.noBudget()
	}
	if o.Dir == "" {
		return errors.New("experiment: a reservation needs a folder, which all shards share")
	}
	if held, err := filepath.Glob(filepath.Join(o.Dir, "journal*.jsonl")); err != nil || len(held) > 0 {
		return errors.Join(err, fmt.Errorf("experiment: %s has journals of a run: choose another folder", o.Dir))
	}
	fingerprint, err := p.fingerprint()
	if err != nil {
		return err
	}
	r := &runner{Plan: p, o: o}
	if err := r.cover(p.Cells); err != nil {
		return err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return err
	}
	if err := r.charge(p.Cells); err != nil {
		return err
	}
	for i := range count {
		s := Shard{i + 1, count}
		f, err := os.OpenFile(filepath.Join(o.Dir, s.file()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		j := &journal{file: f}
		err = j.append(entry{Fingerprint: fingerprint, Reserved: &Reservation{o.Epsilon, o.Delta}})
		if err := errors.Join(err, j.close()); err != nil {
			return err
		}
	}
	return nil
}

// RunShard runs the cells of a shard that no earlier run of it finished. It keeps a
// journal of its own in o.Dir, which Merge reads. On private data the cells must be
// reserved, o's budget and Charge are not looked at, and a cell that was interrupted
// after it had begun is lost.
func (p *Plan) RunShard(ctx context.Context, o RunOptions, s Shard) (err error) {
	if err := s.check(); err != nil {
		return err
	}
	if o.Dir == "" {
		return errors.New("experiment: a shard needs a folder, which all shards share")
	}
	if p.Private {
		_, err := os.Stat(filepath.Join(o.Dir, s.file()))
		if errors.Is(err, fs.ErrNotExist) {
			return ErrNotReserved
		} else if err != nil {
			return err
		}
	}
	share := *p
	share.Cells = s.of(p.Cells)
	r, _, err := share.open(o, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.journal.close()) }()
	if p.Private && r.journal.reserved == nil {
		return ErrNotReserved
	}
	fresh, again, _ := r.toRun()
	if p.Private {
		if err := r.lose(again, "interrupted after it was charged; a shard runs a reserved cell once"); err != nil {
			return err
		}
		again = nil
	}
	return r.finish(ctx, slices.Concat(again, fresh))
}

// Merge returns the results of a sweep whose shards have all finished, from their
// journals in dir: those of a run in one go, byte for byte but for wall times.
func (p *Plan) Merge(dir string) (*Results, error) {
	count, err := journals(dir, "journal")
	if err != nil {
		return nil, err
	}
	fingerprint, err := p.fingerprint()
	if err != nil {
		return nil, err
	}
	r := &runner{Plan: p, journal: newJournal(), begun: time.Now()}
	for i := range count {
		s := Shard{i + 1, count}
		if err := r.journal.include(filepath.Join(dir, s.file()), fingerprint); err != nil {
			return nil, err
		}
		left := 0
		for _, c := range s.of(p.Cells) {
			if r.journal.finished[c.ID] == nil {
				left++
			}
		}
		if left > 0 {
			return nil, fmt.Errorf("experiment: shard %v has %d runs to go: run it again", s, left)
		}
	}
	if p.Private {
		if r.journal.reserved == nil {
			return nil, ErrNotReserved
		}
		r.o.Epsilon, r.o.Delta = r.journal.reserved.Epsilon, r.journal.reserved.Delta
	}
	return r.results(fingerprint)
}

// journals is the number of shards whose journals are in dir, all of them.
func journals(dir, kind string) (count int, err error) {
	held, err := filepath.Glob(filepath.Join(dir, kind+"-*-of-*.jsonl"))
	if err != nil {
		return 0, err
	}
	if len(held) > 0 {
		first := 0
		if _, err := fmt.Sscanf(filepath.Base(held[0]), kind+"-%d-of-%d.jsonl", &first, &count); err != nil {
			return 0, fmt.Errorf("experiment: %s is no journal of a shard: move it away", held[0])
		}
	}
	if len(held) == 0 || len(held) != count {
		return 0, fmt.Errorf("experiment: %s has the journals of %d shards out of %d: run the others, or move those of "+
			"another sweep away", dir, len(held), count)
	}
	return count, nil
}

// include takes in the journal of a shard.
func (j *journal) include(path, fingerprint string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := j.read(f, fingerprint); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
