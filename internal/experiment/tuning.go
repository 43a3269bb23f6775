package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/dpmcmc/dpmcmc/tune"
)

// measured is what tune measured, under its name. In JSON the figures are texts, since some
// are infinite or NaN.
type measured struct {
	Name    string
	Figures []float64
}

type measuredText struct {
	Name    string   `json:"name"`
	Figures []string `json:"figures"`
}

func (m measured) MarshalJSON() ([]byte, error) {
	t := measuredText{Name: m.Name, Figures: make([]string, len(m.Figures))}
	for i, v := range m.Figures {
		t.Figures[i] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return json.Marshal(t)
}

func (m *measured) UnmarshalJSON(text []byte) error {
	var t measuredText
	if err := json.Unmarshal(text, &t); err != nil {
		return err
	}
	m.Name, m.Figures = t.Name, make([]float64, len(t.Figures))
	var err error
	for i, v := range t.Figures {
		if m.Figures[i], err = strconv.ParseFloat(v, 64); err != nil {
			return err
		}
	}
	return nil
}

// measurements are the part of a journal that tune sees.
type measurements struct{ *journal }

func (m measurements) Find(name string) []float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.journal.measured[name]
}

func (m measurements) Keep(name string, figures []float64) error {
	return m.append(entry{Measured: &measured{name, figures}})
}

// tuneJournal is the kind of file that shards of tune keep.
const tuneJournal = "tune"

func (s Shard) tuneFile() string {
	return fmt.Sprintf("%s-%d-of-%d.jsonl", tuneJournal, s.Index, s.Count)
}

// tuneFingerprint is the same for configs that give the same result.
func tuneFingerprint(c tune.Config) (string, error) {
	h := sha256.New()
	in := json.NewEncoder(h)
	for _, m := range c.Models {
		if err := in.Encode([]any{m.Name, m.Shape, m.Options}); err != nil {
			return "", err
		}
	}
	c.Models, c.Workers, c.Journal = nil, 0, nil
	err := in.Encode(c)
	return hex.EncodeToString(h.Sum(nil)), err
}

// TuneShard runs the searches of a shard of tune that no earlier run of it made. It keeps a
// journal of its own in dir, which MergeTune reads, and holds a lock on it.
func TuneShard(ctx context.Context, c tune.Config, dir string, s Shard) (err error) {
	if err := s.check(); err != nil {
		return err
	}
	if dir == "" {
		return errors.New("experiment: a shard needs a folder, which all shards share")
	}
	fingerprint, err := tuneFingerprint(c)
	if err != nil {
		return err
	}
	j, err := openJournal(dir, s.tuneFile(), fingerprint)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.close()) }()
	if j.done > 0 {
		return nil
	}
	c.Journal = measurements{j}
	if err := tune.RunShard(ctx, c, s.Index, s.Count); err != nil {
		return err
	}
	return j.append(entry{Done: true})
}

// MergeTune is tune.Run with what the shards in dir measured: it makes the finals, and gives
// the result of a run in one go. It refuses while a shard has searches to go.
func MergeTune(ctx context.Context, c tune.Config, dir string) (*tune.Result, error) {
	count, err := journals(dir, tuneJournal)
	if err != nil {
		return nil, err
	}
	fingerprint, err := tuneFingerprint(c)
	if err != nil {
		return nil, err
	}
	j := newJournal()
	for i := range count {
		s := Shard{i + 1, count}
		if err := j.include(filepath.Join(dir, s.tuneFile()), fingerprint); err != nil {
			return nil, err
		}
		if j.done != i+1 {
			return nil, fmt.Errorf("experiment: shard %v has searches to go: run it again", s)
		}
	}
	c.Journal = measurements{j}
	return tune.Run(ctx, c)
}
