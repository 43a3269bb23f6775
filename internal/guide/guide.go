// Package guide leads through a first run by questions.
package guide

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/schemafile"
	"github.com/dpmcmc/dpmcmc/internal/durable"
	"github.com/dpmcmc/dpmcmc/internal/setting"
	"github.com/dpmcmc/dpmcmc/internal/typeset"
	"github.com/dpmcmc/dpmcmc/models"
)

// Guide asks what a first run needs, and runs it. Every question has a flag; what a flag
// answers is not asked.
type Guide struct {
	// Flags are the command's, of the names of the questions.
	Flags *pflag.FlagSet
	// In has the answers, a line each, and Say takes the questions.
	In  *bufio.Scanner
	Say io.Writer
	// Run runs a command of ours with its arguments.
	Run func(ctx context.Context, name string, args []string) error

	data, schema, out string
	model             string
	epsilon, delta    float64
	run               string
	ran               [][]string // commands, in order
}

// Lead asks, runs and sums up.
func (g *Guide) Lead(ctx context.Context) error {
	if err := g.ask("data", "Which table? A CSV file with a header line.", "", func(text string) error {
		_, err := os.Stat(text)
		g.data = text
		return err
	}); err != nil {
		return err
	}
	if err := g.ask("schema", "Where is its schema, or shall it be written?", strings.TrimSuffix(g.data,
		filepath.Ext(g.data))+".toml", text(&g.schema)); err != nil {
		return err
	}
	schema, err := g.stated(ctx)
	if err != nil {
		return err
	}
	if !schema.Confirmed {
		fmt.Fprintf(g.Say, "\n%s is not confirmed. Correct it, set confirmed = true, and start again with\n  dpmcmc start "+
			"--data %s --schema %s\n", g.schema, g.data, g.schema)
		return nil
	}
	if err := g.askBudget(schema); err != nil {
		return err
	}
	budget := []string{"--epsilon " + float(g.epsilon), "--delta " + float(g.delta), "--model " + g.model}
	if err := g.command(ctx, "plan", append([]string{"--schema " + g.schema}, budget...)); err != nil {
		return err
	}
	if err := g.ask("out", "A folder for the draws, the certificate and the report?", "run", text(&g.out)); err != nil {
		return err
	}
	if err := g.ask("run", "Run it now, and spend that budget? yes or no", "no", yesOrNo(&g.run)); err != nil {
		return err
	}
	sample := append([]string{"--data " + g.data, "--schema " + g.schema}, append(budget, "--out "+g.out)...)
	if g.run == "yes" {
		if err := g.command(ctx, "sample", sample); err != nil {
			return err
		}
	}
	return g.sum(sample)
}

// sum ends with the commands.
func (g *Guide) sum(sample []string) error {
	fmt.Fprint(g.Say, "\nWhat was run, to run again:\n\n")
	for _, c := range g.ran {
		fmt.Fprint(g.Say, typeset.Continued(c))
	}
	if g.run != "yes" {
		fmt.Fprint(g.Say, "\nNothing was spent. To run it:\n\n",
			typeset.Continued(append([]string{"dpmcmc sample"}, sample...)))
	}
	_, err := fmt.Fprintf(g.Say, "\nAfter it, %s/report.html has the results, and predictions are\n\n%s", g.out,
		typeset.Continued([]string{"dpmcmc predict " + g.out, "--data NEW.csv"}))
	return err
}

// command runs one of ours, and notes it.
func (g *Guide) command(ctx context.Context, name string, args []string) error {
	line := append([]string{"dpmcmc " + name}, args...)
	g.ran = append(g.ran, line)
	fmt.Fprintf(g.Say, "\n$ %s\n", typeset.Continued(line))
	var all []string
	for _, a := range args {
		flag, value, _ := strings.Cut(a, " ")
		all = append(all, flag, value)
	}
	return g.Run(ctx, name, all)
}

