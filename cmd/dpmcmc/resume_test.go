package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/runs"
	"github.com/dpmcmc/dpmcmc/kernels/journal"
	"github.com/dpmcmc/dpmcmc/ledger"
)

// interrupted starts a run, or one that goes on, and interrupts it when it has noted its
// first releases, which counts as one time, or announces steps for the given time.
func interrupted(t *testing.T, times int64, args ...string) (code int, errw string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var count atomic.Int64
	runs.Announced = func() {
		if count.Add(1) == times {
			cancel()
		}
	}
	defer func() { runs.Announced = func() {} }()
	code, _, errw = call(ctx, args...)
	return code, errw
}

// TestResume: a run that was interrupted goes on to its end, with every step that was
// charged, one charge and one certificate. It is then made longer, twice, at the price
// of what that adds.
func TestResume(t *testing.T) {
	csv, schema := people(t)
	kernels := chains.Names()
	if testing.Short() {
		kernels = []string{"anchored", "dphmc", "sgnht"}
	}
	for _, kernel := range kernels {
		t.Run(kernel, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			args := []string{"sample", "--data", csv, "--schema", schema, "--epsilon", "3", "--delta", "1e-6", "--kernel",
				kernel, "--chains", "2", "--iterations", "500", "--thin", "4", "--out", dir, "--ledger", csv + "." + kernel}
			if kernel == "penalty" {
				args = append(args, "--proposal", "one-component") // quick to price
			}
			if code, errw := interrupted(t, 4, args...); code != exitInterrupted {
				t.Fatalf("exit %d: %s", code, errw)
			}
			certificate, err := os.ReadFile(filepath.Join(dir, runs.CertificateFile))
			if err != nil {
				t.Fatal(err)
			}
			if made := rowsOf(t, dir, 1); made >= 125 {
				t.Fatalf("%d draws were made before the interruption", made)
			}
			longer(t, dir, "not complete", "--more", "100")
			if code, out, errw := call(t.Context(), "sample", "--resume", dir); code != exitOK ||
				!strings.Contains(errw, "0 are forfeited") {
				t.Fatalf("exit %d: %s%s", code, out, errw)
			}
			holds(t, dir, 125)
			after, err := os.ReadFile(filepath.Join(dir, runs.CertificateFile))
			if err != nil || !bytes.Equal(certificate, after) {
				t.Errorf("the certificate changed: %v\n%s\n%s", err, certificate, after)
			}
			charges(t, csv+"."+kernel, 1)
			longer(t, dir, "complete")
			if kernel != "anchored" { // whose steps cost nothing
				before, err1 := os.ReadFile(csv + "." + kernel)
				longer(t, dir, "give --epsilon", "--more", "100000")
				after, err2 := os.ReadFile(csv + "." + kernel)
				if err := errors.Join(err1, err2); err != nil || !bytes.Equal(before, after) {
					t.Errorf("a refused extension is in the ledger, %v", err)
				}
			}
			longer(t, dir, "", "--more", "100", "--epsilon", "4")
			holds(t, dir, 150)
			if kernel == "anchored" {
				charges(t, csv+"."+kernel, 1)
				return
			}
			charges(t, csv+"."+kernel, 2)
			if code, errw := interrupted(t, 2, "sample", "--resume", dir, "--more", "100", "--epsilon", "5"); code !=
				exitInterrupted {
				t.Fatalf("exit %d: %s", code, errw)
			}
			longer(t, dir, "")
			holds(t, dir, 175)
			charges(t, csv+"."+kernel, 3)
		})
	}
}

// longer goes on with a run, or is refused with the text that is wanted.
func longer(t *testing.T, dir, want string, args ...string) {
	t.Helper()
	code, _, errw := call(t.Context(), append([]string{"sample", "--resume", dir}, args...)...)
	if (code == exitOK) != (want == "") || !strings.Contains(errw, want) {
		t.Fatalf("%v: exit %d: %s; want %q", args, code, errw, want)
	}
}

// holds checks that both chains have so many draws, which summary reads as complete.
func holds(t *testing.T, dir string, draws int) {
	t.Helper()
	for id := 1; id <= 2; id++ {
		c, err := runs.ReadChain(filepath.Join(dir, fmt.Sprintf("draws_%d.csv", id)))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(c.Warmup) + len(c.Draws); n != draws || !c.Finished ||
			c.Header.NumSamples+c.Header.NumWarmup != 4*draws ||
			len(c.Warmup)-len(c.Draws) > 1 {
			t.Errorf("chain %d has %d draws of %d, %d of warm-up, finished: %t, header %+v", id, n, draws, len(c.Warmup),
				c.Finished, c.Header)
		}
	}
	f, err := runs.Open(dir)
	if err != nil || !f.Complete || f.Certificate.Iterations != int64(4*draws) {
		t.Errorf("the folder holds %+v, %v", f, err)
	}
}

