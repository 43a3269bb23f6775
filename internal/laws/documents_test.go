package laws

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

const (
	widest       = 100 // columns of a line of prose
	widestCode   = 120 // and of code, a tab counting as one
	longestGuide = 120 // lines of README.md
	longestMean  = 18  // words of a document's mean sentence
)

// TestDocumentsAreLinked: README.md is the map of docs, links each document there, and no
// link or command of any document names a file that is not there.
func TestDocumentsAreLinked(t *testing.T) {
	documents := markdown(t)
	found := links("README.md", documents["README.md"])
	for _, name := range guides(documents) {
		if name != "README.md" && !slices.Contains(found, name) {
			t.Errorf("%s is not linked from README.md", name)
		}
	}
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join("..", "..", name))
		return err == nil
	}
	for name, text := range documents {
		for _, l := range links(name, text) {
			if !exists(l) {
				t.Errorf("%s links %s, which does not exist", name, l)
			}
		}
		for _, p := range commanded(text) {
			if !exists(p) {
				t.Errorf("%s has a command for ./%s, which does not exist", name, p)
			}
		}
	}
}

// TestDocumentsAreReadable: lines fit a terminal, sentences are short on average, and
// README.md is two pages. Proofs and decisions are read slowly: their tables and formulas
// may be wide, and their sentences have no mean.
func TestDocumentsAreReadable(t *testing.T) {
	documents := markdown(t)
	if n := strings.Count(documents["README.md"], "\n"); n > longestGuide {
		t.Errorf("README.md has %d lines, more than %d", n, longestGuide)
	}
	for name, text := range documents {
		for _, line := range wide(prose(text), widest) {
			if !row(line) {
				t.Errorf("%s: wider than %d columns: %s", name, widest, line)
			}
		}
	}
	for _, name := range guides(documents) {
		for _, line := range wide(strings.Split(documents[name], "\n"), widest) {
			t.Errorf("%s: wider than %d columns: %s", name, widest, line)
		}
		if m := meanSentence(documents[name]); m >= longestMean {
			t.Errorf("%s: a sentence has %.1f words on average, not less than %d", name, m, longestMean)
		}
	}
}

// TestCodeFits: lines of code fit beside each other on a screen.
func TestCodeFits(t *testing.T) {
	files := written(t, ".go")
	if len(files) < 500 {
		t.Fatalf("only %d files of code", len(files))
	}
	for name, text := range files {
		for _, line := range wide(strings.Split(text, "\n"), widestCode) {
			t.Errorf("%s: wider than %d columns: %s", name, widestCode, line)
		}
	}
}

// TestDocumentsAreMeasured holds the measures themselves: what they count, what they
// leave out, and that a document made worse is found out.
func TestDocumentsAreMeasured(t *testing.T) {
	page := "# A heading of many words that is no sentence\n\n" +
		"One two three. Four `five.six` 7.5 eight\nnine ten.\n\n| a table | of. Many words |\n\n" +
		"* an item of e.g. seven words here\n* two words\n\n```\nA program. Is not prose\n```\n\n    nor is this one\n\nδ " +
		"is five words [long](a.md).\n"
	if got, want := meanSentence(page), float64(3+6+7+2+5)/5; got != want {
		t.Errorf("mean %v, not %v", got, want)
	}
	for mutant, worse := range map[string]string{
		"no full stops":  strings.ReplaceAll(page, ". ", ", "),
		"items run on":   strings.ReplaceAll(page, "\n* ", " "),
		"one long aside": page + "\nThis " + strings.Repeat("goes on and ", 9) + "ends.\n",
	} {
		if meanSentence(worse) <= meanSentence(page) {
			t.Errorf("%s: not found out", mutant)
		}
	}
	long := strings.Repeat("é", widest+1)
	if got := wide(prose(long[:2*widest]+"\n```\n"+long+"\n```\n\n    "+long+"\n"), widest); len(got) != 0 {
		t.Errorf("a line that fits or a program is called wide: %q", got)
	}
	if got := wide(prose("```\na\n```\n"+long+"\n* a\n  "+long+"\n| "+long), widest); len(got) != 3 {
		t.Errorf("%d wide lines, not 3", len(got))
	}
	text := "[a](b.md#c) [d\ne](../f.go) [g](https://h) [i](#j)\n```\n[k](l)\n```\n`go run ./cmd/x -v` `go test ./y/... " +
		"./z -run A`"
	if got := links("docs/a.md", text); !slices.Equal(got, []string{"docs/b.md", "f.go"}) {
		t.Errorf("links %q", got)
	}
	if got := commanded(text); !slices.Equal(got, []string{"cmd/x", "y", "z"}) {
		t.Errorf("folders %q", got)
	}
}

