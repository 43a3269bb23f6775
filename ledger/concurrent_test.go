package ledger

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// The test binary is also the other process: with this variable it charges a ledger
// and prints each charge that was acknowledged.
const childVariable = "DPMCMC_LEDGER_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childVariable); path != "" {
		os.Exit(child(path))
	}
	os.Exit(m.Run())
}

// child charges a ledger from as many goroutines and as often as it is told.
func child(path string) int {
	goroutines, _ := strconv.Atoi(os.Getenv("GOROUTINES"))
	each, _ := strconv.Atoi(os.Getenv("EACH"))
	l, err := Open(path, Options{})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	e, err := accountant.Gaussian(accountant.Substitute, 1000)
	if err != nil {
		return 1
	}
	var wg sync.WaitGroup
	var failed atomic.Bool
	for range goroutines {
		wg.Go(func() {
			for range each {
				_, err := l.Charge(e, 1, Note{Who: strconv.Itoa(os.Getpid())})
				var exceeded *accountant.ExceededError
				switch {
				case err == nil:
					os.Stdout.WriteString("charged\n") // one write, so that none is torn
				case !errors.As(err, &exceeded):
					fmt.Println(err)
					failed.Store(true)
					return
				}
			}
		})
	}
	wg.Wait()
	if failed.Load() {
		return 1
	}
	return 0
}

// output is what a process has printed. begun is closed when it prints first.
type output struct {
	strings.Builder
	once  sync.Once
	begun chan struct{}
}

func (o *output) Write(p []byte) (int, error) {
	o.once.Do(func() { close(o.begun) })
	return o.Builder.Write(p)
}

func start(t testing.TB, path string, goroutines, each int) (*exec.Cmd, *output) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childVariable+"="+path, "GOROUTINES="+strconv.Itoa(goroutines),
		"EACH="+strconv.Itoa(each))
	out := &output{begun: make(chan struct{})}
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, out
}

// TestProcessesShareALedger: what four processes were told is charged is what the
// ledger has, with and without a limit that runs out.
func TestProcessesShareALedger(t *testing.T) {
	goroutines, each := 4, 200
	if testing.Short() {
		each = 40
	}
	if n, err := strconv.Atoi(os.Getenv("DPMCMC_LEDGER_EACH")); err == nil {
		goroutines, each = 16, n // the full size of docs/ledger.md
	}
	for name, limit := range map[string]Limit{"counting": counting, "limited": limited(0.05)} {
		t.Run(name, func(t *testing.T) {
			l := create4(t, limit)
			begun := time.Now()
			var children []*exec.Cmd
			var outs []*output
			for range 4 {
				c, out := start(t, l.Path(), goroutines, each)
				children, outs = append(children, c), append(outs, out)
			}
			told := int64(0)
			for i, c := range children {
				if err := c.Wait(); err != nil {
					t.Fatalf("%v: %.500s", err, outs[i].String())
				}
				told += int64(strings.Count(outs[i].String(), "charged\n"))
			}
			took := time.Since(begun)
			r, err := l.Check()
			if err != nil || r.Charges != told || told == 0 {
				t.Fatalf("told %d, the ledger has %d, %v", told, r.Charges, err)
			}
			if limit.Epsilon > 0 {
				left, err := l.Remaining(*r.Last.Event)
				if err != nil || left != 0 || r.Last.TotalEpsilon > limit.Epsilon {
					t.Errorf("ε %v, %d left, %v", r.Last.TotalEpsilon, left, err)
				}
			} else if told != int64(4*goroutines*each) {
				t.Errorf("%d charges of %d", told, 4*goroutines*each)
			}
			t.Logf("%d requests, %d charges in %v: %.0f requests a second", 4*goroutines*each, told, took,
				float64(4*goroutines*each)/took.Seconds())
		})
	}
}

