// Package accounts keeps the ledger of the people in a data file, as commands use it: found
// beside the file, charged, and stated in words and figures.
package accounts

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/data/packed"
	"github.com/dpmcmc/dpmcmc/ledger"
)

// Suffix is appended to a data file's name for its ledger.
const Suffix = ".ledger"

// Choice says which ledger a run on private data charges.
type Choice struct {
	File       string // by default the data file's name with Suffix, made if there is none
	None       bool   // no accounts are kept
	SamePeople bool   // the file is about people whose accounts the ledger keeps already
	Who        string // asks
}

// Accounts are a ledger that a run charges, or nothing.
type Accounts struct {
	*ledger.Ledger
	Note ledger.Note
}

// Open returns the accounts of a data file, made if there are none, or empty ones if
// none are to be kept. Other bytes than the ledger knows are asked about.
func (s Choice) Open(data string, n ledger.Note, adjacency accountant.Adjacency, delta float64,
	errw io.Writer) (Accounts, error) {
	if s.None {
		if s.File != "" || s.SamePeople {
			return Accounts{}, fmt.Errorf("--no-ledger keeps no accounts; leave out --ledger and --same-people")
		}
		return Accounts{}, nil
	}
	path := s.File
	switch strings.ToLower(path) {
	case "none", "no", "off", "false":
		return Accounts{}, fmt.Errorf("--ledger %s would name a file; --no-ledger keeps no accounts, ./%s is a file of "+
			"that name", path, path)
	case "":
		people, err := accountsOf(data)
		if err != nil {
			return Accounts{}, fmt.Errorf("--data: %w", err)
		}
		path = people + Suffix
	}
	l, err := openOrCreate(path, ledger.Limit{Adjacency: adjacency, Delta: delta}, n, Waiting(path, errw))
	if err != nil {
		return Accounts{}, fmt.Errorf("%w (--no-ledger keeps no accounts)", err)
	}
	f, err := content(data)
	if err != nil {
		return Accounts{}, fmt.Errorf("--data: %w", err)
	}
	n.Run = ledger.NewRun()
	return Accounts{l, n}, errors.Join(l.Meet(data, f, s.SamePeople, n), f.Close())
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

// NewBudget is a run's budget, charged to the ledger if there is one.
func (a Accounts) NewBudget(c accountant.BudgetConfig) (*accountant.Budget, error) {
	if a.Ledger == nil {
		return accountant.NewBudget(c)
	}
	return a.Budget(c, a.Note)
}

// Enter names the ledger in a certificate.
func (a Accounts) Enter(c *chains.Certificate) error {
	if a.Ledger == nil {
		return nil
	}
	r, err := a.Run(a.Note.Run)
	c.Ledger = &chains.CertifiedLedger{File: filepath.Base(a.Path()), ID: r.ID, Run: a.Note.Run, Entries: r.Entries()}
	return err
}

// Certificate names a certificate in the ledger.
func (a Accounts) Certificate(certificate []byte) error {
	if a.Ledger == nil {
		return nil
	}
	n := a.Note
	n.Certificate = ledger.CertificateHash(certificate)
	return a.Certify(n)
}

// Spent is what has been spent on these people so far, in one line for people and as
// figures; nothing without a ledger.
func (a Accounts) Spent() (line string, totals *Totals, err error) {
	if a.Ledger == nil {
		return "", nil, nil
	}
	last, files, _, err := read(a.Ledger, 0)
	if err != nil {
		return "", nil, err
	}
	t := TotalsOf(a.Path(), last, files)
	return SpentText(a.Path(), last) + "\n", &t, nil
}

// Open opens a ledger, and says on w while another process holds it.
func Open(path string, w io.Writer) (*ledger.Ledger, error) {
	return ledger.Open(path, Waiting(path, w))
}

// Waiting says on w that a ledger is held by another process.
func Waiting(path string, w io.Writer) ledger.Options {
	return ledger.Options{Waiting: func(d time.Duration) {
		fmt.Fprintf(w, "dpmcmc: waiting for %s, which another process is using (%v so far)\n", path, d.Round(time.Second))
	}}
}

// NoteOf says who runs a command.
func NoteOf(command string, flags *pflag.FlagSet, who string) ledger.Note {
	if who == "" {
		if u, err := user.Current(); err == nil {
			who = u.Username
		}
	}
	words := []string{command}
	flags.Visit(func(f *pflag.Flag) { words = append(words, "--"+f.Name+" "+f.Value.String()) })
	return ledger.Note{Who: who, Command: strings.Join(words, " ")}
}

// Introduce tells the ledger of a CSV file, if there is one, that the packed file is
// about the same people.
func Introduce(csv, packed string, n ledger.Note, errw io.Writer) error {
	path := csv + Suffix
	l, err := Open(path, errw)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	n.Run = ledger.NewRun()
	for _, file := range []string{csv, packed} {
		f, err := content(file)
		if err != nil {
			return err
		}
		err = l.Meet(file, f, file == packed, n)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// content is what a ledger recognises a data file by: its bytes, or of a packed one the
// first page, which holds the checksums of the others.
func content(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil || !strings.HasSuffix(path, packed.Suffix) {
		return f, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(f, packed.HeaderSize), f}, nil
}

// accountsOf is the file whose ledger keeps the accounts of the people in a data file:
// itself, or the one that it was packed from.
func accountsOf(path string) (string, error) {
	if !strings.HasSuffix(path, packed.Suffix) {
		return path, nil
	}
	h, err := packed.ReadHeader(path)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(filepath.Dir(h.Source)); h.Source == "" || err != nil || !info.IsDir() {
		return path, nil
	}
	return h.Source, nil
}
