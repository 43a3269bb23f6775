// Package journal keeps what an interrupted run needs to go on: what it is, and how far
// each chain came. It is a file of lines that only grows, each with a checksum and
// fsynced before what it announces happens.
//
// Steps are reserved in blocks: a mark says that the steps up to Reserved are about to be
// made, from the state after Step. A run that is killed goes on from its last marks, and
// what was reserved and not marked as made is forfeited: to make a step again would be a
// second look at the records. What comes before the first step is announced in the same
// way, and so is a charge that makes the run longer.
package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/dpmcmc/dpmcmc/internal/durable"
)

// Version is that of the file's form.
const Version = 2

// Head says what a run is. Everything in it is public.
type Head struct {
	Version int `json:"version"`
	// Run identifies the run, in its ledger too.
	Run string `json:"run"`
	// Flags are the command's settings, as it reads them.
	Flags map[string]string `json:"flags"`
	// Settings are the chains', all chosen; Event is what the whole run was charged.
	Settings json.RawMessage `json:"settings"`
	Event    json.RawMessage `json:"event"`
	// Chains, Iterations and Thin are those of the run that was charged first.
	Chains     int   `json:"chains"`
	Iterations int64 `json:"iterations"`
	Thin       int64 `json:"thin"`
}

// Mark says how far a chain came.
type Mark struct {
	Chain int `json:"chain"`
	// Step counts the steps that the chain's path has, and Theta is the state after them.
	Step  int64     `json:"step"`
	Theta []float64 `json:"theta"`
	// Used counts the steps that were made or forfeited, and Reserved those that may be
	// made without another mark, both of what was charged for the chain.
	Used     int64 `json:"used"`
	Reserved int64 `json:"reserved"`
	// Memory is what the kernel keeps, and Stream the state of the public randomness.
	Memory []float64 `json:"memory,omitempty"`
	Stream []byte    `json:"stream,omitempty"`
}

// More says that a run was made longer.
type More struct {
	// Iterations is the number of steps of each chain from here on, and Event what the new
	// ones were charged.
	Iterations int64           `json:"iterations"`
	Event      json.RawMessage `json:"event"`
	// Epsilon is what the whole run may cost from here on.
	Epsilon float64 `json:"epsilon"`
}

// State is what a journal says.
type State struct {
	Head
	// Opening says that the releases before the first step may have been made, and Begun
	// what they said, once they have.
	Opening bool
	Begun   json.RawMessage
	// More are the times that the run was made longer.
	More []More
	// Marks are the newest, one a chain; nil for chains that have none.
	Marks []*Mark
	// Resumed has a mark for each time that the run went on, and Done says that it is
	// over.
	Resumed []string
	Done    bool
}

// Limit is the number of steps of each chain that were charged.
func (s State) Limit() int64 {
	if len(s.More) > 0 {
		return s.More[len(s.More)-1].Iterations
	}
	return s.Iterations
}

// line is one of the file's.
type line struct {
	Head    *Head           `json:"head,omitempty"`
	Opening bool            `json:"opening,omitempty"`
	Begun   json.RawMessage `json:"begun,omitempty"`
	Mark    *Mark           `json:"mark,omitempty"`
	More    *More           `json:"more,omitempty"`
	Resumed string          `json:"resumed,omitempty"`
	Done    bool            `json:"done,omitempty"`
}

// Journal is a journal that is being written. It is safe for concurrent use.
type Journal struct {
	mu   sync.Mutex
	path string
	file *os.File
	err  error // after a failure nothing more is announced
}

// ErrRunning says that another process is writing the journal.
var ErrRunning = errors.New("the run is still going, in another process")

// lock keeps other processes from going on with a run that is going.
func lock(f *os.File) error {
	err := durable.Lock(f)
	if errors.Is(err, durable.ErrLocked) {
		return ErrRunning
	}
	return err
}

// Create begins the journal of a run, in a folder that has none: Claim, then Begin.
func Create(path string, h Head) (*Journal, error) {
	j, err := Claim(path)
	if err != nil {
		return nil, err
	}
	if err := j.Begin(h); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// Claim takes a folder for a run that is about to be charged, so that no other one is charged for
// the same folder. Begin follows, or Drop. A claim that was killed is none. Errors: a folder that
// has a journal; ErrRunning where another process has a claim.
func Claim(path string) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	j := &Journal{path: path, file: f}
	if err := errors.Join(lock(f), j.unclaimed()); err != nil {
		return nil, errors.Join(fmt.Errorf("journal: %s: %w", path, err), f.Close())
	}
	return j, nil
}

// unclaimed reports a file that is somebody's journal, or that another claim has dropped.
func (j *Journal) unclaimed() error {
	mine, err1 := j.file.Stat()
	there, err2 := os.Stat(j.path)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if mine.Size() > 0 || !os.SameFile(mine, there) {
		return fs.ErrExist
	}
	return nil
}

// Begin writes what a run is, once it has been charged.
func (j *Journal) Begin(h Head) error {
	h.Version = Version
	return errors.Join(j.append(line{Head: &h}), durable.SyncDir(filepath.Dir(j.path)))
}

// Drop gives up a claim.
func (j *Journal) Drop() error { return errors.Join(os.Remove(j.path), j.Close()) }

