// Package durable makes files outlast a power loss. A file's content does when the file
// was fsynced, and its name when the folder was.
package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrLocked says that another process has locked a file.
var ErrLocked = errors.New("another process is writing here")

// WriteFile replaces a file as a whole: after a crash there is the old one or the new one.
func WriteFile(path string, content []byte) error {
	return Replace(path, func(f *os.File) error {
		_, err := f.Write(content)
		return errors.Join(err, f.Close())
	})
}

// Create writes a new file, and refuses to overwrite one.
func Create(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists and is not overwritten; move it away or choose another name", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// Replace puts a file in place of another one once write has written it. write may close
// it, or keep it open to go on.
func Replace(path string, write func(*os.File) error) error {
	temporary := path + ".tmp"
	f, err := os.Create(temporary)
	if err != nil {
		return err
	}
	if err = errors.Join(write(f), Sync(temporary)); err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return SyncDir(filepath.Dir(path))
}

// Sync makes a file's content outlast a power loss, whoever wrote it.
func Sync(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// SyncDir makes the names in a folder outlast a power loss.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