// charges checks that a ledger adds up, to so many.
func charges(t *testing.T, path string, want int64) {
	t.Helper()
	l, err := ledger.Open(path, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := l.Check(); err != nil || r.Charges != want {
		t.Errorf("%d charges of %d, %v", r.Charges, want, err)
	}
}

func rowsOf(t *testing.T, dir string, id int) int {
	t.Helper()
	c, err := runs.ReadChain(filepath.Join(dir, "draws_"+string(rune('0'+id))+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	return len(c.Warmup) + len(c.Draws)
}

// TestResumeBeforeDraws: a run that was interrupted after its anchor was released, and
// before its draws were made of that, goes on from the release. It makes the draws of a run
// that was not interrupted, bit for bit, although its noise would be another one.
func TestResumeBeforeDraws(t *testing.T) {
	csv, schema := people(t)
	parent := t.TempDir()
	stopped, whole := filepath.Join(parent, "stopped"), filepath.Join(parent, "whole")
	run := func(dir string) []string {
		return []string{"sample", "--data", csv, "--schema", schema, "--epsilon", "5", "--delta", "1e-6", "--kernel",
			"anchored", "--aim", "score", "--chains", "2", "--iterations", "200", "--insecure-seed", "3",
			"--accept-unexplored", "--ledger", dir + ".ledger", "--out", dir}
	}
	if code, errs := interrupted(t, 1, run(stopped)...); code != exitInterrupted ||
		!strings.Contains(errs, "goes on with") {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if _, err := os.Stat(filepath.Join(stopped, "draws_1.csv")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("draws were made: %v", err)
	}
	longer(t, stopped, "")
	if code, _, errs := call(t.Context(), run(whole)...); code != exitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for id := 1; id <= 2; id++ {
		name := fmt.Sprintf("draws_%d.csv", id)
		got, err1 := runs.ReadChain(filepath.Join(stopped, name))
		want, err2 := runs.ReadChain(filepath.Join(whole, name))
		if err := errors.Join(err1, err2); err != nil || len(want.Draws) == 0 || !reflect.DeepEqual(got.Draws, want.Draws) {
			t.Errorf("chain %d: %v, draws\n%v\nnot\n%v", id, err, got.Draws, want.Draws)
		}
	}
	charges(t, stopped+".ledger", 1)
}

// TestResumeFromElsewhere: a run that was begun with relative paths goes on from another
// folder, after the disk was full and after its own folder was moved, and calls its data
// what it called them.
func TestResumeFromElsewhere(t *testing.T) {
	csv, _ := people(t)
	t.Chdir(filepath.Dir(csv))
	if code, errs := interrupted(t, 3, "sample", "--data", "people.csv", "--schema", "people.toml", "--epsilon", "1",
		"--delta", "1e-6", "--kernel", "barker", "--iterations", "500", "--out", "run"); code != exitInterrupted ||
		!strings.Contains(errs, "--resume run goes on") {
		t.Fatalf("exit %d: %s", code, errs)
	}
	t.Chdir(t.TempDir())
	if err := os.Rename(filepath.Join(filepath.Dir(csv), "run"), "moved"); err != nil {
		t.Fatal(err)
	}
	longer(t, "moved", "")
	f, err := runs.Open("moved")
	if err != nil || f.Data != "people.csv" || !f.Complete {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestPowerLossOfARun: whatever of the draws was lost after the newest mark that reached
// the disk, the run goes on to its end; if draws were lost that the mark rests on, it is
// refused.
func TestPowerLossOfARun(t *testing.T) {
	csv, schema := people(t)
	dir := filepath.Join(t.TempDir(), "run")
	if code, errs := interrupted(t, 5, "sample", "--data", csv, "--schema", schema, "--epsilon", "1", "--delta", "1e-6",
		"--no-ledger", "--kernel", "penalty-ratio", "--iterations", "400", "--out", dir); code != exitInterrupted {
		t.Fatalf("exit %d: %s", code, errs)
	}
	log, err1 := os.ReadFile(filepath.Join(dir, runs.JournalFile))
	drawn, err2 := os.ReadFile(filepath.Join(dir, "draws_1.csv"))
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	begin := bytes.Index(drawn, []byte("lp__"))
	begin += bytes.IndexByte(drawn[begin:], '\n') + 1
	rng := rand.New(rand.NewPCG(1, 2))
	for end := 1; end <= len(log); end++ {
		if log[end-1] != '\n' {
			continue
		}
		s, _, err := journal.Parse(log[:end])
		if err != nil {
			t.Fatal(err)
		}
		need := begin
		for range steps(s) {
			need += bytes.IndexByte(drawn[need:], '\n') + 1
		}
		for _, kept := range []int{need, need + rng.IntN(len(drawn)-need+1), need - 1} {
			copied := filepath.Join(t.TempDir(), "run")
			if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.WriteFile(filepath.Join(copied, runs.JournalFile), log[:end], 0o600),
				os.WriteFile(filepath.Join(copied, "draws_1.csv"), drawn[:kept], 0o600)); err != nil {
				t.Fatal(err)
			}
			if s.Begun == nil { // draws are made later
				if err := os.Remove(filepath.Join(copied, "draws_1.csv")); err != nil {
					t.Fatal(err)
				}
			}
			want := ""
			if kept < need && steps(s) > 0 {
				want = "draws were lost"
			}
			if s.Opening && s.Begun == nil {
				want = "must not be made twice"
			}
			longer(t, copied, want)
		}
	}
}

// TestResumeOfNothing: a run that was killed in its last block has no step left, and goes
// on to its report.
func TestResumeOfNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if code, errs := interrupted(t, 51, "sample", "--data", small, "--kernel", "barker", "--iterations", "100", "--out",
		dir); code != exitInterrupted {
		t.Fatalf("exit %d: %s", code, errs)
	}
	path := filepath.Join(dir, runs.JournalFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	killed := text[:1+bytes.LastIndexByte(text[:len(text)-1], '\n')] // before the mark of an orderly stop
	if err := os.WriteFile(path, killed, 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call(t.Context(), "sample", "--resume", dir)
	if code != exitOK || !strings.Contains(errs, "0 steps of 100") || !strings.Contains(out, "Privacy certificate") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if n := rowsOf(t, dir, 1); n != 98 {
		t.Errorf("%d draws", n)
	}
}

// TestResumeOfAReport: a run whose report could not be written, as on a full disk, goes on
// to it.
func TestResumeOfAReport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	report := filepath.Join(dir, "report.html")
	if err := os.MkdirAll(report, 0o700); err != nil {
		t.Fatal(err)
	}
	code, _, errs := call(t.Context(), "sample", "--data", small, "--kernel", "barker", "--iterations", "100",
		"--out", dir)
	if code == exitOK || !strings.Contains(errs, "--resume") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if err := os.Remove(report); err != nil {
		t.Fatal(err)
	}
	if code, _, errs = call(t.Context(), "sample", "--resume", dir); code != exitOK {
		t.Errorf("exit %d: %s", code, errs)
	}
	if _, err := os.Stat(report); err != nil || rowsOf(t, dir, 1) != 100 {
		t.Errorf("%v, %d draws", err, rowsOf(t, dir, 1))
	}
}

// steps are those of chain 1 at its newest mark.
func steps(s journal.State) int64 {
	if s.Marks[0] == nil {
		return 0
	}
	return s.Marks[0].Step
}

// TestResumeRefusals: a run goes on with its own settings, once, on its own data, and
// only where its law allows.
func TestResumeRefusals(t *testing.T) {
	csv, schema := people(t)
	refused := func(want string, args ...string) {
		t.Helper()
		if code, _, errs := call(t.Context(), append([]string{"sample"}, args...)...); code != exitUsage ||
			!strings.Contains(errs, want) {
			t.Errorf("%v: exit %d: %s; want %q", args, code, errs, want)
		}
	}
	refused("that was interrupted", "--resume", t.TempDir())
	refused("name its folder", "--more", "3")
	dir := filepath.Join(t.TempDir(), "run")
	code, errs := interrupted(t, 3, "sample", "--data", csv, "--schema", schema, "--epsilon", "1", "--delta", "1e-6",
		"--kernel", "barker", "--iterations", "5000", "--thin", "10", "--out", dir)
	if code != exitInterrupted {
		t.Fatalf("exit %d: %s", code, errs)
	}
	refused("leave out [--epsilon]", "--resume", dir, "--epsilon", "3")
	refused("at least 1", "--resume", dir, "--more", "0")

	// A copy that goes on after the original did is refused: its steps were made.
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if code, errs := interrupted(t, 3, "sample", "--resume", dir); code != exitInterrupted {
		t.Fatalf("exit %d: %s", code, errs)
	}
	refused("old copy", "--resume", copied)

	// A journal that is held by a running process, and one that is damaged.
	j, _, err := journal.Resume(filepath.Join(dir, runs.JournalFile))
	if err != nil {
		t.Fatal(err)
	}
	refused("still going", "--resume", dir)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, runs.JournalFile))
	if err != nil {
		t.Fatal(err)
	}
	bad := bytes.Replace(text, []byte(`"mark"`), []byte(`"mork"`), 1)
	if err := os.WriteFile(filepath.Join(dir, runs.JournalFile), bad, 0o600); err != nil {
		t.Fatal(err)
	}
	refused("line 4 is damaged", "--resume", dir)
	if err := os.WriteFile(filepath.Join(dir, runs.JournalFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	public, err := os.ReadFile(schema)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(schema, bytes.Replace(public, []byte("120"), []byte("130"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("no longer the one", "--resume", dir)
	if err := os.WriteFile(schema, public, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(csv, []byte("age,sick\n"+strings.Repeat("30,no\n", 400)), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("byte for byte", "--resume", dir)
}
