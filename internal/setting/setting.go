// Package setting words errors about settings, which a library names one way and a
// command another.
package setting

import (
	"errors"
	"fmt"
	"strings"
)

// Error says what is wrong with a setting, what is allowed, and what to do. It
// depends on public facts alone.
type Error struct {
	// Setting is the name of the setting to change, such as "max-move".
	Setting string

	library string
	format  string
	args    []any
}

// Name is a setting's name in a message, and Names are several.
type (
	Name  string
	Names []string
)

// Bad is an Error about the setting. Arguments that are a Name or Names are spelt as
// the message's reader knows them.
func Bad(library string, setting Name, format string, args ...any) error {
	return &Error{Setting: string(setting), library: library, format: format, args: args}
}

// Error is the message, with settings named as the library documents them.
func (e *Error) Error() string {
	return e.library + ": " + e.Spell(func(setting string) string { return setting })
}

// Spell is the message without the package's name, with every setting named as
// spell does: a command puts dashes in front.
func (e *Error) Spell(spell func(setting string) string) string {
	return e.fill(spell).Error()
}

// Unwrap returns what made the setting wrong, or nil.
func (e *Error) Unwrap() error {
	return errors.Unwrap(e.fill(func(setting string) string { return setting }))
}

// flagged is an Error in terms of a command's flags.
type flagged struct{ about *Error }

func (e flagged) Error() string {
	return e.about.Spell(func(setting string) string { return "--" + setting })
}

func (e flagged) Unwrap() error { return e.about }

// Flagged names settings as a command's flags, where err is about one.
func Flagged(err error) error {
	var about *Error
	if errors.As(err, &about) {
		return flagged{about}
	}
	return err
}

func (e *Error) fill(spell func(setting string) string) error {
	args := make([]any, len(e.args))
	for i, a := range e.args {
		switch a := a.(type) {
		case Name:
			args[i] = spell(string(a))
		case Names:
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
