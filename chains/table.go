package chains

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpmcmc/dpmcmc/curator"
)

// Setting is one entry of the table of settings: all that flags, files, searches and
// certificates know of it.
type Setting struct {
	// Name is the setting's name: of the flag, of the key in files, in messages.
	Name string
	// Help says what it is, and Rule what stands for it where it is not given; empty
	// where Default does.
	Help, Rule string
	// Unit is its unit, empty for words and plain numbers.
	Unit string
	// Default is the fixed value that stands for it, nil where the kernel chooses one.
	Default any

	of     string              // the kernels that know it; empty for all of them
	most   float64             // the largest value; 0 for any
	turned turned              // by which searches
	at     func(*Settings) any // the field: a *float64, *int64, *bool or *string
	span   func(f curator.Facts, chains int64) (low, high float64)
	open   func(fixed Settings) bool
	turn   func(asked *Settings, now Settings, factor float64, records int64) bool
}

// turned says how a search on simulated data may turn a setting.
type turned uint8

const (
	notTurned     turned = iota // it stays as it is
	probed                      // every search turns it
	probedIfExact               // it biases kernels without a test, which only whole chains show
	whole                       // only whole chains show what it does, whatever the kernel
)

// Searched reports whether a search on simulated data may turn the setting: one that the
// kernel knows and that is left open. Some settings show what they do in whole chains only.
func (v Setting) Searched(k Description, fixed Settings, byWholeChains bool) bool {
	inProbes := v.turned == probed || v.turned == probedIfExact && !k.Biased
	return (inProbes || v.turned != notTurned && byWholeChains) && k.Knows(v) && v.Open(fixed)
}

// Table is every setting, in the order in which a search turns them.
func Table() []Setting { return slices.Clone(table) }

// Lookup finds a setting by its name.
func Lookup(name string) (Setting, bool) {
	i := slices.IndexFunc(table, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		return Setting{}, false
	}
	return table[i], true
}

// About is its help, with what stands for it where it is not given.
func (v Setting) About() string {
	help := v.Help
	if v.Name == "kernel" {
		help += ", one of " + strings.Join(Names(), ", ")
	}
	switch {
	case v.Rule != "":
		return help + "; " + v.Rule
	case v.Default != nil:
		return fmt.Sprintf("%s; by default %v", help, v.Default)
	}
	return help
}

// At is the setting's place in s: a *float64, *int64, *bool or *string.
func (v Setting) At(s *Settings) any { return v.at(s) }

// Value is the setting's value in s: a float64, int64, bool or string.
func (v Setting) Value(s Settings) any {
	switch p := v.at(&s).(type) {
	case *float64:
		return *p
	case *int64:
		return *p
	case *bool:
		return *p
	case *string:
		return *p
	}
	panic("chains: setting " + v.Name + " has a type that settings do not have")
}

// Given reports whether s has a value for the setting.
func (v Setting) Given(s Settings) bool { return v.Value(s) != v.Value(Settings{}) }

// knownTo reports whether a kernel knows the setting.
func (v Setting) knownTo(kernel string) bool {
	return v.of == everything || v.of == "" && !families[kernel].mechanism || v.ownOf(kernel)
}

// ownOf reports whether a kernel is among those that the setting names.
func (v Setting) ownOf(kernel string) bool { return slices.Contains(strings.Fields(v.of), kernel) }

// leavesAnchored reports whether anchored chains stay the default where the setting is
// given: they alone know it, or it is about any run.
func (v Setting) leavesAnchored() bool {
	return strings.TrimSpace(v.of) == "anchored" || v.of == everything || v.Name == "temperature" || v.Name == "ess"
}

// own are the settings that a kernel knows beside those of every kernel.
func own(kernel string) []string {
	var names []string
	for _, v := range table {
		if v.ownOf(kernel) || v.of == everything && families[kernel].mechanism {
			names = append(names, v.Name)
		}
	}
	return names
}

// number is the setting's value as a number, if it is one.
func (v Setting) number(s Settings) (float64, bool) {
	switch x := v.Value(s).(type) {
	case float64:
		return x, true
	case int64:
		return float64(x), true
	}
	return 0, false
}

// fill puts the default where nothing is given.
func (v Setting) fill(s *Settings) {
	if v.Default == nil || v.Given(*s) {
		return
	}
	v.Set(s, v.Default)
}

// Set puts a value of the setting's type into s, and panics for another type.
func (v Setting) Set(s *Settings, value any) {
	switch p := v.at(s).(type) {
	case *float64:
		*p = value.(float64)
	case *int64:
		*p = value.(int64)
	case *bool:
		*p = value.(bool)
	case *string:
		*p = value.(string)
	}
}

