// Command kills starts, kills (signal 9), stops (SIGINT, SIGTERM), resumes and makes longer
// runs of dpmcmc sample of every kernel on one ledger, several at once, at random moments.
// It checks after every kill that nothing was under-charged, over budget, corrupt or
// unexplained:
//
//	go build -o /tmp/dpmcmc ./cmd/dpmcmc && go run ./internal/maintain/kills -binary /tmp/dpmcmc -kills 1000
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/stancsv"
	"github.com/dpmcmc/dpmcmc/kernels/journal"
	"github.com/dpmcmc/dpmcmc/ledger"
)

// limit is the ledger's, which later runs are refused by.
const limit, delta = "100", "1e-5"

const thin = 10

// campaign is one series of kills.
type campaign struct {
	dir, binary, data, schema string
	longest                   time.Duration
	budget                    atomic.Int64 // kills to go; stops are not counted
	counts                    [kindCount]atomic.Int64
	mu                        sync.Mutex
	failures                  []string
}

// What may happen to a run.
const (
	killed = iota
	stopped
	finished
	resumed
	madeLonger
	refusedBudget
	refusedReason
	forfeited
	kindCount
)

var words = [kindCount]string{"killed", "stopped", "finished", "went on", "became longer", "refused by a limit",
	"refused with a reason",
	"checks that found a charge which was made and not noted"}

func main() {
	binary := flag.String("binary", "", "the dpmcmc command")
	kills := flag.Int64("kills", 1000, "number of kills (signal 9); stops come beside them")
	workers := flag.Int("workers", 8, "processes at once")
	longest := flag.Duration("longest", 1500*time.Millisecond, "longest time before a kill")
	most := flag.Duration("for", time.Hour, "longest time for the whole, which then has fewer kills")
	flag.Parse()
	if err := run(*binary, *kills, *workers, *longest, *most); err != nil {
		fmt.Fprintln(os.Stderr, "kills:", err)
		os.Exit(1)
	}
}

func run(binary string, kills int64, workers int, longest, most time.Duration) error {
	dir, err := os.MkdirTemp("", "kills")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c := &campaign{dir: dir, binary: binary, data: filepath.Join(dir, "people.csv"),
		schema: filepath.Join(dir, "people.toml"), longest: longest}
	c.budget.Store(kills)
	var rows strings.Builder
	rows.WriteString("age,sick\n")
	for i := range 400 {
		fmt.Fprintf(&rows, "%d,%s\n", 20+i%60, []string{"no", "yes"}[i%3%2])
	}
	if err := os.WriteFile(c.data, []byte(rows.String()), 0o600); err != nil {
		return err
	}
	draft, err := exec.Command(binary, "schema", "--data", c.data).Output()
	if err != nil {
		return err
	}
	confirmed := bytes.Replace(draft, []byte("confirmed = false"), []byte("confirmed = true"), 1)
	if err := os.WriteFile(c.schema, confirmed, 0o600); err != nil {
		return err
	}
	if out, err := exec.Command(binary, "ledger", "init", c.data+".ledger", "--epsilon", limit, "--delta",
		delta).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	begun := time.Now()
	time.AfterFunc(most, func() { c.budget.Store(0) })
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { c.work(w) })
	}
	wg.Wait()
	if err := c.audit(); err != nil {
		c.fail("%v", err)
	}
	fmt.Printf("%d processes at once for %v\n", workers, time.Since(begun).Round(time.Second))
	for k, n := range words {
		fmt.Printf("%7d %s\n", c.counts[k].Load(), n)
	}
	if c.counts[finished].Load() == 0 || c.counts[resumed].Load() == 0 {
		c.fail("no run finished, or none went on: nothing was tried")
	}
	if len(c.failures) > 0 {
		return fmt.Errorf("%d failures:\n%s", len(c.failures), strings.Join(c.failures, "\n"))
	}
	fmt.Println("never under-charged, never over budget, every run resumed or refused with a reason, no corrupt ledger")
	return nil
}

func (c *campaign) fail(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures = append(c.failures, fmt.Sprintf(format, args...))
}

// work starts runs one after another and kills each until it is over.
func (c *campaign) work(worker int) {
	rng := rand.New(rand.NewPCG(uint64(worker), 1))
	for n := 0; c.budget.Load() > 0; n++ {
		out := filepath.Join(c.dir, fmt.Sprintf("run_%d_%d", worker, n))
		args := []string{"sample", "--data", c.data, "--schema", c.schema, "--epsilon", "3", "--delta", "1e-6",
			"--accept-unexplored", "--iterations", "6000", "--thin", fmt.Sprint(thin), "--out", out}
		args = append(append(args, "--kernel"), kernels[rng.IntN(len(kernels))]...)
		for range 1 + rng.IntN(3) { // a run, made longer at times
			for c.attempt(rng, out, args) {
				args = []string{"sample", "--resume", out}
			}
			if !c.done(out) {
				break
			}
			args = []string{"sample", "--resume", out, "--more", "3000", "--epsilon", "4"}
		}
	}
}

// kernels are those of runs, with their settings. An anchored run takes longest: of order
// 2 and, for softmax, of order 1, with draws of what was released or with bits.
var kernels = [][]string{{"barker"}, {"barker-dynamics"}, {"barker-dynamics-adjusted"}, {"dphmc"}, {"dpsgld"},
	{"penalty"},
	{"penalty-ratio"}, {"sgnht"}, {"tunamh"}, {"barker"}, {"dpsgld"}, {"sgnht"}, {"penalty-ratio"}, {"anchored"},
	{"anchored", "--aim", "remainder"}, {"anchored", "--model", "softmax"},
	{"anchored", "--model", "softmax", "--aim", "remainder"}}

