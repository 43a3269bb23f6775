package laws

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// headlines are the verdicts of chains/ that doubt a run, as a table names them: the condition before
// the colon, or what is not usable after it.
func headlines(t *testing.T) (out []string) {
	files, err := filepath.Glob(filepath.Join("..", "..", "chains", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if text, err := strconv.Unquote(l.Value); err == nil {
					out = append(out, condition(text))
				}
			}
			return true
		})
	}
	out = slices.DeleteFunc(out, func(s string) bool { return s == "" })
	slices.Sort(out)
	return slices.Compact(out)
}

// condition is how a table names a headline; empty for other text.
func condition(headline string) string {
	before, after, found := strings.Cut(headline, ": ")
	switch {
	case !found:
	case before == "Not usable as it stands":
		return strings.TrimSuffix(after, ".")
	case strings.HasPrefix(before, "Usable "):
		return strings.TrimPrefix(strings.TrimPrefix(before, "Usable "), "if ")
	}
	return ""
}

// TestVerdictsAreExplained: docs/verdicts.md has a row for each headline that doubts a run, and none besides.
func TestVerdictsAreExplained(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "verdicts.md"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) == 4 && !strings.Contains(line, "---") {
			rows = append(rows, strings.TrimSpace(cells[1]))
		}
	}
	all := headlines(t)
	if len(all) < 10 {
		t.Fatalf("%d headlines were found in chains/: %q", len(all), all)
	}
	for _, h := range all {
		if !slices.Contains(rows, h) {
			t.Errorf("docs/verdicts.md has no row %q", h)
		}
	}
	for _, r := range rows {
		header := strings.HasPrefix(r, "Usable") || strings.HasPrefix(r, "Not usable")
		if !header && !slices.Contains(all, r) {
			t.Errorf("docs/verdicts.md has a row %q, which no verdict of chains/ has", r)
		}
	}
}
