//go:build slow && unix

package experiment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"
)

// The test binary is also the process that TestKilledRunsGoOn kills: with this variable
// it makes a run in the folder named there.
const killedDir = "DPMCMC_TEST_KILLED_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killedDir); dir != "" {
		os.Exit(killable(dir))
	}
	os.Exit(m.Run())
}

// killable makes a run, in full unless it is killed.
func killable(dir string) int {
	c, err := Parse("exp.toml", []byte(small))
	var p *Plan
	if err == nil {
		p, err = NewPlan(c, Options{})
	}
	if err == nil {
		_, err = p.Run(context.Background(), RunOptions{Dir: dir, Workers: 2})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestKilledRunsGoOn sends SIGKILL to a run at 20 random moments after its journal
// appeared or grew, starts it again each time, and compares with a run in one go,
// byte for byte.
func TestKilledRunsGoOn(t *testing.T) {
	p := plan(t, small, Options{})
	want := files(t, p, RunOptions{Workers: 2})
	rng := rand.New(rand.NewPCG(11, 5))
	kills, finished := 0, 0
	var dir string
	for kills < 20 {
		if dir == "" {
			dir = t.TempDir()
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), killedDir+"="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		waitForGrowth(dir)
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("a run in a folder with a torn journal failed: %v", err)
			}
			finished++
			same(t, "after kills", files(t, p, RunOptions{Dir: dir, Workers: 2}), want)
			checkJournal(t, dir, p)
			dir = "" // begin another run
		case <-time.After(time.Duration(rng.ExpFloat64() * float64(60*time.Millisecond))):
			err := cmd.Process.Kill()
			<-done
			switch {
			case err == nil:
				kills++
			case !errors.Is(err, os.ErrProcessDone): // which the next process finds finished
				t.Fatal(err)
			}
		}
	}
	if dir != "" {
		same(t, "after the last kill", files(t, p, RunOptions{Dir: dir, Workers: 2}), want)
		checkJournal(t, dir, p)
	}
	t.Logf("%d kills, %d runs finished between them", kills, finished)
}

// waitForGrowth waits until the journal has grown, or a second has passed.
func waitForGrowth(dir string) {
	size := func() int64 {
		info, err := os.Stat(dir + "/" + journalFile)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	for before, end := size(), time.Now().Add(time.Second); size() == before && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}