// signals are what runs are ended by.
var signals = []os.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT}

// done reports whether a run is complete.
func (c *campaign) done(out string) bool {
	text, err := os.ReadFile(filepath.Join(out, "journal"))
	if err != nil {
		return false
	}
	s, _, err := journal.Parse(text)
	return err == nil && s.Done
}

// attempt runs a command until it ends or is killed, checks the folder, and reports
// whether the run can be tried again.
func (c *campaign) attempt(rng *rand.Rand, out string, args []string) bool {
	cmd := exec.Command(c.binary, args...)
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Start(); err != nil {
		c.fail("%v", err)
		return false
	}
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	var timer <-chan time.Time
	if c.budget.Load() > 0 {
		timer = c.moment(rng, out, done)
	}
	again := false
	select {
	case <-timer:
		_ = cmd.Process.Signal(signals[rng.IntN(len(signals))]) // it may have ended
		<-done
		if cmd.ProcessState.ExitCode() == -1 {
			c.budget.Add(-1)
			c.counts[killed].Add(1)
			again = true
		} else {
			again = c.ended(cmd.ProcessState.ExitCode(), out, text.String())
		}
	case <-done:
		again = c.ended(cmd.ProcessState.ExitCode(), out, text.String())
	}
	switch {
	case !strings.Contains(text.String(), "goes on with"):
	case slices.Contains(args, "--more"):
		c.counts[madeLonger].Add(1)
	default:
		c.counts[resumed].Add(1)
	}
	if err := c.check(out); err != nil {
		c.fail("%s: %v\n%s", out, err, text.String())
		return false
	}
	if _, err := os.Stat(filepath.Join(out, "journal")); again && err != nil {
		again = false // killed before it began
	}
	return again
}

// moment is when to kill: at random from the start, or at random from when the run's
// journal grows, where a crash has the most to spoil.
func (c *campaign) moment(rng *rand.Rand, out string, done <-chan struct{}) <-chan time.Time {
	wait, late := time.Duration(rng.Int64N(int64(c.longest))), rng.IntN(4) > 0
	if !late {
		return time.After(wait)
	}
	path := filepath.Join(out, "journal")
	before := length(path)
	fire := make(chan time.Time, 1)
	go func() {
		for length(path) == before {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
		time.Sleep(wait / 4)
		fire <- time.Now()
	}()
	return fire
}

func length(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// ended counts how a command ended by itself.
func (c *campaign) ended(code int, out, text string) bool {
	switch {
	case code == 0:
		c.counts[finished].Add(1)
	case code == 130:
		c.counts[stopped].Add(1)
		return true
	case code == 3: // by the ledger, or by the run's own limit when it is to become longer again
		c.counts[refusedBudget].Add(1)
	case code == 2 && (strings.Contains(text, "dpmcmc: --resume") || strings.Contains(text, "dpmcmc: --more")):
		c.counts[refusedReason].Add(1)
	default:
		c.fail("%s: exit %d: %s", out, code, text)
	}
	return false
}

// check holds a run's folder to its journal and the ledger.
func (c *campaign) check(out string) error {
	text, err := os.ReadFile(filepath.Join(out, "journal"))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(out, "draws_1.csv")); err == nil {
			return errors.New("draws without a journal")
		}
		return nil
	}
	if err != nil {
		return err
	}
	s, _, err := journal.Parse(text)
	if err != nil {
		if bytes.IndexByte(text, '\n') < 0 {
			return nil // killed while the first line was written, before any step
		}
		return err
	}
	if err := c.charged(s); err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(out, "draws_1.csv"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	drawn, err := stancsv.Read(f)
	if err != nil {
		return nil // the header is being written
	}
	rows := int64(len(drawn.Warmup) + len(drawn.Draws))
	if m := s.Marks[0]; rows > 0 && (m == nil || rows*thin > m.Step+m.Reserved-m.Used+thin) {
		return fmt.Errorf("%d draws are written and the journal's newest mark is %+v", rows, m)
	}
	return nil
}

// charged checks that a run stands in the ledger, once and once for each time that it
// became longer at a price. A charge for that may have been made and not have been noted.
func (c *campaign) charged(s journal.State) error {
	l, err := ledger.Open(c.data+".ledger", ledger.Options{})
	if err != nil {
		return err
	}
	r, err := l.Run(s.Run)
	if err != nil {
		return err
	}
	noted := 1
	for _, m := range s.More {
		var price accountant.Event
		if err := json.Unmarshal(m.Event, &price); err != nil {
			return err
		}
		if len(price.Mechanisms()) > 0 { // anchored runs become longer for nothing
			noted++
		}
	}
	if times := len(r.Charges); times < noted {
		return fmt.Errorf("the run was charged %d times and noted %d", times, noted)
	} else if times > noted {
		c.counts[forfeited].Add(1)
	}
	return nil
}

// audit adds the ledger up again.
func (c *campaign) audit() error {
	l, err := ledger.Open(c.data+".ledger", ledger.Options{})
	if err != nil {
		return err
	}
	r, err := l.Check()
	if err != nil {
		return err
	}
	fmt.Printf("ledger: %d entries, %d charges, ε = %.4g of %s\n", r.Entries, r.Charges, r.Last.TotalEpsilon, limit)
	if r.Last.TotalEpsilon > r.Last.Limit.Epsilon {
		return fmt.Errorf("ε = %v is over the limit", r.Last.TotalEpsilon)
	}
	return nil
}
