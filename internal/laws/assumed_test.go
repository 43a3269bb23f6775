package laws

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/targets"
)

// TestDocumentsSayWhatIsAssumed: the list of what remains assumed of a user's target is
// the same wherever it is read, sentence by sentence.
func TestDocumentsSayWhatIsAssumed(t *testing.T) {
	sentences := strings.SplitAfter(targets.Assumed, ". ")
	if len(sentences) < 5 {
		t.Fatalf("%d sentences", len(sentences))
	}
	for _, document := range []string{"README.md", "SECURITY.md", "docs/targets.md", "targets/doc.go"} {
		text, err := os.ReadFile(filepath.Join("..", "..", document))
		if err != nil {
			t.Fatal(err)
		}
		flat := strings.Join(strings.Fields(strings.ReplaceAll(string(text), "\n//", "\n")), " ")
		for _, s := range sentences {
			if !strings.Contains(flat, strings.TrimSpace(s)) {
				t.Errorf("%s does not say %q", document, s)
			}
		}
		if document != "targets/doc.go" && !strings.Contains(strings.ToLower(flat), "one record at a time") {
			t.Errorf("%s does not say what such a target sees", document)
		}
	}
}
