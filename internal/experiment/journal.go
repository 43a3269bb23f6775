package experiment

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/dpmcmc/dpmcmc/internal/durable"
)

// journalFile is where a run writes what it finished, one JSON value a line.
const journalFile = "journal.jsonl"

// entry is one line of the journal; one of its parts is set.
type entry struct {
	// Fingerprint is that of the experiment, on the first line.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Reserved, beside it, says that all cells were charged before.
	Reserved *Reservation `json:"reserved,omitempty"`
	// Start names a cell on private data that is about to look at the records: from
	// here on it counts.
	Start string `json:"start,omitempty"`
	// Cell is a finished cell.
	Cell *journaled `json:"cell,omitempty"`
	// Reference is a non-private posterior that was sampled.
	Reference *ReferenceResult `json:"reference,omitempty"`
	// Measured is what tune measured, and Done ends the journal of a shard of it.
	Measured *measured `json:"measured,omitempty"`
	Done     bool      `json:"done,omitempty"`
}

// journaled is a result with its wall time, which results do not have.
type journaled struct {
	Result
	Seconds float64 `json:"seconds,omitempty"`
}

// journal is the state of a run on disk. Without a folder it is in memory only.
type journal struct {
	mu         sync.Mutex
	file       *os.File       // nil without a folder
	starts     map[string]int // how often a cell on private data began
	finished   map[string]*journaled
	references map[string]*ReferenceResult
	reserved   *Reservation // nil if nothing is
	measured   map[string][]float64
	done       int // shards of tune that are complete
}

func newJournal() *journal {
	return &journal{starts: map[string]int{}, finished: map[string]*journaled{}, references: map[string]*ReferenceResult{},
		measured: map[string][]float64{}}
}

// openJournal reads the journal of that name in a folder and makes it ready to go on,
// or begins one. A line that was cut off when a run was killed is dropped.
func openJournal(dir, name, fingerprint string) (*journal, error) {
	j := newJournal()
	if dir == "" {
		return j, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := durable.Lock(f); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w: wait for it, or choose another folder", path, err), f.Close())
	}
	j.file = f
	end, err := j.read(f, fingerprint)
	if err == nil {
		_, err = f.Seek(end, io.SeekStart)
	}
	if err == nil {
		err = f.Truncate(end)
	}
	if err == nil && end == 0 {
		err = j.append(entry{Fingerprint: fingerprint})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return j, nil
}

// read takes in all whole lines and returns where they end.
func (j *journal) read(r io.Reader, fingerprint string) (end int64, err error) {
	in := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return end, nil // whatever has no line break was cut off
		}
		if err != nil {
			return 0, err
		}
		var e entry
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil {
			return 0, fmt.Errorf("line %d is not one of a journal (%w); move the folder away", number, err)
		}
		if number == 1 && e.Fingerprint != fingerprint {
			return 0,
				errors.New("this folder holds another experiment, or other data: choose another folder, or remove this one")
		}
		j.take(e)
		end += int64(len(line))
	}
}

func (j *journal) take(e entry) {
	switch {
	case e.Reserved != nil:
		j.reserved = e.Reserved
	case e.Start != "":
		j.starts[e.Start]++
	case e.Cell != nil:
		j.finished[e.Cell.Cell] = e.Cell
	case e.Reference != nil:
		j.references[e.Reference.key()] = e.Reference
	case e.Measured != nil:
		j.measured[e.Measured.Name] = e.Measured.Figures
	case e.Done:
		j.done++
	}
}

// append writes an entry to disk before it returns.
func (j *journal) append(e entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.take(e)
	if j.file == nil {
		return nil
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	return j.file.Sync()
}

func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}

// has reports whether the journal has a non-private posterior.
func (j *journal) has(reference string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.references[reference] != nil
}
