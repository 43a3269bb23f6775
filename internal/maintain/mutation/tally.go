package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// Verdicts of a defect, besides what else prevents its being tried.
const (
	caught     = "caught"
	timedOut   = "caught (timeout)"
	survived   = "survived"
	harmless   = "explained"
	uncompiled = "does not compile"
	unmatched  = "does not match"
	fits       = "fits" // the source, where no more is asked
)

// tally counts verdicts, and keeps them in a file, if it has one, so that a long run can be
// continued.
type tally struct {
	file *os.File
	old  map[string]string // the verdicts that the file held, by the defect's name

	caught, survived, explained, fit, uncompiled, wrong int
}

// open reads the file of earlier verdicts, if one is named.
func (t *tally) open(name string) (err error) {
	if name == "" {
		return nil
	}
	if t.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return err
	}
	t.old = make(map[string]string)
	lines := bufio.NewScanner(t.file)
	for lines.Scan() {
		verdict, name, _ := strings.Cut(lines.Text(), "\t")
		t.old[name] = verdict
	}
	return lines.Err()
}

func (t *tally) close() {
	if t.file != nil {
		t.file.Close()
	}
}

// known counts a defect whose verdict the file holds.
func (t *tally) known(d defect) bool {
	verdict, ok := t.old[d.name]
	if ok {
		t.add(d, verdict)
	}
	return ok
}

// count counts, prints and keeps a verdict.
func (t *tally) count(d defect, verdict string, took time.Duration) error {
	t.add(d, verdict)
	d.print(verdict, took)
	if why := d.reason(); why != "" && (verdict == survived || verdict == harmless) {
		fmt.Printf("%24s%s\n", "", why)
	}
	if t.file == nil {
		return nil
	}
	_, err := fmt.Fprintf(t.file, "%s\t%s\n", verdict, d.name)
	return err
}

func (t *tally) add(d defect, verdict string) {
	switch verdict {
	case caught, timedOut:
		t.caught++
	case survived:
		if _, ok := d.explanation(); ok {
			t.explained++
		} else {
			t.survived++
		}
	case harmless:
		t.explained++
	case fits:
		t.fit++
	case uncompiled:
		if t.uncompiled++; !d.random() {
			t.wrong++
		}
	default:
		t.wrong++
	}
}

// end prints the score, and says what is wrong with it.
func (t *tally) end(share float64) error {
	tried := t.caught + t.survived
	fmt.Printf("%d survived, %d explained, %d do not compile, %d out of date\n", t.survived, t.explained, t.uncompiled,
		t.wrong)
	if tried > 0 {
		low, high := clopperPearson(t.caught, tried)
		fmt.Printf("%d of %d defects caught (%.1f%%; 95%% interval %.1f%% to %.1f%%)\n", t.caught, tried,
			100*float64(t.caught)/float64(tried), 100*low, 100*high)
	}
	switch {
	case t.wrong > 0:
		return fmt.Errorf("%d defects are out of date: mend the list", t.wrong)
	case float64(t.caught) < share*float64(tried):
		return fmt.Errorf("fewer than %.0f%% were caught", 100*share)
	}
	return nil
}

// reason is why a defect that survives does no harm, if it is known.
func (d defect) reason() string {
	known, _ := d.explanation()
	return cmp.Or(d.equivalent, known.equivalent)
}

// clopperPearson is the two-sided 95% interval of a share.
func clopperPearson(caught, total int) (low, high float64) {
	low, high = 0, 1
	k, n := float64(caught), float64(total)
	if caught > 0 {
		low = distuv.Beta{Alpha: k, Beta: n - k + 1}.Quantile(0.025)
	}
	if caught < total {
		high = distuv.Beta{Alpha: k + 1, Beta: n - k}.Quantile(0.975)
	}
	return low, high
}

func (d defect) print(verdict string, took time.Duration) {
	fmt.Printf("%-16s %4.0fs  %s:%d: %s → %s\n", verdict, took.Seconds(), d.file, d.line, oneLine(d.old), oneLine(d.new))
}