// Solvable reports whether a budget can be solved for the setting, and whether only
// for whole numbers.
func (v Setting) Solvable() (solvable, whole bool) {
	_, whole = v.at(new(Settings)).(*int64)
	return v.span != nil, whole
}

// Span is the range in which a solver looks for the setting of a kernel.
func (v Setting) Span(kernel string, f curator.Facts, chains int64) (low, high float64) {
	low, high = v.span(f, max(1, chains))
	if v.Name == "noise" && families[kernel].mechanism {
		high = 1e9 // no sampler has to draw it
	}
	return low, high
}

// Open reports whether the fixed settings leave this one to a search.
func (v Setting) Open(fixed Settings) bool {
	if v.open != nil {
		return v.open(fixed)
	}
	return !v.Given(fixed)
}

// Turn asks for a multiple of the setting's present value, and reports whether that is
// another one.
func (v Setting) Turn(asked *Settings, now Settings, factor float64, records int64) bool {
	if v.turn != nil {
		return v.turn(asked, now, factor, records)
	}
	switch p := v.at(asked).(type) {
	case *float64:
		x := v.Value(now).(float64)
		*p = x * factor
		return x != 0
	case *int64:
		x := v.Value(now).(int64)
		*p = max(1, int64(math.Round(float64(x)*factor)))
		return *p != x
	}
	return false
}

// Named is a setting's name and value: a float64, int64, bool or string.
type Named struct {
	Name  string
	Value any
}

// Given lists the settings that are not zero, in the table's order.
func (s Settings) Given() []Named {
	var out []Named
	for _, v := range table {
		if v.Given(s) {
			out = append(out, Named{v.Name, v.Value(s)})
		}
	}
	return out
}

// MarshalJSON writes the settings that are given as one object, in the table's order.
func (s Settings) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, v := range s.Given() {
		if i > 0 {
			b.WriteByte(',')
		}
		text, err := json.Marshal(v.Value)
		if err != nil {
			return nil, fmt.Errorf("chains: setting %s: %w", v.Name, err)
		}
		fmt.Fprintf(&b, "%q:%s", v.Name, text)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads such an object. A setting that the table does not have is an
// error.
func (s *Settings) UnmarshalJSON(text []byte) error {
	raw := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	for name, value := range raw {
		v, known := Lookup(name)
		if !known {
			return fmt.Errorf("chains: there is no setting %q", name)
		}
		if err := json.Unmarshal(value, v.at(s)); err != nil {
			return fmt.Errorf("chains: setting %s: %w", name, err)
		}
	}
	return nil
}

// check reports settings that make no sense, or none for the kernel.
func (s Settings) check(kernels []string) error {
	if !slices.Contains(kernels, s.Kernel) {
		return bad("kernel", "%s is %q; it must be one of %s", name("kernel"), s.Kernel, strings.Join(kernels, ", "))
	}
	for _, v := range table {
		if x, number := v.number(s); number && !(x >= 0) || math.IsInf(x, 1) {
			return bad(name(v.Name), "%s is %v; it must be positive, or left out for the default", name(v.Name), x)
		} else if v.most != 0 && x > v.most {
			return bad(name(v.Name), "%s is %v; it must be in (0, %v]", name(v.Name), x, v.most)
		}
		if v.Given(s) && !v.knownTo(s.Kernel) {
			return bad(name(v.Name), "%s has no meaning for %s %s; its own are %s", name(v.Name), name("kernel"), s.Kernel,
				names(own(s.Kernel)))
		}
	}
	switch {
	case count(s.Batch != 0, s.Rate != 0, s.FullData) > 1:
		return bad("batch", "%s, %s and %s exclude one another; give one", name("batch"), name("rate"), name("full"))
	case s.FixedBatch && (s.Rate != 0 || s.FullData):
		return bad("fixed-batch", "%s goes with %s", name("fixed-batch"), name("batch"))
	case s.Allocated && (s.FixedBatch || s.Batch == 0):
		return bad("allocated", "%s goes with %s, and not with %s", name("allocated"), name("batch"), name("fixed-batch"))
	case s.StartShare != 0 && s.StartEpsilon != 0:
		return bad("start-epsilon", "%s and %s exclude one another; give one", name("start-share"), name("start-epsilon"))
	}
	return nil
}

func count(b ...bool) (n int) {
	for _, v := range b {
		if v {
			n++
		}
	}
	return n
}
