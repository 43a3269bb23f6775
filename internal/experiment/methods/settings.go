package methods

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Setting is something that can be chosen about a method. All are public.
type Setting struct {
	Name  string
	About string
	// Default is a float64, an int64, a bool or a string, which is also the type
	// that is expected.
	Default any
}

// SettingError is a setting that does not exist, or whose value has a wrong type.
type SettingError struct {
	Name string
	Text string
}

func (e *SettingError) Error() string { return e.Text }

// settings are a method's settings, each of its default's type.
type settings map[string]any

func (s settings) float(name string) float64 { return s[name].(float64) }
func (s settings) int(name string) int64     { return s[name].(int64) }
func (s settings) bool(name string) bool     { return s[name].(bool) }
func (s settings) text(name string) string   { return s[name].(string) }

// Check fills in defaults. See [Method.New].
func (m *Method) Check(given map[string]any) (map[string]any, error) {
	out := map[string]any{}
	var names []string
	for _, s := range m.Settings {
		out[s.Name] = s.Default
		names = append(names, s.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		def, ok := out[name]
		if !ok {
			return nil, &SettingError{name, fmt.Sprintf("%s has no setting %q; it has %s", m.Name, name, listOr(names, "none"))}
		}
		v, ok := convert(given[name], def)
		if !ok {
			return nil, &SettingError{name, fmt.Sprintf("%s = %v must be %s", name, given[name], typeName(def))}
		}
		out[name] = v
	}
	return out, nil
}

// convert gives v the type of def: whole numbers serve as numbers.
func convert(v, def any) (any, bool) {
	switch def.(type) {
	case float64:
		switch x := v.(type) {
		case float64:
			return x, true
		case int64:
			return float64(x), true
		}
	case int64:
		x, ok := v.(int64)
		return x, ok
	case bool:
		x, ok := v.(bool)
		return x, ok
	case string:
		x, ok := v.(string)
		return x, ok
	}
	return nil, false
}

func typeName(def any) string {
	switch def.(type) {
	case float64:
		return "a number"
	case int64:
		return "a whole number"
	case bool:
		return "true or false"
	}
	return "a text"
}

func listOr(names []string, none string) string {
	if len(names) == 0 {
		return none
	}
	return strings.Join(names, ", ")
}
