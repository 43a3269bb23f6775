package laws

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	cites    = regexp.MustCompile(`theory(?:\]\(theory\.md\))?,? (?:section )?§?(\d\.\d+)((?:,| to| and) §?\d\.\d+)*`)
	sections = regexp.MustCompile(`(?m)^(\d\.\d+) `)
	number   = regexp.MustCompile(`\d\.\d+`)
)

// TestTheoryHasWhatIsCited: sections of docs/theory.md that code and documents name are
// there.
func TestTheoryHasWhatIsCited(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "theory.md"))
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, m := range sections.FindAllSubmatch(text, -1) {
		has[string(m[1])] = true
	}
	cited := 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".md") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, c := range cites.FindAllString(string(content), -1) {
			for _, n := range number.FindAllString(c, -1) {
				if cited++; !has[n] {
					t.Errorf("%s cites %q, and docs/theory.md has no section %s", path, c, n)
				}
			}
		}
		return err
	})
	if err != nil || cited < 40 {
		t.Errorf("%d citations: %v", cited, err)
	}
}
