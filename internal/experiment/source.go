package experiment

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// ConfigError says what is wrong at one place of a configuration.
type ConfigError struct {
	File         string
	Line, Column int // from 1; 1, 1 for something that is missing
	Text         string
}

// Error is the message on one line.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Text)
}

// source is the text of a configuration.
type source struct {
	name string
	text []byte
}

// at makes the error of a key such as data.records or method.0.settings.steps. It
// points to the nearest part of the key that is in the text.
func (s source) at(key, format string, args ...any) error {
	e := &ConfigError{File: s.name, Line: 1, Column: 1, Text: fmt.Sprintf(format, args...)}
	where := s.positions()
	for ; ; key = key[:strings.LastIndex(key, ".")] {
		if p, ok := where[key]; ok {
			e.Line, e.Column = p.Line, p.Column
			return e
		}
		if !strings.Contains(key, ".") {
			return e
		}
	}
}

// decoding turns an error of the TOML library into one that says where it is.
func (s source) decoding(err error) error {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
		first := &unknown.Errors[0]
		line, column := first.Position()
		return &ConfigError{File: s.name, Line: line, Column: column,
			Text: fmt.Sprintf("unknown key %q; %s; docs/compare.md explains them", strings.Join(first.Key(), "."),
				allowedKeys(first.Key()))}
	}
	var bad *toml.DecodeError
	if errors.As(err, &bad) {
		line, column := bad.Position()
		return &ConfigError{File: s.name, Line: line, Column: column, Text: "found a line that is no such setting (" +
			strings.TrimPrefix(bad.Error(), "toml: ") + "); it must be TOML as docs/compare.md explains"}
	}
	return &ConfigError{File: s.name, Line: 1, Column: 1, Text: err.Error()}
}

// allowedKeys names the keys that could stand in the place of an unknown one.
func allowedKeys(key []string) string {
	t := reflect.TypeFor[Config]()
	table := "the experiment"
	for _, part := range key[:len(key)-1] {
		for field := range t.Fields() {
			if field.Tag.Get("toml") != part {
				continue
			}
			if t, table = field.Type, "["+part+"]"; t.Kind() == reflect.Slice {
				t, table = t.Elem(), "[["+part+"]]"
			}
			break
		}
	}
	var names []string
	for _, field := range reflect.VisibleFields(t) {
		if name := field.Tag.Get("toml"); name != "" {
			names = append(names, name)
		}
	}
	return table + " has " + strings.Join(names, ", ")
}

// positions finds where every key of the text stands. Tables of an array are
// numbered.
func (s source) positions() map[string]unstable.Position {
	where := map[string]unstable.Position{}
	var p unstable.Parser
	p.Reset(s.text)
	count := map[string]int{}
	prefix := ""
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table:
			prefix = numbered(path(e.Key()), count) + "."
			note(&p, where, strings.TrimSuffix(prefix, "."), e)
		case unstable.ArrayTable:
			name := path(e.Key())
			prefix = fmt.Sprintf("%s.%d.", name, count[name])
			count[name]++
			note(&p, where, strings.TrimSuffix(prefix, "."), e)
		case unstable.KeyValue:
			noteValue(&p, where, prefix, e)
		}
	}
	return where
}

// numbered puts the number of the current element behind the first part of a key
// that is an array of tables.
func numbered(key string, count map[string]int) string {
	first, rest, more := strings.Cut(key, ".")
	if n := count[first]; n > 0 && more {
		return fmt.Sprintf("%s.%d.%s", first, n-1, rest)
	}
	return key
}

func path(it unstable.Iterator) string {
	var parts []string
	for it.Next() {
		parts = append(parts, string(it.Node().Data))
	}
	return strings.Join(parts, ".")
}

// note records where an expression's key begins.
func note(p *unstable.Parser, where map[string]unstable.Position, key string, e *unstable.Node) {
	it := e.Key()
	if it.Next() {
		where[key] = p.Shape(it.Node().Raw).Start
	}
}

// noteValue does so for a setting, and for those inside an inline table.
func noteValue(p *unstable.Parser, where map[string]unstable.Position, prefix string, e *unstable.Node) {
	key := prefix + path(e.Key())
	note(p, where, key, e)
	if v := e.Value(); v.Kind == unstable.InlineTable {
		for it := v.Children(); it.Next(); {
			noteValue(p, where, key+".", it.Node())
		}
	}
}
