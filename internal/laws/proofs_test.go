package laws

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	codeSpan   = regexp.MustCompile("`([^`\n]+)`")
	qualified  = regexp.MustCompile(`^[A-Za-z]\w*(\.[A-Za-z]\w*)*(\(\))?$`)
	identifier = regexp.MustCompile(`[A-Za-z_]\w*`)
)

// TestProofsNameTheirCode: what a proof calls by a name in code, the code calls so too.
func TestProofsNameTheirCode(t *testing.T) {
	known := map[string]bool{}
	for path, p := range packages(t) {
		if !strings.HasPrefix(path+"/", module) {
			continue
		}
		files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range identifier.FindAllString(string(text), -1) {
				known[name] = true
			}
		}
	}
	proofs, err := filepath.Glob(filepath.Join("..", "..", "docs", "proofs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, p := range proofs {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, span := range codeSpan.FindAllStringSubmatch(string(text), -1) {
			if !qualified.MatchString(span[1]) {
				continue
			}
			for _, name := range identifier.FindAllString(span[1], -1) {
				if checked++; !known[name] {
					t.Errorf("%s: `%s`: no code is called %s", p, span[1], name)
				}
			}
		}
	}
	if checked < 300 {
		t.Errorf("only %d names were looked up", checked)
	}
}