// Resume reads a journal and goes on with it.
func Resume(path string) (*Journal, State, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, State{}, fmt.Errorf("journal: %w: give the folder of a run that was interrupted", err)
	}
	if err != nil {
		return nil, State{}, fmt.Errorf("journal: %w", err)
	}
	j := &Journal{path: path, file: f}
	s, err := j.begin()
	if err != nil {
		return nil, s, errors.Join(fmt.Errorf("journal: %s: %w", path, err), f.Close())
	}
	return j, s, nil
}

// begin reads the file under its lock and cuts off a torn line.
func (j *Journal) begin() (State, error) {
	if err := lock(j.file); err != nil {
		return State{}, err
	}
	text, err := os.ReadFile(j.path)
	if err != nil {
		return State{}, err
	}
	s, end, err := Parse(text)
	if err != nil {
		return s, err
	}
	if err := j.file.Truncate(int64(end)); err != nil {
		return s, err
	}
	_, err = j.file.Seek(int64(end), 0)
	return s, err
}

// Parse reads a journal's text. end is where its last whole line ends: what follows
// was being written when the run was killed, and was not announced.
func Parse(text []byte) (s State, end int, err error) {
	for number := 1; end < len(text); number++ {
		length := bytes.IndexByte(text[end:], '\n')
		if length < 0 {
			break // torn
		}
		l, err := decode(text[end : end+length])
		if err != nil {
			return s, end, fmt.Errorf("line %d is damaged: %w", number, err)
		}
		if err := s.apply(l); err != nil {
			return s, end, fmt.Errorf("line %d: %w", number, err)
		}
		end += length + 1
	}
	if s.Version == 0 {
		return s, end, errors.New("it has no first line: the run was killed before it began, and can be started again")
	}
	return s, end, nil
}

const mostSteps = 1 << 53 // of a chain

// apply adds a line to what a journal says.
func (s *State) apply(l line) error {
	switch {
	case l.Head != nil:
		if s.Version != 0 || l.Head.Version != Version {
			return fmt.Errorf("a head of version %d; this software reads one head of version %d", l.Head.Version, Version)
		}
		if l.Head.Chains < 1 || l.Head.Chains > 1<<20 || l.Head.Iterations < 1 || l.Head.Iterations > mostSteps ||
			l.Head.Thin < 1 {
			return fmt.Errorf("%d chains of %d steps, thinned by %d", l.Head.Chains, l.Head.Iterations, l.Head.Thin)
		}
		s.Head, s.Marks = *l.Head, make([]*Mark, l.Head.Chains)
	case s.Version == 0:
		return errors.New("the head is missing")
	case l.Opening:
		s.Opening = true
	case l.Begun != nil:
		s.Begun = l.Begun
	case l.More != nil:
		if l.More.Iterations <= s.Limit() || l.More.Iterations > mostSteps {
			return fmt.Errorf("a run of %d steps was made one of %d", s.Limit(), l.More.Iterations)
		}
		s.More, s.Done = append(s.More, *l.More), false
	case l.Mark != nil:
		m := l.Mark
		if m.Chain < 0 || m.Chain >= s.Chains || m.Step < 0 || m.Used < m.Step || m.Reserved < m.Used ||
			m.Reserved > s.Limit() {
			return fmt.Errorf("a mark that cannot be: chain %d at step %d, %d used and %d reserved", m.Chain, m.Step, m.Used,
				m.Reserved)
		}
		if old := s.Marks[m.Chain]; old != nil && (m.Step < old.Step || m.Used < old.Used) {
			return fmt.Errorf("chain %d goes back from step %d to %d", m.Chain, old.Step, m.Step)
		}
		s.Marks[m.Chain] = m
	case l.Resumed != "":
		s.Resumed = append(s.Resumed, l.Resumed)
	case l.Done:
		s.Done = true
	default:
		return errors.New("it says nothing")
	}
	return nil
}

// Mark announces steps. They may be made once it returned nil.
func (j *Journal) Mark(m Mark) error { return j.append(line{Mark: &m}) }

// Opening announces the releases before the first step, and Begun says what they were.
func (j *Journal) Opening() error { return j.append(line{Opening: true}) }

// Begun says what was released before the first step. No step may be made before it
// returned nil.
func (j *Journal) Begun(what json.RawMessage) error { return j.append(line{Begun: what}) }

// More says that the run has become longer, after that was charged.
func (j *Journal) More(m More) error { return j.append(line{More: &m}) }

// Resumed says that the run goes on, under a mark of its own, which is not empty.
func (j *Journal) Resumed(mark string) error { return j.append(line{Resumed: mark}) }

// Done says that the run is over.
func (j *Journal) Done() error { return j.append(line{Done: true}) }

// Close ends writing.
func (j *Journal) Close() error { return j.file.Close() }

func (j *Journal) append(l line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	text = fmt.Appendf(text, " %08x\n", crc32.ChecksumIEEE(text))
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	if _, err = j.file.Write(text); err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		j.err = fmt.Errorf("journal: %s: the next steps could not be announced and are not made: %w", j.path, err)
	}
	return j.err
}

func decode(text []byte) (l line, err error) {
	const checksum = 9 // a space and eight digits
	if len(text) <= checksum {
		return l, errors.New("it is too short")
	}
	body := text[:len(text)-checksum]
	if string(text[len(body):]) != fmt.Sprintf(" %08x", crc32.ChecksumIEEE(body)) {
		return l, errors.New("its checksum is another one")
	}
	return l, json.Unmarshal(body, &l)
}
