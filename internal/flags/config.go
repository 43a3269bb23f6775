// Package flags has groups of flags that several commands take: the settings of a run, its
// model, its budget, what is public about its table, and a file that sets any of them.
package flags

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/models"
)

// Configure sets the flags named in the --config file, except those given on
// the command line.
func Configure(c *cobra.Command, path string) error {
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	var values map[string]any
	if err := toml.Unmarshal(text, &values); err != nil {
		var where *toml.DecodeError
		if errors.As(err, &where) {
			line, column := where.Position()
			return fmt.Errorf("--config: %s:%d:%d: %v", path, line, column, err)
		}
		return fmt.Errorf("--config: %s: %w", path, err)
	}
	var errs []error
	for _, k := range slices.Sorted(maps.Keys(values)) {
		f := c.Flags().Lookup(k)
		switch {
		case f == nil || k == "config" || k == "help":
			errs = append(errs, fmt.Errorf("--config: %s: there is no setting %q; the settings are the flags of %s", path, k,
				c.CommandPath()))
		case !f.Changed:
			if err := c.Flags().Set(k, flagText(values[k])); err != nil {
				errs = append(errs, fmt.Errorf("--config: %s: %s: %w", path, k, err))
			}
		}
	}
	return errors.Join(errs...)
}

// flagText is a value of a configuration as a flag has it: lists with commas.
func flagText(v any) string {
	list, ok := v.([]any)
	if !ok {
		return fmt.Sprint(v)
	}
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = fmt.Sprint(e)
	}
	return strings.Join(parts, ",")
}

// Missing names the flags that were not given, or is empty.
func Missing(f *pflag.FlagSet, required ...string) string {
	var names []string
	for _, name := range required {
		if !f.Changed(name) {
			names = append(names, "--"+name)
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " is required"
	}
	return strings.Join(names, ", ") + " are required"
}

// Named makes a command refuse options that are named by nothing, as by a variable of a script that is
// not set, and two files or folders for one, of which the first would not be used.
func Named(c *cobra.Command) {
	files := []string{"data", "schema", "out", "ledger", "config", "resume"}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		file := slices.Contains(files, f.Name)
		if file || f.Value.Type() == "string" {
			f.Value = &named{Value: f.Value, file: file}
		}
	})
	for _, below := range c.Commands() {
		Named(below)
	}
}

// named is a flag that names something, maybe a file or folder.
type named struct {
	pflag.Value
	file, given bool
}

// Set takes the first name of a file, and the same again.
func (n *named) Set(text string) error {
	switch {
	case text == "" && n.file:
		return errors.New("it is empty; name a file or folder, or leave the flag out")
	case text == "":
		return errors.New("it is empty; give a value, or leave the flag out")
	case n.file && n.given && text != n.String():
		return fmt.Errorf("%q was given before; give one", n.String())
	}
	n.given = true
	return n.Value.Set(text)
}

// Complete lets shells complete the values of flags that have a list of them.
func Complete(c *cobra.Command) {
	for flag, values := range map[string][]string{
		"kernel": chains.Names(), "start": chains.StartNames(), "model": models.Names(), "loss": {"log", "beta"},
		"adjacency": {"substitute", "add_remove"}, "accounting": {"bit", "published", "tightened"},
		"acceptance": {"barker", "penalty"},
	} {
		if c.Flags().Lookup(flag) == nil {
			continue
		}
		if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values,
			cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic("dpmcmc: " + err.Error())
		}
	}
}
