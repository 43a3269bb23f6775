package manual

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/typeset"
	"github.com/dpmcmc/dpmcmc/models"
)

// topics are pages of help that are about no single command: a line, an empty one, text.
//
//go:embed topics/*.txt
var topics embed.FS

// TopicNames are in the order in which a newcomer reads them. That on schemas is the help
// of the command of that name.
var TopicNames = []string{"privacy", "schema", "budget", "results", "kernels", "models"}

// Topic is the first line of a page and the rest.
func Topic(name string) (short, long string) {
	text, err := topics.ReadFile("topics/" + name + ".txt")
	if err != nil {
		panic("dpmcmc: " + err.Error())
	}
	short, long, _ = strings.Cut(string(text), "\n\n")
	return short, strings.TrimRight(long, "\n")
}

// newTopic is a page of help: dpmcmc help NAME.
func newTopic(name string) *cobra.Command {
	short, long := Topic(name)
	switch name { // these go on with what the registries say
	case "kernels":
		long += "\n\n" + kernelHelp()
	case "models":
		long += "\n\n" + modelHelp()
	}
	return &cobra.Command{Use: name, Short: short, Long: short + "\n\n" + strings.TrimRight(long, "\n")}
}

// Width is that of help which no terminal shows.
const Width = 80

// kernelHelp lists the kernels with their defaults.
func kernelHelp() string {
	var b strings.Builder
	for _, name := range chains.Names() {
		k, err := chains.Describe(name)
		if err != nil {
			panic("dpmcmc: a kernel that has a name has a description: " + err.Error())
		}
		fmt.Fprintf(&b, "%s\n", name)
		for _, line := range []string{k.About + ".", "Defaults: " + k.Defaults + ".",
			"Flags of its own: --" + strings.Join(k.Own, ", --") + "."} {
			fmt.Fprintln(&b, strings.Join(typeset.Broken("  ", "    ", strings.Fields(line), Width), "\n"))
		}
	}
	return b.String()
}

// modelHelp lists the models with their options.
func modelHelp() string {
	var b strings.Builder
	for _, name := range models.Names() {
		about := models.About(name) + "."
		var own []string
		for _, s := range models.Settings() {
			for _, m := range s.Models {
				if m == name {
					own = append(own, "--"+s.Name)
				}
			}
		}
		if own != nil {
			about += " Flags of its own: " + strings.Join(own, ", ") + "."
		}
		fmt.Fprintf(&b, "%s\n%s\n", name, strings.Join(typeset.Broken("  ", "    ", strings.Fields(about), Width), "\n"))
	}
	return b.String()
}

// Arrange sorts the commands into groups, adds the topics and completion, and fits the
// help of flags to a width, or to Width for 0.
func Arrange(root *cobra.Command, width int) {
	for _, g := range []struct {
		title string
		names []string
	}{
		{"Before a run, without records", []string{"schema", "plan", "start", "tune", "account"}},
		{"A run", []string{"sample", "compare", "audit", "ledger"}},
		{"After a run, from what it released", []string{"summary", "predict", "report"}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, c := range root.Commands() {
			for _, name := range g.names {
				if c.Name() == name {
					c.GroupID = g.title
				}
			}
		}
	}
	for _, name := range TopicNames {
		if !slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name }) {
			root.AddCommand(newTopic(name))
		}
	}
	width = cmp.Or(width, Width)
	Every(root, func(c *cobra.Command) { c.Long = refitted(c.Long, width) })
	root.SetUsageTemplate(strings.NewReplacer(
		".LocalFlags.FlagUsages", fmt.Sprintf(".LocalFlags.FlagUsagesWrapped %d", width),
		".InheritedFlags.FlagUsages", fmt.Sprintf(".InheritedFlags.FlagUsagesWrapped %d", width),
		"Additional help topics:", "Help topics:",
		"{{rpad .CommandPath .CommandPathPadding}}", `{{rpad (printf "help %s" .Name) 14}}`,
	).Replace(root.UsageTemplate()))
	root.SetHelpCommand(newHelp(root))
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" { // which else takes any word for a shell
			c.Args, c.RunE = root.Args, func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}

// Every visits the tree of commands.
func Every(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		Every(sub, visit)
	}
}

// refitted is a help text within a width: paragraphs with a line beyond it are set anew.
func refitted(text string, width int) string {
	blocks := strings.Split(text, "\n\n")
	for i, block := range blocks {
		lines := strings.Split(block, "\n")
		wide := slices.ContainsFunc(lines, func(l string) bool { return utf8.RuneCountInString(l) > width })
		set := slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, " ") })
		if wide && !set {
			blocks[i] = strings.Join(typeset.Broken("", "", strings.Fields(block), width), "\n")
			continue
		}
		blocks[i] = typeset.Fit(block, width)
	}
	return strings.Join(blocks, "\n\n")
}

// newHelp is dpmcmc help, which refuses what it does not know.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND|TOPIC]",
		Short: "Help about a command or a topic",
		Long:  "help prints the help of a command, or a page about a topic: " + strings.Join(TopicNames, ", ") + ".",
		ValidArgsFunction: func(_ *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, c := range root.Commands() {
				if len(args) == 0 && strings.HasPrefix(c.Name(), start) {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := Lookup(root, args)
			if err != nil {
				return err
			}
			return c.Help()
		},
	}
}

// Lookup is the command or topic of a name.
func Lookup(root *cobra.Command, name []string) (*cobra.Command, error) {
	c, rest, err := root.Find(name)
	if err != nil || len(rest) > 0 || c == root && len(name) > 0 {
		names := slices.Clone(TopicNames)
		for _, c := range root.Commands() {
			names = append(names, c.Name())
		}
		slices.Sort(names)
		word := strings.Join(name, " ")
		return nil, fmt.Errorf("there is no help on %q%s (topics are %s, and dpmcmc --help lists the commands)",
			word, Meant(word, slices.Compact(names)), strings.Join(TopicNames, ", "))
	}
	return c, nil
}
