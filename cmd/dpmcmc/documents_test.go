package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/manual"
)

var (
	fenced  = regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```")
	inline  = regexp.MustCompile("`(dpmcmc [^`]+)`")
	ignored = regexp.MustCompile(`\s+(#|>|\|).*$`)
)

// commandsIn are the dpmcmc commands of a document: those of its programs, and those in
// its sentences.
func commandsIn(text string) (programs, sentences []string) {
	for _, block := range fenced.FindAllStringSubmatch(text, -1) {
		whole := strings.ReplaceAll(block[1], "\\\n", " ")
		for line := range strings.SplitSeq(whole, "\n") {
			line = strings.TrimPrefix(strings.TrimSpace(line), "go run ./cmd/")
			if strings.HasPrefix(line, "dpmcmc ") {
				programs = append(programs, ignored.ReplaceAllString(line, ""))
			}
		}
	}
	rest := fenced.ReplaceAllString(text, "")
	for _, m := range inline.FindAllStringSubmatch(rest, -1) {
		sentences = append(sentences, m[1])
	}
	return programs, sentences
}

// TestDocumentsCommandsAreUnderstood: every command of README.md and docs/*.md is one, and
// has the flags that it is given, with values of their kinds. Those of docs/planning.md run
// in TestExamplesRun, those of other documents in TestDocumentsCommandsRun, and those of
// README.md in .ci/run.
func TestDocumentsCommandsAreUnderstood(t *testing.T) {
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, path := range append(paths, "../../README.md", "../../CONTRIBUTING.md", "../../SECURITY.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		programs, sentences := commandsIn(string(text))
		for i, line := range append(programs, sentences...) {
			if why := misunderstood(line, i < len(programs)); why != "" {
				t.Errorf("%s: %s: %s", filepath.Base(path), line, why)
			}
			count++
		}
	}
	if count < 30 {
		t.Errorf("only %d commands were found", count)
	}
	for line, want := range map[string]bool{
		"dpmcmc sample --epsilon 1": true, "dpmcmc sample --epsilom 1": false, "dpmcmc simple": false,
		"dpmcmc sample --epsilon one": false, "dpmcmc ledger show x": true, "dpmcmc help privacy": true,
	} {
		if got := misunderstood(line, true) == ""; got != want {
			t.Errorf("%s is understood: %v", line, got)
		}
	}
}

// misunderstood says what is wrong with a command, if anything. Those in sentences may
// lack values.
func misunderstood(line string, whole bool) string {
	root := newRoot()
	manual.Arrange(root, 0)
	words := strings.Fields(line)[1:]
	if len(words) > 0 && words[0] == "help" {
		words = words[1:]
	}
	c, rest, err := root.Find(words)
	if err != nil || c == root && len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		return "there is no such command"
	}
	if !whole {
		for _, w := range rest {
			name, isFlag := strings.CutPrefix(w, "--")
			name, _, _ = strings.Cut(name, "=")
			if isFlag && c.Flags().Lookup(name) == nil && name != "help" && name != "version" {
				return "there is no --" + name
			}
		}
		return ""
	}
	if err := c.ParseFlags(rest); err != nil {
		return err.Error()
	}
	return ""
}
