package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dpmcmc/dpmcmc/audit"
	"github.com/dpmcmc/dpmcmc/internal/maintain/planted"
)

// A document has a place for one of two tables: of defects by kind, or of those in sets that the suites
// had not seen.
const end = "<!-- end of table -->"

var places = map[string]func(map[key]verdict) string{
	"<!-- table of kinds: go run ./internal/maintain/power -table -->": kinds,
	"<!-- table of sets: go run ./internal/maintain/power -table -->":  sets,
}

// write replaces the table of a document.
func write(path string, known map[key]verdict) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for begin, render := range places {
		before, rest, found := strings.Cut(string(text), begin)
		_, after, closed := strings.Cut(rest, end)
		if found && closed {
			return os.WriteFile(path, []byte(before+begin+"\n\n"+render(known)+"\n"+end+after), 0o644)
		}
	}
	return fmt.Errorf("%s has no place for a table: a line as in the source of this command, then %s", path, end)
}

func defectsBy(kind bool) []planted.Case {
	return slices.DeleteFunc(planted.Defects(), func(c planted.Case) bool { return c.ByKind != kind })
}

// kinds is the table of defects by kind, and what all runs add up to.
func kinds(known map[key]verdict) string {
	all := defectsBy(true)
	return rows(known, all, []string{"quick", "standard", "thorough"}) + "\nRuns add up to:\n\n" + summary(known, all) +
		"\nWith those of sets, and over what is right, they add up to:\n\n" +
		summary(known, slices.Concat(planted.Defects(), planted.Controls(), planted.Library())) +
		"\nThese are not found always:\n\n" + survivors(known, all)
}

// sets is the table of defects that the suites had not seen.
func sets(known map[key]verdict) string {
	all := defectsBy(false)
	return rows(known, all, []string{"quick", "standard"}) + "\n" + summary(known, all) +
		"\nThese are not found always:\n\n" + survivors(known, all)
}

// rows has a section for each suite, a table for each family and a row for each defect.
func rows(known map[key]verdict, all []planted.Case, efforts []string) string {
	var b strings.Builder
	suite, family := "", ""
	for _, c := range all {
		if c.Suite != suite {
			suite, family = c.Suite, ""
			fmt.Fprintf(&b, "\n### %s\n", suite)
		}
		if c.Family != family {
			family = c.Family
			fmt.Fprintf(&b, "\n**%s**\n\n| defect | effect | %s |\n|---|---|%s\n", family,
				strings.Join(efforts, " | "), strings.Repeat("---|", len(efforts)))
		}
		cell := strings.NewReplacer("|", `\|`).Replace // a pipe ends a cell
		fmt.Fprintf(&b, "| %s | %s |", cell(c.Name), cell(c.Effect))
		for _, effort := range efforts {
			fmt.Fprintf(&b, " %s |", rate(known, c, effort))
		}
		b.WriteString("\n")
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// survivors says of each defect that is not always rejected how often it is, and why.
func survivors(known map[key]verdict, all []planted.Case) string {
	var b strings.Builder
	for _, c := range all {
		if n, k := count(known, c, "standard"); k < n {
			low, high := audit.ClopperPearson(k, n, 0.025)
			b.WriteString(item("%s, %s (%s): %.0f to %.0f%% are rejected at Standard. Why: %s.", c.Family, c.Name,
				c.Effect, 100*low, 100*high, cmp.Or(c.Survivor, "nobody knows why")))
		}
	}
	return b.String()
}

// item is an entry of a list, in lines of fewer than 100 columns.
func item(format string, args ...any) string {
	text, column := "*", 1
	for _, word := range strings.Fields(fmt.Sprintf(format, args...)) {
		if n := utf8.RuneCountInString(word); column+1+n > 98 {
			text, column = text+"\n  "+word, 2+n
		} else {
			text, column = text+" "+word, column+1+n
		}
	}
	return text + "\n"
}

// rate is rejections of runs, with a mark where some are of an earlier version.
func rate(known map[key]verdict, c planted.Case, effort string) string {
	runs, rejected := count(known, c, effort)
	if runs == 0 {
		return "–"
	}
	said := fmt.Sprintf("%d/%d", rejected, runs)
	for seed := 1; seed <= 1000; seed++ {
		if known[of(c, effort, seed)].before {
			return said + "†"
		}
	}
	return said
}

// summary adds up runs at every effort: of defects, and of what is right, if there are any.
func summary(known map[key]verdict, all []planted.Case) string {
	var b strings.Builder
	for _, effort := range []string{"quick", "standard", "thorough"} {
		var defects, twenty, hundred, often, right, alarms int
		average := 0.0
		for _, c := range all {
			n, k := count(known, c, effort)
			if c.Family == "right" {
				right, alarms = right+n, alarms+k
				continue
			}
			if n == 0 {
				continue
			}
			defects++
			average += float64(k) / float64(n)
			for least, number := range map[int]*int{20: &twenty, 100: &hundred} {
				if n >= least {
					*number++
				}
			}
			if k*20 >= 19*n {
				often++
			}
		}
		if defects > 0 {
			b.WriteString(item("%s: %d defects, %d of them with 20 runs or more and %d with 100. %.1f%% of runs are rejected, "+
				"as the mean over defects. %d defects are in at least 95%% of theirs.", effort, defects, twenty, hundred,
				100*average/float64(defects), often))
		}
		if right > 0 {
			b.WriteString(item("%s: %d false alarms in %d runs over what is right.", effort, alarms, right))
		}
	}
	return b.String()
}
