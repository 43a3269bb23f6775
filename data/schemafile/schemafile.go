package schemafile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/dpmcmc/dpmcmc/data"
)

// Read reads the schema in the TOML file at path. See [Parse].
func Read(path string) (*data.Schema, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("schemafile: %w", err)
	}
	return Parse(path, text)
}

// Parse reads a schema from TOML text, called name in errors. The schema it returns
// is valid ([data.Schema.Validate]) but need not be confirmed.
//
// It returns a *data.Error, with line and column, for text that is not TOML, for
// keys that do not exist, and for values of the wrong type; and otherwise an error
// that names the column and the setting.
func Parse(name string, text []byte) (*data.Schema, error) {
	var f file
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // which some editors write
	decoder := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		return nil, located(name, err)
	}
	schema, err := f.schema()
	if err == nil {
		err = schema.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("schemafile: %s: %w", name, err)
	}
	return schema, nil
}

// located turns an error of the TOML library into one that says where it is.
func located(name string, err error) error {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
		first := &unknown.Errors[0]
		line, at := first.Position()
		key := strings.Join(first.Key(), ".")
		keys := keysOf[file]()
		if len(first.Key()) > 1 {
			keys = keysOf[column]()
		}
		return &data.Error{File: name, Line: line, Column: at, Value: key, Found: fmt.Sprintf("an unknown key %q", key),
			Allowed: keys, Do: "correct the key or remove it; docs/schema.md explains them"}
	}
	var bad *toml.DecodeError
	if errors.As(err, &bad) {
		line, column := bad.Position()
		key := strings.Join(bad.Key(), ".")
		what := strings.TrimPrefix(bad.Error(), "toml: ")
		found := "a line that is no such setting (" + what + ")"
		allowed := "TOML with values of the types that docs/schema.md lists"
		if of := otherType.FindStringSubmatch(what); of != nil && typeNames[of[2]] != "" {
			found, allowed = fmt.Sprintf("a TOML %s for %s", of[1], key), typeNames[of[2]]
		}
		return &data.Error{File: name, Line: line, Column: column, Value: key, Found: found, Allowed: allowed,
			Do: "correct the line"}
	}
	return fmt.Errorf("schemafile: %s: %w", name, err)
}

// otherType is what the TOML library says of a value that has another type than its key.
var otherType = regexp.MustCompile(`^cannot decode TOML (.+) into struct field .* of type (\S+)$`)

// typeNames are the types of keys, in words.
var typeNames = map[string]string{"float64": "a number", "int": "a whole number", "bool": "true or false",
	"string": "text in quotes", "[]string": "a list of texts in quotes"}

// file is a schema as TOML has it. Pointers tell settings that are absent from
// settings that are zero.
type file struct {
	Description   string   `toml:"description"`
	Confirmed     bool     `toml:"confirmed"`
	Records       *int     `toml:"records"`
	RowsPerPerson *int     `toml:"rows_per_person"`
	Radius        *float64 `toml:"radius"`
	Intercept     *bool    `toml:"intercept"`
	IgnoreOther   bool     `toml:"ignore_other"`

	Interactions     []string `toml:"interactions"`
	InterceptPriorSD *float64 `toml:"intercept_prior_sd"`
	Delimiter        *string  `toml:"delimiter"`
	Decimal          *string  `toml:"decimal"`
	Thousands        *string  `toml:"thousands"`

	Columns []column `toml:"column"`
}

type column struct {
	Name      string       `toml:"name"`
	Role      data.Role    `toml:"role"`
	Kind      data.Kind    `toml:"kind"`
	Lower     *float64     `toml:"lower"`
	Upper     *float64     `toml:"upper"`
	Center    *float64     `toml:"center"`
	Scale     *float64     `toml:"scale"`
	Outside   data.Outside `toml:"outside"`
	Levels    []string     `toml:"levels"`
	Reference string       `toml:"reference"`
	Labels    []string     `toml:"labels"`

	Transform  data.Transform `toml:"transform"`
	Degree     *int           `toml:"degree"`
	PriorSD    *float64       `toml:"prior_sd"`
	PriorGroup string         `toml:"prior_group"`

	Missing       data.Missing `toml:"missing"`
	Impute        any          `toml:"impute"`
	MissingTokens []string     `toml:"missing_tokens"`
}

