package chains

import (
	"errors"
	"fmt"
	"strings"
)

// SettingError says what is wrong with a setting, what is allowed, and what to
// do. It depends on public facts alone.
type SettingError struct {
	// Setting is the name of the setting to change, such as "max-move".
	Setting string

	format string
	args   []any
}

// name is a setting's name in a message, and names are several.
type (
	name  string
	names []string
)

// bad is a SettingError about the setting. Arguments that are a name or names are
// spelt as the message's reader knows them.
func bad(setting name, format string, args ...any) error {
	return &SettingError{Setting: string(setting), format: format, args: args}
}

// Error is the message, with settings named as Settings documents them.
func (e *SettingError) Error() string {
	return "chains: " + e.Spell(func(setting string) string { return setting })
}

// Spell is the message without the package's name, with every setting named as
// spell does: a command puts dashes in front.
func (e *SettingError) Spell(spell func(setting string) string) string {
	return e.fill(spell).Error()
}

// Unwrap returns what made the setting wrong, or nil.
func (e *SettingError) Unwrap() error {
	return errors.Unwrap(e.fill(func(setting string) string { return setting }))
}

func (e *SettingError) fill(spell func(setting string) string) error {
	args := make([]any, len(e.args))
	for i, a := range e.args {
		switch a := a.(type) {
		case name:
			args[i] = spell(string(a))
		case names:
			spelt := make([]string, len(a))
			for j, s := range a {
				spelt[j] = spell(s)
			}
			args[i] = strings.Join(spelt, ", ")
		default:
			args[i] = a
		}
	}
	return fmt.Errorf(e.format, args...)
}
