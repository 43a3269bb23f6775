package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/kernels/journal"
	"github.com/dpmcmc/dpmcmc/ledger"
)

// interrupted starts a run, or one that goes on, and interrupts it when it announces
// steps for the given time.
func interrupted(t *testing.T, times int64, args ...string) (code int, errw string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var count atomic.Int64
	announced = func() {
		if count.Add(1) == times {
			cancel()
		}
	}
	defer func() { announced = func() {} }()
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
			certificate, err := os.ReadFile(filepath.Join(dir, certificateFile))
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
			after, err := os.ReadFile(filepath.Join(dir, certificateFile))
			if err != nil || !bytes.Equal(certificate, after) {
				t.Errorf("the certificate changed: %v\n%s\n%s", err, certificate, after)
			}
			charges(t, csv+"."+kernel, 1)
			longer(t, dir, "complete")
			if kernel != "anchored" { // whose steps cost nothing
				longer(t, dir, "give --epsilon", "--more", "100000")
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
		c, err := readChain(filepath.Join(dir, fmt.Sprintf("draws_%d.csv", id)))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(c.Warmup) + len(c.Draws); n != draws || !c.Finished || c.Header.NumSamples+c.Header.NumWarmup != 4*draws ||
			len(c.Warmup)-len(c.Draws) > 1 {
			t.Errorf("chain %d has %d draws of %d, %d of warm-up, finished: %t, header %+v", id, n, draws, len(c.Warmup),
				c.Finished, c.Header)
		}
	}
	f, err := openFinished(dir)
	if err != nil || !f.complete || f.certificate.Iterations != int64(4*draws) {
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
	c, err := readChain(filepath.Join(dir, "draws_"+string(rune('0'+id))+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	return len(c.Warmup) + len(c.Draws)
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
	refused("does not exist", "--resume", t.TempDir())
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
	j, _, err := journal.Resume(filepath.Join(dir, journalFile))
	if err != nil {
		t.Fatal(err)
	}
	refused("still going", "--resume", dir)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, journalFile))
	if err != nil {
		t.Fatal(err)
	}
	bad := bytes.Replace(text, []byte(`"mark"`), []byte(`"mork"`), 1)
	if err := os.WriteFile(filepath.Join(dir, journalFile), bad, 0o600); err != nil {
		t.Fatal(err)
	}
	refused("line 4 is damaged", "--resume", dir)
	if err := os.WriteFile(filepath.Join(dir, journalFile), text, 0o600); err != nil {
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