// markdown reads every document of the repository, by its path from the root.
func markdown(t *testing.T) map[string]string {
	documents := written(t, ".md")
	if len(guides(documents)) < 10 {
		t.Fatalf("only %d documents", len(documents))
	}
	return documents
}

// written are the repository's files of one extension, by their paths from the root.
func written(t *testing.T, extension string) map[string]string {
	all := map[string]string{}
	root := os.DirFS(filepath.Join("..", ".."))
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case path.Ext(name) == extension:
			text, err := fs.ReadFile(root, name)
			all[name] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// guides are README.md and docs/*.md.
func guides(documents map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(documents)), func(name string) bool {
		return name != "README.md" && path.Dir(name) != "docs"
	})
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s#]+)[^)\s]*\)`)
	command = regexp.MustCompile("go (?:run|test|vet|build) [^`\n|]*")
	inside  = regexp.MustCompile(`(?:^|\s)\./([\w/-]+)`)
	item    = regexp.MustCompile(`^\s*([*-]|\d+\.) `)
)

// links are the files that a document's relative links name, by their paths from the root.
func links(name, text string) []string {
	var files []string
	for _, m := range link.FindAllStringSubmatch(strings.Join(prose(text), "\n"), -1) {
		if !strings.Contains(m[1], ":") {
			files = append(files, path.Join(path.Dir(name), m[1]))
		}
	}
	return files
}

// commanded are the folders that a document's go commands name.
func commanded(text string) []string {
	var folders []string
	for _, c := range command.FindAllString(text, -1) {
		for _, m := range inside.FindAllStringSubmatch(c, -1) {
			folders = append(folders, strings.TrimSuffix(m[1], "/"))
		}
	}
	return folders
}

// prose is a document's lines without programs: those in fences, and those that are
// indented by four after an empty line.
func prose(text string) []string {
	var lines []string
	fenced, indented, empty := false, false, true
	for line := range strings.SplitSeq(text, "\n") {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```") || strings.TrimSpace(line) == "$$"
		indented = strings.HasPrefix(line, "    ") && (empty || indented)
		empty = strings.TrimSpace(line) == ""
		if fence {
			fenced = !fenced
		}
		if fenced || fence || indented {
			line = ""
		}
		lines = append(lines, line)
	}
	return lines
}

// row says whether a line is a table's, and not one that begins with an absolute value.
func row(line string) bool { return strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "|-") }

// wide are the lines beyond the widest.
func wide(lines []string, columns int) []string {
	return slices.DeleteFunc(lines, func(line string) bool { return utf8.RuneCountInString(line) <= columns })
}

// meanSentence is the mean number of words of a document's sentences. A sentence ends
// with a paragraph or an item, or with a full stop, a question mark or an exclamation
// mark before what can begin one. A word has a letter or a digit. Headings and tables
// are left out.
func meanSentence(text string) float64 {
	words, sentences, current := 0, 0, 0
	end := func() {
		if current > 0 {
			words, sentences, current = words+current, sentences+1, 0
		}
	}
	stopped := false
	for _, line := range prose(text) {
		if row(line) || strings.HasPrefix(line, "#") {
			line = ""
		}
		if line == "" || item.MatchString(line) {
			end()
			line = item.ReplaceAllString(line, "")
		}
		for word := range strings.FieldsSeq(line) {
			if stopped && begins(word) {
				end()
			}
			if strings.IndexFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0 {
				current++
			}
			stopped = strings.HasSuffix(strings.TrimRight(word, "*)\""), ".") || strings.ContainsAny(word[len(word)-1:], "!?")
		}
	}
	end()
	return float64(words) / float64(max(sentences, 1))
}

// begins says whether a word can be the first of a sentence.
func begins(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(r) || unicode.IsDigit(r) || unicode.Is(unicode.Greek, r) || strings.ContainsRune("`*[(|‖", r)
}
