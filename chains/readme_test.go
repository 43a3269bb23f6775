package chains_test

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeIsTheExample: README's quick start is the body of Example, in at most 15
// lines.
func TestReadmeIsTheExample(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(readme), "```go\n")
	block, _, _ = strings.Cut(block, "```")
	lines := strings.Split(strings.TrimSpace(block), "\n")
	if !found || len(lines) > 15 {
		t.Errorf("the quick start has %d lines", len(lines))
	}
	indented := "\t" + strings.Join(lines, "\n\t")
	if !strings.Contains(string(example), indented) {
		t.Errorf("Example does not hold\n%s", indented)
	}
}
