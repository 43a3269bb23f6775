// Package shared finds the public data and reference values that lie beside a
// checkout in a folder named shared. The repository holds none of those files:
// a test that needs one reads it where it is, and says so when it is not there.
package shared

import (
	"os"
	"path/filepath"
	"testing"
)

// Path returns the path of a file of the shared folder, named relative to that
// folder with forward slashes, and skips the test, naming the file, when it is
// missing. The checkout is found from the folder in which the test runs: the source
// position that a binary holds is no path under -trimpath.
func Path(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for !has(dir, filepath.Join("internal", "shared")) {
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		t.Fatalf("shared: the test does not run inside a checkout, so %s cannot be looked for", name)
	}
	path := filepath.Join(filepath.Dir(dir), "shared", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("shared: %s is not beside this checkout (%v)", name, err)
	}
	return path
}

func has(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}
