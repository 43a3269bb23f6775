package packed

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
)

// Shred overwrites a file with random bytes, has them written to disk, and removes it.
// It reports whether the file system is one that overwrites in place. A file with other
// names, or that is no ordinary file, is left alone.
func Shred(path string) (inPlace bool, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, fmt.Errorf("it is no ordinary file (%v); remove what it points to yourself", info.Mode().Type())
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return false, err
	}
	if links(info) > 1 {
		return false, errors.Join(errors.New("the file has other names (hard links); remove those first"), f.Close())
	}
	_, err = io.CopyN(f, rand.Reader, info.Size())
	err = errors.Join(err, f.Sync())
	inPlace = overwrites(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return false, err
	}
	return inPlace, os.Remove(path)
}
