package accountant

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlanningListsEveryKind: the table of docs/planning.md is the registry's. It is made
// by this test, which prints what has to stand there.
func TestPlanningListsEveryKind(t *testing.T) {
	var b strings.Builder
	b.WriteString("| kind | parameters | what is released |\n|---|---|---|\n")
	for _, k := range registry {
		var parameters []string
		for _, p := range k.parameters {
			name, optional := strings.CutSuffix(p, "?")
			if name = "`" + name + "`"; optional {
				name = "[" + name + "]"
			}
			parameters = append(parameters, name)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.name, strings.Join(parameters, ", "), k.about)
	}
	text, err := os.ReadFile(filepath.Join("..", "docs", "planning.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\n\n"+b.String()+"\n") {
		t.Errorf("docs/planning.md must have the table\n\n%s", b.String())
	}
}