// askBudget asks for the model and the privacy parameters, which have no defaults.
func (g *Guide) askBudget(schema *data.Schema) error {
	shape, err := schema.Shape()
	if err != nil {
		return err
	}
	build := func(name string) error {
		g.model = name
		_, err := models.New(name, shape, models.Options{})
		return setting.Flagged(err)
	}
	return errors.Join(
		g.ask("model", "Which model? One of "+strings.Join(models.Names(), ", ")+".", models.Suggest(shape), build),
		g.ask("epsilon",
			"How much may a person's data change what is released? ε = 1 lets the odds of any result change by a "+
				"factor of 2.7, ε = 0.1 by 1.1. Costs of several runs add up.", "", positive(&g.epsilon, 1e9)),
		g.ask("delta", fmt.Sprintf("How likely may that bound fail? δ has to be well below 1/records = %.1g, such as 1e-6.",
			1/float64(shape.Records)), "", positive(&g.delta, 1)))
}

// ask puts a question unless its flag was given.
func (g *Guide) ask(flag, question, otherwise string, take func(string) error) error {
	if given := g.Flags.Lookup(flag); given != nil && given.Changed {
		if err := take(given.Value.String()); err != nil {
			return fmt.Errorf("--%s: %w", flag, err)
		}
		return nil
	}
	return g.put(flag, question, otherwise, take)
}

// put asks until the answer can be taken. Without a default an answer is needed.
func (g *Guide) put(flag, question, otherwise string, take func(string) error) error {
	fmt.Fprintf(g.Say, "\n%s", typeset.Wrapped("", question))
	for {
		if otherwise != "" {
			fmt.Fprintf(g.Say, "[%s] ", otherwise)
		}
		fmt.Fprint(g.Say, "> ")
		if !g.In.Scan() {
			fmt.Fprintln(g.Say)
			return fmt.Errorf("a question was not answered; pipe an answer, or give --%s. It was: %s", flag, question)
		}
		answer := strings.TrimSpace(g.In.Text())
		fmt.Fprintln(g.Say, answer) // which a transcript shows where answers are piped
		answer = cmp.Or(answer, otherwise)
		err := errors.New("this has no default; it is yours to say")
		if answer != "" {
			err = take(answer)
		}
		if err == nil {
			return nil
		}
		fmt.Fprintf(g.Say, "  %v\n", err)
	}
}

func float(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// text takes any answer.
func text(into *string) func(string) error {
	return func(answer string) error {
		*into = answer
		return nil
	}
}

func yesOrNo(into *string) func(string) error {
	return func(answer string) error {
		switch strings.ToLower(answer) {
		case "y", "yes", "true":
			*into = "yes"
		case "n", "no", "false":
			*into = "no"
		default:
			return fmt.Errorf("%q is neither yes nor no", answer)
		}
		return nil
	}
}

// positive takes a number above 0 and below most.
func positive(into *float64, most float64) func(string) error {
	return func(answer string) error {
		v, err := strconv.ParseFloat(answer, 64)
		if err != nil || !(v > 0 && v < most) {
			return fmt.Errorf("%q is not a number above 0 and below %v", answer, most)
		}
		*into = v
		return nil
	}
}

// stated is the schema: the file's if there is one, else what is answered, written.
func (g *Guide) stated(ctx context.Context) (*data.Schema, error) {
	content, err := os.ReadFile(g.schema)
	if err == nil {
		return schemafile.Parse(g.schema, content)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("--schema: %w", err)
	}
	draft, err := data.Draft(ctx, g.data, "")
	if err != nil {
		return nil, err
	}
	schema, err := schemafile.Parse(g.schema, draft)
	if err != nil {
		return nil, err
	}
	if err := g.confirm(schema); err != nil {
		return nil, err
	}
	if err := durable.Create(g.schema, schemafile.Format(schema)); err != nil {
		return nil, fmt.Errorf("--schema: %w", err)
	}
	return schema, nil
}
