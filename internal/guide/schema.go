package guide

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/internal/typeset"
)

// confirm goes through a draft column by column. What the draft read off the records is
// no public knowledge: a person says what was known without them.
func (g *Guide) confirm(s *data.Schema) error {
	fmt.Fprint(g.Say, "\nA schema says what is public about the table. The file cannot tell: say what the\n"+
		"questionnaire, the instrument or the law allows, not what the records happen to hold.\n")
	if err := g.askTarget(s); err != nil {
		return err
	}
	for i := range s.Columns {
		if c := &s.Columns[i]; c.Role != data.Ignore {
			if err := g.askColumn(c); err != nil {
				return err
			}
		}
	}
	var confirmed string
	err := errors.Join(
		g.ask("rows-per-person", "How many rows may one person own, at most? All of them are protected together.", "",
			func(answer string) error {
				n, err := strconv.Atoi(answer)
				if err != nil || n < 1 {
					return fmt.Errorf("%q is not a whole number from 1 on", answer)
				}
				s.RowsPerPerson = n
				return nil
			}),
		g.ask("confirmed", fmt.Sprintf("The number of records, %d, will be public. Is that, and every line above, known "+
			"without a look at the records? yes or no", s.Records), "", yesOrNo(&confirmed)))
	s.Confirmed, s.Description = confirmed == "yes", "stated with dpmcmc start"
	if err == nil {
		err = s.Validate()
	}
	return err
}

// askTarget asks what the columns are for.
func (g *Guide) askTarget(s *data.Schema) error {
	var names []string
	suggested := "none"
	for _, c := range s.Columns {
		names = append(names, c.Name)
		if c.Role == data.Target {
			suggested = c.Name
		}
	}
	fmt.Fprintf(g.Say, "\n%s", typeset.Wrapped("Columns: ", strings.Join(names, ", ")))
	if err := g.ask("target", "Which column is to be explained? none, for a file without one.", suggested,
		func(answer string) error {
			at := slices.Index(names, answer)
			switch {
			case at < 0 && answer != "none":
				return fmt.Errorf("there is no column %q; give its name from the header", answer)
			case at >= 0 && s.Columns[at].Kind == "":
				return fmt.Errorf("%s holds dates, names or notes, which cannot be explained", answer)
			}
			for i := range s.Columns {
				if c := &s.Columns[i]; i == at {
					c.Role, c.Missing = data.Target, ""
				} else if c.Role == data.Target {
					c.Role = data.Feature
				}
			}
			return nil
		}); err != nil {
		return err
	}
	var left []string
	for _, c := range s.Columns {
		if c.Role == data.Ignore {
			left = append(left, c.Name)
		}
	}
	return g.ask("ignore", "Which columns are left out? Names separated by commas; none to use all.",
		strings.Join(append(left, "none")[:max(1, len(left))], ","), func(answer string) error {
			named := strings.Split(strings.Trim(answer, "[]"), ",")
			for _, n := range named {
				if n != "none" && !slices.Contains(names, n) {
					return fmt.Errorf("there is no column %q; give names from the header, separated by commas", n)
				}
			}
			for i := range s.Columns {
				switch c := &s.Columns[i]; {
				case slices.Contains(named, c.Name):
					c.Role = data.Ignore
				case c.Kind == "":
					return fmt.Errorf("%s holds dates, names or notes, which cannot be used; leave it out", c.Name)
				case c.Role == data.Ignore:
					c.Role = data.Feature
				}
			}
			return nil
		})
}

// askColumn asks what is public about one column.
func (g *Guide) askColumn(c *data.Column) error {
	if c.Kind != data.Number {
		list := &c.Levels
		if c.Kind == data.Binary {
			list = &c.Labels
		}
		return g.askOf("levels", c.Name, fmt.Sprintf("%s: which values may it have? Separated by colons, the "+
			"reference or negative one first. Those in the file are not public unless they were known before: %s", c.Name,
			strings.Join(*list, ":")), "", func(answer string) error {
			parts := strings.Split(answer, ":")
			if len(parts) < 2 || c.Kind == data.Binary && len(parts) != 2 {
				return fmt.Errorf("%q has %d value(s) between colons; a category has at least 2, a binary column 2, as no:yes",
					answer, len(parts))
			}
			for _, v := range *list {
				if !slices.Contains(parts, v) {
					return fmt.Errorf("the file also has %q; name it, or correct the file", v)
				}
			}
			*list, c.Reference = parts, ""
			return nil
		})
	}
	pair := func(low, high *float64, wrong func(a, b float64) bool, needed string) func(string) error {
		return func(answer string) error {
			if answer == "middle" {
				return nil
			}
			a, b, _ := strings.Cut(answer, ":")
			x, err1 := strconv.ParseFloat(strings.TrimSpace(a), 64)
			y, err2 := strconv.ParseFloat(strings.TrimSpace(b), 64)
			if err1 != nil || err2 != nil || wrong(x, y) {
				return fmt.Errorf("%q is not %s", answer, needed)
			}
			*low, *high = x, y
			return nil
		}
	}
	return errors.Join(
		g.askOf("bounds", c.Name, c.Name+": the least and the largest value that it can have, as 18:100. Values "+
			"beyond are moved to the bound.", "", pair(&c.Lower, &c.Upper, func(a, b float64) bool { return !(a < b) },
			"LOWER:UPPER, two numbers")),
		g.askOf("scales", c.Name,
			c.Name+": a typical value and a typical deviation, as 45:20, known from elsewhere. "+
				"They are worth much privacy. Without them the middle of the bounds and half their distance serve.", "middle",
			pair(&c.Center, &c.Scale, func(_, b float64) bool { return !(b > 0) }, "CENTER:SCALE, with a scale above 0")))
}

// askOf asks about a column unless a flag has COLUMN=ANSWER.
func (g *Guide) askOf(flag, column, question, otherwise string, take func(string) error) error {
	given, err := g.Flags.GetStringSlice(flag)
	if err != nil {
		return err
	}
	for _, v := range given {
		if name, answer, ok := strings.Cut(v, "="); ok && name == column {
			if err := take(answer); err != nil {
				return fmt.Errorf("--%s: %s: %w", flag, column, err)
			}
			return nil
		}
	}
	if otherwise != "" && g.Flags.Changed(flag) { // told of other columns
		return take(otherwise)
	}
	return g.put(flag, question, otherwise, take)
}