// schema makes the schema, refusing settings that are absent or zero where the
// schema of package data would take zero for its default.
func (f *file) schema() (*data.Schema, error) {
	s := &data.Schema{Description: f.Description, Confirmed: f.Confirmed, IgnoreOther: f.IgnoreOther}
	switch {
	case f.Records == nil:
		return nil, errors.New("records is not stated; state the number of records, which is public")
	case f.RowsPerPerson != nil && *f.RowsPerPerson == 0:
		return nil, errors.New("rows_per_person = 0, but it must be at least 1; state how many rows one person may own")
	case f.Radius != nil && *f.Radius == 0:
		return nil, errors.New("radius = 0, but it must be positive; leave it out for one that few rows exceed")
	}
	s.Records, s.RowsPerPerson, s.Radius = *f.Records, value(f.RowsPerPerson), value(f.Radius)
	for _, key := range []struct {
		name string
		text *string
	}{{"delimiter", f.Delimiter}, {"decimal", f.Decimal}, {"thousands", f.Thousands}} {
		if key.text != nil && *key.text == "" {
			return nil, fmt.Errorf(`%s = "", but it must be one character; leave it out for the default`, key.name)
		}
	}
	if f.InterceptPriorSD != nil && *f.InterceptPriorSD == 0 {
		return nil, errors.New("intercept_prior_sd = 0, but it must be positive; leave it out for the model's")
	}
	s.Interactions, s.InterceptPriorSD = f.Interactions, value(f.InterceptPriorSD)
	s.Delimiter, s.Decimal, s.Thousands = value(f.Delimiter), value(f.Decimal), value(f.Thousands)
	s.NoIntercept = f.Intercept != nil && !*f.Intercept
	for i := range f.Columns {
		c, err := f.Columns[i].column()
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", f.Columns[i].Name, err)
		}
		s.Columns = append(s.Columns, c)
	}
	return s, nil
}

func (c *column) column() (data.Column, error) {
	out := data.Column{Name: c.Name, Role: c.Role, Kind: c.Kind, Outside: c.Outside,
		Lower: value(c.Lower), Upper: value(c.Upper), Center: value(c.Center), Scale: value(c.Scale),
		Levels: c.Levels, Reference: c.Reference, Labels: c.Labels, Missing: c.Missing, MissingTokens: c.MissingTokens,
		Transform: c.Transform, Degree: value(c.Degree), PriorSD: value(c.PriorSD), PriorGroup: c.PriorGroup}
	if c.Role == data.Ignore {
		return out, nil
	}
	switch {
	case c.Kind == data.Number && (c.Lower == nil || c.Upper == nil):
		return out, errors.New("a number without both bounds; state lower and upper, known without looking at the records")
	case (c.Center == nil) != (c.Scale == nil):
		return out, errors.New("one of center and scale without the other; state both or neither")
	case c.Degree != nil && *c.Degree == 0:
		return out, errors.New("degree = 0, but it must be at least 1; leave it out for the number alone")
	case c.PriorSD != nil && *c.PriorSD == 0:
		return out, errors.New("prior_sd = 0, but it must be positive; leave it out for the model's")
	case c.Scale != nil && *c.Scale == 0:
		return out, errors.New("scale = 0, but it must be positive; choose the size of a typical deviation from the center")
	case c.Impute == nil:
		return out, nil
	}
	switch v := c.Impute.(type) {
	case string:
		out.Impute = v
	case int64:
		out.Impute = strconv.FormatInt(v, 10)
	case float64:
		out.Impute = strconv.FormatFloat(v, 'g', -1, 64)
	default:
		return out, fmt.Errorf("impute = %v, but it must be a number or a text; quote a label", v)
	}
	if out.Impute == "" {
		return out, errors.New(`impute = "", but it must be a number within the bounds, a level or a label; name one`)
	}
	return out, nil
}

// keysOf lists the TOML keys of a struct.
func keysOf[T any]() string {
	var keys []string
	for field := range reflect.TypeFor[T]().Fields() {
		keys = append(keys, field.Tag.Get("toml"))
	}
	return strings.Join(keys, ", ")
}

// value returns what p points to, and zero for nil.
func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
