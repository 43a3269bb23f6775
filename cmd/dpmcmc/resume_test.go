package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpmcmc/dpmcmc/kernels/journal"
	"github.com/dpmcmc/dpmcmc/ledger"
)

// interrupted starts a run into dir, or one that goes on there, and interrupts it when
// the journal has so many new marks.
func interrupted(t *testing.T, dir string, marks int, args ...string) (code int, errw string) {
	t.Helper()
	count := func() int {
		text, err := os.ReadFile(filepath.Join(dir, journalFile))
		if err != nil {
			return 0
		}
		return bytes.Count(text, []byte(`"mark"`))
	}
	before := count()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil && count() < before+marks {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	code, _, errw = call(ctx, args...)
	return code, errw
}

// TestResume: a run that was interrupted goes on to its end, with every step that was
// charged, one charge and one certificate.
func TestResume(t *testing.T) {
	csv, schema := people(t)
	kernels := []string{"barker", "dpsgld", "tunamh", "barker-dynamics", "penalty"}
	if testing.Short() {
		kernels = kernels[:2]
	}
	for _, kernel := range kernels {
		t.Run(kernel, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			args := []string{"sample", "--data", csv, "--schema", schema, "--epsilon", "3", "--delta", "1e-6", "--kernel",
				kernel, "--chains", "2",
				"--iterations", "5000", "--thin", "10", "--out", dir, "--ledger", csv + "." + kernel}
			code, errw := interrupted(t, dir, 4, args...)
			if code != exitInterrupted {
				t.Fatalf("exit %d: %s", code, errw)
			}
			certificate, err := os.ReadFile(filepath.Join(dir, certificateFile))
			if err != nil {
				t.Fatal(err)
			}
			made := rowsOf(t, dir, 1)
			if made >= 500 {
				t.Skip("the run was too fast to interrupt")
			}
			code, out, errw := call(t.Context(), "sample", "--resume", dir)
			if code != exitOK || !strings.Contains(errw, "0 are forfeited") {
				t.Fatalf("exit %d: %s%s", code, out, errw)
			}
			for id := 1; id <= 2; id++ {
				if n := rowsOf(t, dir, id); n < 499 || n > 500 {
					t.Errorf("chain %d has %d draws of 500; %d were made before", id, n, made)
				}
			}
			after, err := os.ReadFile(filepath.Join(dir, certificateFile))
			if err != nil || !bytes.Equal(withoutStart(certificate), withoutStart(after)) {
				t.Errorf("the certificate changed: %v\n%s\n%s", err, certificate, after)
			}
			l, err := ledger.Open(csv+"."+kernel, ledger.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r, err := l.Check(); err != nil || r.Charges != 1 {
				t.Errorf("%d charges, %v", r.Charges, err)
			}
			if code, _, errw := call(t.Context(), "sample", "--resume", dir); code != exitUsage ||
				!strings.Contains(errw, "complete") {
				t.Errorf("a complete run went on: exit %d: %s", code, errw)
			}
		})
	}
}

// withoutStart leaves out where the chains start, which is known once it is found.
func withoutStart(certificate []byte) []byte {
	i, j := bytes.Index(certificate, []byte(`"start"`)), bytes.Index(certificate, []byte(`"chains"`))
	return append(bytes.Clone(certificate[:i]), certificate[j:]...)
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
	start := func(kernel string) string {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "run")
		code, errs := interrupted(t, dir, 3, "sample", "--data", csv, "--schema", schema, "--epsilon", "1", "--delta", "1e-6",
			"--kernel", kernel,
			"--iterations", "5000", "--thin", "10", "--out", dir)
		if code != exitInterrupted {
			t.Fatalf("%s: exit %d: %s", kernel, code, errs)
		}
		return dir
	}
	dir := start("barker")
	refused("leave out [--epsilon]", "--resume", dir, "--epsilon", "3")
	refused("heat bath", "--resume", start("sgnht"))

	// A copy that goes on after the original did is refused: its steps were made.
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if code, errs := interrupted(t, dir, 3, "sample", "--resume", dir); code != exitInterrupted {
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
	refused("line 2 is damaged", "--resume", dir)
	if err := os.WriteFile(filepath.Join(dir, journalFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(csv, []byte("age,sick\n"+strings.Repeat("30,no\n", 400)), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("byte for byte", "--resume", dir)
}
