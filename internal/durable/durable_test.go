package durable_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/durable"
)

// TestReplace: a file is replaced as a whole or left as it was, and nothing else is left.
func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	failed := errors.New("no")
	for _, c := range []struct {
		write error
		want  string
	}{{nil, "one"}, {failed, "one"}, {nil, "two"}} {
		err := durable.Replace(path, func(f *os.File) error {
			_, err := f.WriteString(map[bool]string{true: "one", false: "two"}[c.want == "one" && c.write == nil])
			return errors.Join(err, f.Close(), c.write)
		})
		if !errors.Is(err, c.write) {
			t.Errorf("%v, want %v", err, c.write)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != c.want {
			t.Errorf("%q, %v; want %q", text, err, c.want)
		}
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
	if err := durable.WriteFile(filepath.Join(path, "b"), nil); err == nil {
		t.Error("a file was made in a file")
	}
	if err := durable.Sync(path + "x"); err == nil {
		t.Error("what does not exist was made durable")
	}
}
