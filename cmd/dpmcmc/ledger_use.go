package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/ledger"
)

// ledgerSuffix is appended to a data file's name for its ledger.
const ledgerSuffix = ".ledger"

// ledgerFlags are the flags of every command that reads private data.
type ledgerFlags struct {
	file       string
	none       bool
	samePeople bool
	who        string
}

func (s *ledgerFlags) bind(f *pflag.FlagSet) {
	f.StringVar(&s.file, "ledger", "", "the ledger to charge; by default the data file's name with "+ledgerSuffix+
		", which is made if there is none; of a packed table, that of the file that was packed")
	f.BoolVar(&s.none, "no-ledger", false,
		"keep no accounts. Another run on the same people then spends again, and nothing says so")
	f.BoolVar(&s.samePeople, "same-people", false, "the data file is about people whose accounts the ledger keeps already")
	bindWho(f, &s.who)
}

// accounts are a ledger that a run charges, or nothing.
type accounts struct {
	*ledger.Ledger
	note ledger.Note
}

// open returns the accounts of a data file, made if there are none, or empty ones if
// none are to be kept. Other bytes than the ledger knows are asked about.
func (s *ledgerFlags) open(data string, n ledger.Note, adjacency accountant.Adjacency, delta float64,
	errw io.Writer) (accounts, error) {
	if s.none {
		if s.file != "" || s.samePeople {
			return accounts{}, fmt.Errorf("--no-ledger keeps no accounts; leave out --ledger and --same-people")
		}
		return accounts{}, nil
	}
	path := s.file
	switch strings.ToLower(path) {
	case "none", "no", "off", "false":
		return accounts{}, fmt.Errorf("--ledger %s would name a file; --no-ledger keeps no accounts, ./%s is a file of "+
			"that name",
			path, path)
	case "":
		people, err := accountsOf(data)
		if err != nil {
			return accounts{}, fmt.Errorf("--data: %w", err)
		}
		path = people + ledgerSuffix
	}
	l, err := openOrCreate(path, ledger.Limit{Adjacency: adjacency, Delta: delta}, n, waiting(path, errw))
	if err != nil {
		return accounts{}, fmt.Errorf("%w (--no-ledger keeps no accounts)", err)
	}
	f, err := content(data)
	if err != nil {
		return accounts{}, fmt.Errorf("--data: %w", err)
	}
	n.Run = ledger.NewRun()
	return accounts{l, n}, errors.Join(l.Meet(data, f, s.samePeople, n), f.Close())
}

// openOrCreate returns the ledger at a path, which may be made meanwhile by another run.
func openOrCreate(path string, limit ledger.Limit, n ledger.Note, o ledger.Options) (*ledger.Ledger, error) {
	l, err := ledger.Open(path, o)
	if !errors.Is(err, fs.ErrNotExist) {
		return l, err
	}
	if l, err = ledger.Create(path, limit, n, o); errors.Is(err, fs.ErrExist) {
		return ledger.Open(path, o)
	}
	return l, err
}

// budget is a run's budget, charged to the ledger if there is one.
func (a accounts) budget(c accountant.BudgetConfig) (*accountant.Budget, error) {
	if a.Ledger == nil {
		return accountant.NewBudget(c)
	}
	return a.Budget(c, a.note)
}

// enter names the ledger in a certificate.
func (a accounts) enter(c *chains.Certificate) error {
	if a.Ledger == nil {
		return nil
	}
	r, err := a.Run(a.note.Run)
	c.Ledger = &chains.CertifiedLedger{File: filepath.Base(a.Path()), ID: r.ID, Run: a.note.Run, Entries: r.Entries()}
	return err
}

// certify names a certificate in the ledger.
func (a accounts) certify(certificate []byte) error {
	if a.Ledger == nil {
		return nil
	}
	n := a.note
	n.Certificate = ledger.CertificateHash(certificate)
	return a.Certify(n)
}

// spent is what has been spent on these people so far, in one line for people and as
// figures; nothing without a ledger.
func (a accounts) spent() (line string, totals *ledgerTotals, err error) {
	if a.Ledger == nil {
		return "", nil, nil
	}
	last, files, _, err := readLedger(a.Ledger, 0)
	if err != nil {
		return "", nil, err
	}
	t := totalsOf(a.Path(), last, files)
	return spentText(a.Path(), last) + "\n", &t, nil
}