// TestKilledProcesses: whatever a process was told before kill −9 is in the ledger,
// and at most what each goroutine had under way is there besides.
func TestKilledProcesses(t *testing.T) {
	kills := 30
	if testing.Short() {
		kills = 6
	}
	l := create4(t, counting)
	rng := rand.New(rand.NewPCG(1, 2))
	told, most := int64(0), int64(0)
	const goroutines, processes = 4, 2
	for kill := range kills {
		var children []*exec.Cmd
		var outs []*output
		for range processes {
			c, out := start(t, l.Path(), goroutines, 1<<20)
			children, outs = append(children, c), append(outs, out)
		}
		if kill%2 == 0 { // the others may be killed before they charge anything
			<-outs[0].begun
		}
		time.Sleep(time.Duration(rng.IntN(60_000)) * time.Microsecond)
		for i, c := range children {
			if err := c.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait() // killed
			told += int64(strings.Count(outs[i].String(), "charged\n"))
			most += goroutines
		}
		r, err := l.Check()
		if err != nil {
			t.Fatalf("a kill damaged the ledger: %v", err)
		}
		if r.Charges < told || r.Charges > told+most {
			t.Fatalf("told %d, the ledger has %d", told, r.Charges)
		}
	}
	if told == 0 {
		t.Error("nothing was charged")
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(l.Path()), ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestGoroutinesShareABudget: one budget of one handle, charged and compacted at once.
func TestGoroutinesShareABudget(t *testing.T) {
	l := create4(t, limited(1))
	e := gaussian(t, 200)
	if _, err := l.Charge(e, 1, Note{}); err != nil {
		t.Fatal(err)
	}
	b, err := l.Budget(accountant.BudgetConfig{}, Note{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := l.Remaining(e)
	if err != nil {
		t.Fatal(err)
	}
	var charged atomic.Int64
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for b.Charge(e, 3) == nil {
				charged.Add(3)
				if i == 0 {
					if _, _, err := l.Compact(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	if got := charged.Load(); got > want || got < want-3*8 {
		t.Errorf("%d releases charged of %d that fit", got, want)
	}
	if n := last(t, l); n.Charges != charged.Load()/3+1 {
		t.Errorf("%d charges in the ledger, %d made", n.Charges, charged.Load()/3+1)
	}
	all, err := e.Times(charged.Load())
	if err != nil || !b.Events().Equal(all) {
		t.Errorf("the budget has %v, want %v", b.Events(), all)
	}
}

// TestWaiting: a held ledger is waited for, with a word about it, and given up on with
// an error that says so.
func TestWaiting(t *testing.T) {
	l := create4(t, counting)
	held, release := make(chan struct{}), make(chan struct{})
	go func() {
		_ = l.update(func(Entry, *writer) error { close(held); <-release; return nil })
	}()
	<-held
	const patience = time.Millisecond
	var busy *BusyError
	_, err := handle(l.Path(), Options{Patience: patience}).Charge(gaussian(t, 9), 1, Note{})
	if !errors.As(err, &busy) || busy.Waited < patience {
		t.Error(err)
	}
	said := make(chan time.Duration, 1000)
	m := handle(l.Path(), Options{Patience: time.Hour, Waiting: func(d time.Duration) { said <- d }})
	done := make(chan error)
	go func() { _, err := m.Charge(gaussian(t, 9), 1, Note{}); done <- err }()
	first := <-said
	time.Sleep(5 * longestWait) // attempts, of which nothing is said
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if close(said); first < sayAfter {
		t.Errorf("a message after %v", first)
	}
	for d := range said {
		if d < first+sayEvery {
			t.Errorf("messages after %v and %v", first, d)
		}
	}
	if last(t, l).Charges != 1 {
		t.Errorf("%d charges", last(t, l).Charges)
	}
}

// TestFullDisk: a charge that cannot be written is refused, and the ledger is as it
// was. The file's size is limited as by a full disk.
func TestFullDisk(t *testing.T) {
	l := create4(t, counting)
	if err := os.Chmod(l.Path(), 0o400); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		if _, err := l.Charge(gaussian(t, 9), 1, Note{}); err == nil {
			t.Error("charged to a file that may not be written")
		}
	}
	if err := os.Chmod(l.Path(), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("/bin/sh", "-c", `ulimit -f 200; trap "" XFSZ; exec "$0"`, os.Args[0])
	c.Env = append(os.Environ(), childVariable+"="+l.Path(), "GOROUTINES=1", "EACH=100000")
	out, err := c.CombinedOutput()
	if err == nil {
		t.Fatalf("the file's size was not limited: %.300s", out)
	}
	told := int64(strings.Count(string(out), "charged\n"))
	r, cerr := l.Check()
	if cerr != nil || r.Charges != told || told == 0 || !strings.Contains(string(out), "file too large") {
		t.Errorf("told %d, the ledger has %d, %v: %s", told, r.Charges, cerr, out[max(0, len(out)-300):])
	}
	if _, err := l.Charge(gaussian(t, 9), 1, Note{}); err != nil {
		t.Errorf("with space again: %v", err)
	}
}

// BenchmarkCharge is a charge alone, fsync included.
func BenchmarkCharge(b *testing.B) {
	l, e := create4(b, counting), gaussian(b, 1000)
	for b.Loop() {
		if _, err := l.Charge(e, 1, Note{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkChargeTogether is one of the charges of 64 goroutines.
func BenchmarkChargeTogether(b *testing.B) {
	l, e := create4(b, counting), gaussian(b, 1000)
	b.SetParallelism(32)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if _, err := l.Charge(e, 1, Note{}); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkOpen reads and checks a chain of 10 000 entries.
func BenchmarkOpen(b *testing.B) {
	l, e := create4(b, counting), gaussian(b, 1000)
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			for range 100 {
				if _, err := l.Charge(e, 1, Note{}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for b.Loop() {
		if _, err := Open(l.Path(), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
