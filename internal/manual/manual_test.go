package manual

import (
	"testing"

	"github.com/spf13/cobra"
)

// TestPage: what roff would take for a request, or print as another character, is escaped,
// indented lines stay lines, and related pages are named.
func TestPage(t *testing.T) {
	root := &cobra.Command{Use: "tool", Version: "1-a", Run: func(*cobra.Command, []string) {}}
	c := &cobra.Command{Use: "sub-way FILE", Short: "Do it", Run: func(*cobra.Command, []string) {},
		Long: "Do it\n\nFirst\nline, --flag.\n.dot 'quoted'\n\nList:\n  a  b\\n\n  ~ ^ `", Example: `  tool sub-way "x"`}
	c.Flags().String("out", "here", `write to a "file"`)
	root.AddCommand(c, &cobra.Command{Use: "topic", Short: "T", Long: "T"})
	const want = `.TH "TOOL\-SUB\-WAY" 1 "" "tool 1\-a"
.SH NAME
tool\-sub\-way \- Do it
.SH SYNOPSIS
.B "tool sub\-way FILE [flags]"
.SH DESCRIPTION
First
line, \-\-flag.
\&.dot \(aqquoted\(aq
.PP
.nf
List:
  a  b\en
  \(ti \(ha \(ga
.fi
.SH OPTIONS
.TP
.B "\-h, \-\-help"
help for sub\-way
.TP
.B "\-\-out string"
write to a "file" (default "here")
.SH EXAMPLES
.nf
  tool sub\-way "x"
.fi
.SH SEE ALSO
.BR tool (1)
`
	if got := string(Page(c)); got != want {
		t.Errorf("the page is\n%s\nwant\n%s", got, want)
	}
	if s := Section(root.Commands()[1]); s != 7 {
		t.Errorf("a topic is in section %d", s)
	}
}
