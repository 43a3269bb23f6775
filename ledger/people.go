package ledger

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"go.etcd.io/bbolt"
)

// OtherDataError says that a file is not one that the ledger knows.
type OtherDataError struct {
	Path  string
	Label string
	Known []string // labels of the files that it knows
}

// Error names the file, says which files the ledger knows, and asks whether it is about the same
// people.
func (e *OtherDataError) Error() string {
	return fmt.Sprintf("ledger: %s keeps the accounts of %s, and %s is none of these, byte for byte: if it is about the "+
		"same people or some of them, say so (--same-people), and they share one budget; if it is about others, "+
		"give it a ledger of its own (--ledger)",
		e.Path, strings.Join(e.Known, ", "), e.Label)
}

// Meet tells the ledger which file is about to be read. A file that it knows, byte for
// byte, is fine, and so is the first one. Another is an *OtherDataError, unless
// samePeople says that it is about the same people: then it is added. Only a keyed
// fingerprint is kept.
func (l *Ledger) Meet(label string, content io.Reader, samePeople bool, note Note) error {
	var key []byte
	err := l.view(func(tx *bbolt.Tx) error {
		if err := l.shape(tx); err != nil {
			return err
		}
		key = append(key, tx.Bucket(aboutBucket).Get(keyName)...)
		return nil
	})
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, key)
	if _, err := io.Copy(mac, content); err != nil {
		return fmt.Errorf("ledger: %s: %w", label, err)
	}
	return l.meet(label, mac.Sum(nil), samePeople, note)
}

// meet adds a fingerprint that is new, and only then writes.
func (l *Ledger) meet(label string, print []byte, samePeople bool, note Note) error {
	known := false
	if err := l.view(func(tx *bbolt.Tx) error {
		known = tx.Bucket(filesBucket).Get(print) != nil
		return l.refuse(tx, label, known || samePeople)
	}); err != nil || known {
		return err
	}
	return l.update(func(last Entry, w *writer) error {
		files := w.tx.Bucket(filesBucket)
		if files.Get(print) != nil {
			return nil
		}
		if err := l.refuse(w.tx, label, samePeople); err != nil {
			return err
		}
		e := last.carry(File, note)
		e.Label, e.Print = shorten(label), hex.EncodeToString(print)
		if err := files.Put(print, []byte(e.Label)); err != nil {
			return err
		}
		return w.append(e)
	})
}

// refuse is an error if the ledger knows files and this is not one of them.
func (l *Ledger) refuse(tx *bbolt.Tx, label string, fine bool) error {
	known := labels(tx)
	if fine || len(known) == 0 {
		return nil
	}
	return &OtherDataError{l.path, label, known}
}

// labels lists the files that the ledger knows, by name.
func labels(tx *bbolt.Tx) []string {
	var names []string
	c := tx.Bucket(filesBucket).Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		names = append(names, string(v))
	}
	return names
}
