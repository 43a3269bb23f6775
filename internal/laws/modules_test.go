package laws

import (
	"encoding/json"
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
	run := func(dir string, args ...string) []byte {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go %v in %s: %v", args, dir, err)
		}
		return out
	}
	ours := strings.Fields(string(run(root, "list", "-m", "-f", "{{.Path}}", "all")))
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
		// Not go list -m all, which would write the module's go.sum.
		var file struct {
			Require []struct {
				Path     string
				Indirect bool
			}
		}
		if err := json.Unmarshal(run(dir, "mod", "edit", "-json"), &file); err != nil {
			t.Fatal(err)
		}
		heavy := 0
		for _, m := range file.Require {
			if m.Indirect || strings.HasPrefix(m.Path, strings.TrimSuffix(module, "/")) {
				continue
			}
			if heavy++; slices.Contains(ours, m.Path) {
				t.Errorf("the root module needs %s, which is for %s alone", m.Path, dir)
			}
		}
		if heavy == 0 {
			t.Errorf("%s needs no module: it could be a package of the root", dir)
		}
	}
}
