package ledger

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const pageSize = 4096

// TestPowerLoss: whichever pages of a charge reached the disk before the power went, in
// the order that TestOrderOfWrites records, the ledger has the charges before it, or
// that one too if its meta page did. A disk that lost pages which it had acknowledged is
// not covered, but its file is still read to an end.
func TestPowerLoss(t *testing.T) {
	l, e := create4(t, counting), gaussian(t, 9)
	rng := rand.New(rand.NewPCG(1, 2))
	for charge := range int64(40) {
		before, err := os.ReadFile(l.Path())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Charge(e, 1, Note{Command: strings.Repeat("x", rng.IntN(1000))}); err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(l.Path())
		if err != nil {
			t.Fatal(err)
		}
		data, meta := changed(before, after)
		for trial := range 12 {
			torn, lost := bytes.Clone(before), 0
			torn = append(torn, make([]byte, len(after)-len(before))...)
			for _, page := range data {
				if trial == 0 || rng.IntN(2) == 0 {
					copy(torn[page:page+pageSize], after[page:])
				} else {
					lost++
				}
			}
			survives(t, torn, charge, true)
			copy(torn[meta:meta+pageSize], after[meta:])
			survives(t, torn, charge+1, lost == 0)
		}
	}
}

// survives checks that a ledger with these bytes has so many charges, if the disk kept
// what it acknowledged.
func survives(t *testing.T, content []byte, charges int64, kept bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "torn.ledger")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Open(path, Options{})
	r := Report{}
	if err == nil {
		r, err = l.Check()
	}
	if kept && (err != nil || r.Charges != charges) {
		t.Fatalf("%d charges of %d: %v", r.Charges, charges, err)
	}
}

// changed are the offsets of the pages that differ, and of the meta page that does.
func changed(before, after []byte) (data []int, meta int) {
	for page := 0; page+pageSize <= len(after); page += pageSize {
		switch {
		case page+pageSize <= len(before) && bytes.Equal(before[page:page+pageSize], after[page:page+pageSize]):
		case page < 2*pageSize:
			meta = page
		default:
			data = append(data, page)
		}
	}
	return data, meta
}

// TestOrderOfWrites: a charge's pages are fsynced before its meta page is written, and
// that before the charge is acknowledged, by the record that strace makes of a process.
// A record without one of the fsyncs is not accepted.
func TestOrderOfWrites(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace, which records the order of writes, is not here")
	}
	l := create4(t, counting)
	record := filepath.Join(t.TempDir(), "record")
	c := exec.Command(strace, "-f", "-y", "-s", "16", "-e", "trace=pwrite64,write,fdatasync,fsync", "-o", record,
		os.Args[0])
	c.Env = append(os.Environ(), childVariable+"="+l.Path(), "GOROUTINES=1", "EACH=20")
	if out, err := c.CombinedOutput(); err != nil {
		t.Skipf("processes cannot be traced here: %v: %.200s", err, out)
	}
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	order := events(string(text), l.Path())
	const charge = "p+smsa" // pages, fsync, meta, fsync, acknowledged
	whole := regexp.MustCompile(fmt.Sprintf("^(s*%s){20}$", charge))
	if !whole.MatchString(order) {
		t.Errorf("the order is %s", order)
	}
	for _, mutant := range []string{strings.Replace(order, "psm", "pm", 1), strings.Replace(order, "msa", "ma", 1)} {
		if mutant == order || whole.MatchString(mutant) {
			t.Errorf("%s was accepted", mutant)
		}
	}
}

// events are what a record says of a ledger, one letter each: p for a page of data, m
// for a meta page, s for an fsync that ended, a for an acknowledgement.
func events(record, path string) string {
	var b strings.Builder
	write := regexp.MustCompile(`pwrite64\(\d+<` + regexp.QuoteMeta(path) + `>.*, 4096, (\d+)`)
	syncing := map[string]bool{}
	for line := range strings.SplitSeq(record, "\n") {
		process, call, _ := strings.Cut(line, " ")
		call = strings.TrimLeft(call, " ")
		switch m := write.FindStringSubmatch(call); {
		case m != nil && (m[1] == "0" || m[1] == "4096"):
			b.WriteByte('m')
		case m != nil || strings.HasPrefix(call, "pwrite64(") && strings.Contains(call, path):
			b.WriteByte('p')
		case strings.Contains(call, "sync(") && strings.Contains(call, path):
			if syncing[process] = strings.Contains(call, "unfinished"); !syncing[process] {
				b.WriteByte('s')
			}
		case strings.Contains(call, "sync resumed") && syncing[process]:
			syncing[process] = false
			b.WriteByte('s')
		case strings.Contains(call, `"charged\n"`) && !strings.Contains(call, "resumed"):
			b.WriteByte('a')
		}
	}
	return b.String()
}
