package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpmcmc/dpmcmc/kernels"
)

// counter is a kernel whose state is the number of its path's steps. It makes releases
// that a world counts.
type counter struct {
	left     int64
	releases *int64
	fail     error
}

func (c *counter) Name() string { return "counter" }
func (c *counter) Dim() int     { return 1 }
func (c *counter) Left() int64  { return c.left }
func (c *counter) Init(theta []float64) (*kernels.State, error) {
	return &kernels.State{Theta: []float64{theta[0]}}, nil
}

func (c *counter) Step(_ *rand.Rand, s *kernels.State) (kernels.Info, error) {
	*c.releases++
	if c.fail != nil {
		return kernels.Info{}, c.fail
	}
	c.left--
	s.Theta[0]++
	s.Iteration++
	return kernels.Info{}, nil
}

var head = Head{Run: "r", Chains: 1, Iterations: 1000, Thin: 1}

// TestNoStepIsMadeTwice: a run that is killed at random moments, and stopped in order at
// others, makes no more releases than it was charged, however often it goes on; what it
// announced is never less than what it made, and its path is unbroken.
func TestNoStepIsMadeTwice(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 30 {
		path := filepath.Join(t.TempDir(), "journal")
		j, err := Create(path, head)
		if err != nil {
			t.Fatal(err)
		}
		releases, step, used, at := int64(0), int64(0), int64(0), 0.0
		forfeited := int64(0)
		for parts := 0; used < head.Iterations; parts++ {
			k := j.Reserve(0, kernels.Chain{Kernel: &counter{left: head.Iterations, releases: &releases}, Made: step}, used,
				head.Iterations, 37, func() error { return nil })
			s, _ := k.Init([]float64{at})
			for range rng.IntN(200) {
				if _, err := k.Step(nil, s); err != nil {
					break
				}
			}
			orderly := rng.IntN(2) == 0 && k.state != nil
			if orderly {
				if err := k.Stop(); err != nil {
					t.Fatal(err)
				}
			}
			if err := j.Close(); err != nil { // what a kill does, but for the lock
				t.Fatal(err)
			}
			var state State
			if j, state, err = Resume(path); err != nil {
				t.Fatal(err)
			}
			m := state.Marks[0]
			if m == nil {
				continue // killed before its first step
			}
			if releases > m.Reserved {
				t.Fatalf("%d releases were made and %d announced", releases, m.Reserved)
			}
			if m.Theta[0] != float64(m.Step) {
				t.Fatalf("the path is at %v after %d steps", m.Theta[0], m.Step)
			}
			if orderly && (m.Reserved != m.Used || m.Step != int64(s.Theta[0])) {
				t.Fatalf("an orderly stop forfeits: %+v at %v", m, s.Theta)
			}
			forfeited = m.Reserved - m.Step
			step, used, at, releases = m.Step, m.Reserved, m.Theta[0], m.Reserved
			if err := j.Resumed(fmt.Sprint("mark", parts)); err != nil {
				t.Fatal(err)
			}
		}
		if step+forfeited != head.Iterations {
			t.Errorf("trial %d: %d steps and %d forfeited of %d", trial, step, forfeited, head.Iterations)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTornFiles: whatever end of a journal is lost, the rest is read as it was, and
// whatever byte is changed before the last line, it is refused.
func TestTornFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, err := Create(path, head)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(5) {
		if err := j.Mark(Mark{Step: 10 * i, Used: 10 * i, Reserved: 10*i + 10, Theta: []float64{0.1}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(j.Resumed("mark"), j.Close()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(whole, '\n') + 1
	for cut := range len(whole) {
		s, end, err := Parse(whole[:cut])
		if (err == nil) != (cut >= first) || end > cut {
			t.Fatalf("cut to %d bytes: %v", cut, err)
		}
		if err == nil && bytes.Count(whole[:cut], []byte("\n")) > 1 && s.Marks[0] == nil {
			t.Fatalf("cut to %d bytes: the marks are lost", cut)
		}
	}
	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for i := range last {
		bad := bytes.Clone(whole)
		bad[i] ^= 1
		if _, _, err := Parse(bad); err == nil {
			t.Fatalf("byte %d was changed and nothing said", i)
		}
	}
}

// TestClaims: one run at a time is charged for a folder. A claim that was dropped or killed is none.
func TestClaims(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	first, err := Claim(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Claim(path); !errors.Is(err, ErrRunning) {
		t.Errorf("a folder was claimed twice: %v", err)
	}
	if err := first.Close(); err != nil { // as a kill does
		t.Fatal(err)
	}
	second, err := Claim(path)
	if err != nil {
		t.Fatalf("a claim that was killed is still one: %v", err)
	}
	if err := second.Drop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a claim that was dropped left a file: %v", err)
	}
	j, err := Create(path, head)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Claim(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the folder of a run was claimed: %v", err)
	}
}

// TestFailures: what cannot be announced is not made, and a step that fails is used up.
func TestFailures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, err := Create(path, head)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path, head); err == nil {
		t.Error("a journal was overwritten")
	}
	if _, _, err := Resume(path); !errors.Is(err, ErrRunning) {
		t.Errorf("a run that is going was taken over: %v", err)
	}
	releases := int64(0)
	full := errors.New("the disk is full")
	inner := &counter{left: 1000, releases: &releases}
	k := j.Reserve(0, kernels.Chain{Kernel: inner}, 0, 3, 2, func() error { return full })
	s, _ := k.Init([]float64{0})
	if _, err := k.Step(nil, s); !errors.Is(err, full) || releases != 0 {
		t.Errorf("%v, %d releases", err, releases)
	}
	k = j.Reserve(0, kernels.Chain{Kernel: inner}, 0, 3, 2, func() error { return nil })
	inner.fail = fmt.Errorf("no")
	if _, err := k.Step(nil, s); err == nil || k.used != 1 || k.step != 0 {
		t.Errorf("%v, %d used", err, k.used)
	}
	inner.fail = nil
	for range 2 {
		if _, err := k.Step(nil, s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := k.Step(nil, s); err == nil || releases != 3 {
		t.Errorf("%d releases of 3: %v", releases, err)
	}
	if err := j.file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Done(); err == nil {
		t.Error("a closed journal was written")
	}
	if err := j.Mark(Mark{}); err == nil {
		t.Error("after a failure more was announced")
	}
}

// FuzzParse: no text makes reading a journal panic, and what is accepted cannot be
// below what it said before.
func FuzzParse(f *testing.F) {
	path := filepath.Join(f.TempDir(), "journal")
	j, err := Create(path, head)
	if err != nil {
		f.Fatal(err)
	}
	if err := errors.Join(j.Opening(), j.Begun([]byte(`{"starts":[[1]]}`)),
		j.Mark(Mark{Used: 0, Reserved: 10, Theta: []float64{1}}), j.Resumed("mark"),
		j.Mark(Mark{Step: 5, Used: 10, Reserved: 12, Memory: []float64{2}, Stream: []byte("s")}), j.Done(),
		j.More(More{Iterations: 1200, Event: []byte(`{}`)}), j.Mark(Mark{Step: 5, Used: 1000, Reserved: 1100}),
		j.Close()); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte("{} 00000000\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, end, err := Parse(text)
		if end > len(text) || end < 0 {
			t.Fatalf("%d of %d bytes were read", end, len(text))
		}
		if err != nil {
			return
		}
		for _, m := range s.Marks {
			if m != nil && (m.Reserved > s.Limit() || m.Used > m.Reserved || m.Step > m.Used) {
				t.Fatalf("%+v", m)
			}
		}
	})
}

// BenchmarkMark is one announcement, with its fsync.
func BenchmarkMark(b *testing.B) {
	j, err := Create(filepath.Join(b.TempDir(), "journal"), Head{Run: "r", Chains: 1, Iterations: 1 << 60, Thin: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	theta := make([]float64, 10)
	n := int64(0)
	for b.Loop() {
		n++
		if err := j.Mark(Mark{Step: n, Used: n, Reserved: n + 1, Theta: theta}); err != nil {
			b.Fatal(err)
		}
	}
}
