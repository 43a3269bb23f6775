// Package manual is the help of a tree of commands: arranged in groups with pages on topics,
// and set for man(1), the same words in roff.
package manual

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Name is what the page of a command is called: dpmcmc-ledger-show.
func Name(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// Section is 1 for commands and 7 for topics, which do nothing.
func Section(c *cobra.Command) int {
	if c.Runnable() {
		return 1
	}
	return 7
}

// Page is the page of a command or a topic.
func Page(c *cobra.Command) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s %d \"\" \"%s %s\"\n", quoted(strings.ToUpper(Name(c))), Section(c), escaped(c.Root().Name()),
		escaped(c.Root().Version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escaped(Name(c)), escaped(c.Short))
	if c.Runnable() {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", quoted(c.UseLine()))
	}
	b.WriteString(".SH DESCRIPTION\n")
	long := strings.TrimPrefix(c.Long, c.Short+"\n\n") // topics begin with it
	for i, block := range strings.Split(long, "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		paragraph(&b, block)
	}
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	if flags := c.LocalFlags().FlagUsages(); flags != "" && c.Runnable() {
		b.WriteString(".SH OPTIONS\n")
		for line := range strings.Lines(flags) {
			flag, about, _ := strings.Cut(strings.TrimSpace(line), "   ")
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", quoted(flag), text(strings.TrimSpace(about)))
		}
	}
	if c.Example != "" {
		b.WriteString(".SH EXAMPLES\n")
		paragraph(&b, c.Example)
	}
	if related := related(c); len(related) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(related, " ,\n"))
	}
	return []byte(b.String())
}

// paragraph is filled, unless one of its lines is indented: then lines stay as they are.
func paragraph(b *strings.Builder, block string) {
	lines := strings.Split(block, "\n")
	set := slices.ContainsFunc(lines, func(l string) bool { return strings.TrimLeft(l, " \t") != l })
	if set {
		b.WriteString(".nf\n")
	}
	for _, line := range lines {
		b.WriteString(text(strings.TrimRight(line, " ")) + "\n")
	}
	if set {
		b.WriteString(".fi\n")
	}
}

// related are the pages above and below.
func related(c *cobra.Command) []string {
	var pages []string
	add := func(c *cobra.Command) {
		pages = append(pages, fmt.Sprintf(".BR %s (%d)", escaped(Name(c)), Section(c)))
	}
	if c.HasParent() {
		add(c.Parent())
	}
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			add(sub)
		}
	}
	return pages
}

// characters are those that roff would take for something else, or print as another.
var characters = strings.NewReplacer(`\`, `\e`, "-", `\-`, "^", `\(ha`, "~", `\(ti`, "`", `\(ga`, "'", `\(aq`)

func escaped(s string) string { return characters.Replace(s) }

// quoted is an argument of a macro.
func quoted(s string) string { return `"` + strings.ReplaceAll(escaped(s), `"`, `\(dq`) + `"` }

// text is a line that is no request.
func text(s string) string {
	if strings.HasPrefix(s, ".") {
		return `\&` + escaped(s)
	}
	return escaped(s)
}
