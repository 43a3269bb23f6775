package laws

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRootDownloadsNoSource: what other modules of the repository need is not in the build
// list of the root module, so that who imports that downloads and compiles none of it.
func TestRootDownloadsNoSource(t *testing.T) {
	root := filepath.Join("..", "..")
	list := func(dir string, args ...string) []string {
		cmd := exec.Command("go", append([]string{"list"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list in %s: %v", dir, err)
		}
		return strings.Fields(string(out))
	}
	ours := list(root, "-m", "-f", "{{.Path}}", "all")
	var modules []string
	if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "go.mod" && filepath.Dir(path) != root {
			modules = append(modules, filepath.Dir(path))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(modules) == 0 {
		t.Error("there is no other module: the test sees nothing")
	}
	for _, dir := range modules {
		heavy := 0
		for _, m := range list(dir, "-mod=mod", "-m", "-f", "{{if not (or .Main .Indirect)}}{{.Path}}{{end}}", "all") {
			if strings.HasPrefix(m, strings.TrimSuffix(module, "/")) {
				continue
			}
			if heavy++; slices.Contains(ours, m) {
				t.Errorf("the root module needs %s, which is for %s alone", m, dir)
			}
		}
		if heavy == 0 {
			t.Errorf("%s needs no module: it could be a package of the root", dir)
		}
	}
}
