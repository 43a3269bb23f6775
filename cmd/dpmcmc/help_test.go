package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/manual"
	"github.com/dpmcmc/dpmcmc/models"
)

// TestHelpDescribesEveryKernelAndModel: what the registries say, line breaks aside.
func TestHelpDescribesEveryKernelAndModel(t *testing.T) {
	_, kernels, _ := call(t.Context(), "help", "kernels")
	flat := strings.Join(strings.Fields(kernels), " ")
	for _, name := range chains.Names() {
		k, err := chains.Describe(name)
		if err != nil || !strings.Contains(kernels, "\n"+name+"\n") || !strings.Contains(flat, k.About+".") ||
			!strings.Contains(flat, k.Defaults+".") {
			t.Errorf("help kernels does not describe %s", name)
		}
	}
	_, text, _ := call(t.Context(), "help", "models")
	for _, name := range models.Names() {
		if !strings.Contains(text, "\n"+name+"\n  ") {
			t.Errorf("help models lacks %s", name)
		}
	}
}

var (
	named    = regexp.MustCompile(`dpmcmc ((?:help )?[a-z]+)`)
	flagName = regexp.MustCompile(`--[a-z][a-z-]*[a-z]`)
)

// TestHelpNamesWhatThereIs: commands, topics and flags that help texts name exist, lines
// fit a terminal of 80 columns, and every command has an example.
func TestHelpNamesWhatThereIs(t *testing.T) {
	root := newRoot()
	before := len(root.Commands())
	manual.Arrange(root, 0)
	seen := map[string]bool{}
	for _, c := range root.Commands() {
		if seen[c.Name()] {
			t.Errorf("two commands or topics are called %s", c.Name())
		}
		seen[c.Name()] = true
	}
	if len(root.Commands()) != before+len(manual.TopicNames) { // schema is a command, and completion is added
		t.Errorf("%d commands and topics", len(root.Commands()))
	}
	flags := map[string]bool{"--help": true, "--version": true}
	manual.Every(root, func(c *cobra.Command) {
		for _, f := range flagName.FindAllString(c.LocalFlags().FlagUsages(), -1) {
			flags[f] = true
		}
	})
	manual.Every(root, func(c *cobra.Command) {
		if c == root || c.Name() == "help" || strings.HasPrefix(c.CommandPath(), "dpmcmc completion") {
			return
		}
		if c.Runnable() && !c.HasSubCommands() && c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for _, name := range flagName.FindAllString(c.Long+c.Example, -1) {
			if !flags[name] {
				t.Errorf("the help of %s names %s, which no command has", c.CommandPath(), name)
			}
		}
		for _, m := range named.FindAllStringSubmatch(c.Long+"\n"+c.Example, -1) {
			path := strings.Fields(strings.TrimPrefix(m[1], "help "))
			if found, _, err := root.Find(path); m[1] != "help" && (err != nil || found == root) {
				t.Errorf("the help of %s names dpmcmc %s, which does not exist", c.CommandPath(), m[1])
			}
		}
		for line := range strings.SplitSeq(c.Long, "\n") {
			if utf8.RuneCountInString(line) > manual.Width && !strings.HasPrefix(strings.TrimSpace(line), "dpmcmc ") {
				t.Errorf("the help of %s is wide: %s", c.CommandPath(), line)
			}
		}
	})
	for _, name := range manual.TopicNames {
		if code, out, _ := call(t.Context(), "help", name); code != exitOK || !strings.Contains(out, "\n\n") {
			t.Errorf("help %s: exit code %d: %s", name, code, out)
		}
	}
}

// TestHelpOnNothing: what is not there is named, with what is.
func TestHelpOnNothing(t *testing.T) {
	for args, want := range map[string]string{
		"help nosuch": "topics are privacy", "sampel": "did you mean sample?", "frobnicate": "dpmcmc --help lists them",
		"completion klingon": "one of bash, fish, powershell, zsh", "ledger shwo": "did you mean show?",
		"schema people.csv": "did you mean --data people.csv?", "account extra": "takes flags only",
		"man nosuch": "topics are", "help kernel": "did you mean kernels?", "plan --lambda 1": "(dpmcmc plan --help lists",
		"sample --epsilom 1": "did you mean --epsilon?", "sample -epsilon 1": "did you mean --epsilon?",
		"compare --epsilon 1": "on private data, which this is not",
	} {
		if code, _, errw := call(t.Context(), strings.Fields(args)...); code != exitUsage || !strings.Contains(errw, want) {
			t.Errorf("%s: exit code %d: %s", args, code, errw)
		}
	}
	if _, out, _ := call(t.Context(), "__complete", "help", "pri"); !strings.Contains(out, "privacy") {
		t.Errorf("help pri completes to %s", out)
	}
}

// TestManSaysWhatHelpSays: the page of every command and topic has the words of its help,
// flags and examples, and --out writes all of them.
func TestManSaysWhatHelpSays(t *testing.T) {
	root := newRoot()
	manual.Arrange(root, 0)
	dir := t.TempDir()
	succeed(t, "man", "--out", dir)
	plain := strings.NewReplacer(`\e`, `\`, `\-`, "-", `\(ha`, "^", `\(ti`, "~", `\(ga`, "`", `\(aq`, "'", `\(dq`, `"`,
		`\&`, "")
	manual.Every(root, func(c *cobra.Command) {
		section := 1
		if !c.Runnable() {
			section = 7
		}
		name := strings.ReplaceAll(c.CommandPath(), " ", "-")
		page := plain.Replace(readText(t, filepath.Join(dir, fmt.Sprintf("man%d/%s.%d", section, name, section))))
		words := map[string]bool{}
		for _, w := range strings.Fields(page) {
			words[w] = true
		}
		help := c.Long + " " + c.Example
		if c.Runnable() {
			help += " " + c.LocalFlags().FlagUsages()
		}
		for _, w := range strings.Fields(help) {
			if !words[w] && !words[`"`+w+`"`] && !words[`"`+w] && !words[w+`"`] {
				t.Errorf("the page of %s lacks %s", c.CommandPath(), w)
			}
		}
	})
	if page, help := succeed(t, "man", "sample"), readText(t,
		filepath.Join(dir, "man1", "dpmcmc-sample.1")); page != help {
		t.Error("man sample prints another page than --out writes")
	}
}

// TestNarrowTerminal: what commands print fits, but for commands to copy.
func TestNarrowTerminal(t *testing.T) {
	t.Setenv("COLUMNS", "40")
	for _, args := range []string{
		"sample --data " + small + " --start prior-mean --iterations 60",
		"account --events ../../docs/events/heikkila2019-bit.json --delta 1e-6",
		"plan --kernel gaussian --records 2000 --epsilon 1 --delta 1e-6 --solve noise --iterations 10",
	} {
		_, out, errw := call(t.Context(), strings.Fields(args)...)
		for line := range strings.SplitSeq(out, "\n") {
			if utf8.RuneCountInString(line) > 40 && strings.Contains(strings.TrimSpace(line), " ") &&
				!strings.HasPrefix(line, "dpmcmc ") {
				t.Errorf("%s: wider than 40 columns: %q", args, line)
			}
		}
		if out == "" {
			t.Errorf("%s: %s", args, errw)
		}
	}
}
