package schemafile

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/pelletier/go-toml/v2"

	"github.com/dpmcmc/dpmcmc/data"
)

// Format writes a schema as TOML that Parse reads back. Settings that are not set are left
// out. It does not check the schema.
func Format(s *data.Schema) []byte {
	var b bytes.Buffer
	set(&b, "description", s.Description)
	set(&b, "confirmed", s.Confirmed)
	set(&b, "records", s.Records)
	set(&b, "rows_per_person", s.RowsPerPerson)
	set(&b, "radius", s.Radius)
	if s.NoIntercept {
		b.WriteString("intercept = false\n")
	}
	set(&b, "ignore_other", s.IgnoreOther)
	set(&b, "interactions", s.Interactions)
	set(&b, "intercept_prior_sd", s.InterceptPriorSD)
	set(&b, "delimiter", s.Delimiter)
	set(&b, "decimal", s.Decimal)
	set(&b, "thousands", s.Thousands)
	for i := range s.Columns {
		formatColumn(&b, &s.Columns[i])
	}
	return b.Bytes()
}

func formatColumn(b *bytes.Buffer, c *data.Column) {
	b.WriteString("\n[[column]]\n")
	set(b, "name", c.Name)
	set(b, "role", c.Role)
	if c.Role == data.Ignore {
		return
	}
	set(b, "kind", c.Kind)
	if c.Kind == data.Number {
		fmt.Fprintf(b, "lower = %v\nupper = %v\n", number(c.Lower), number(c.Upper))
	}
	if c.Scale != 0 {
		fmt.Fprintf(b, "center = %v\nscale = %v\n", number(c.Center), number(c.Scale))
	}
	set(b, "outside", c.Outside)
	set(b, "levels", c.Levels)
	set(b, "reference", c.Reference)
	set(b, "labels", c.Labels)
	set(b, "transform", c.Transform)
	set(b, "degree", c.Degree)
	set(b, "prior_sd", c.PriorSD)
	set(b, "prior_group", c.PriorGroup)
	set(b, "missing", c.Missing)
	set(b, "impute", c.Impute)
	set(b, "missing_tokens", c.MissingTokens)
}

// set writes a setting that is not the zero value of its type.
func set(b *bytes.Buffer, key string, v any) {
	if !reflect.ValueOf(v).IsZero() {
		b.Write(encoded(key, v))
	}
}

// number is a float64 as TOML has it.
func number(v float64) string { return string(bytes.TrimSpace(encoded("x", v)[len("x = "):])) }

// encoded is a line of TOML.
func encoded(key string, v any) []byte {
	line, err := toml.Marshal(map[string]any{key: v})
	if err != nil {
		panic("schemafile: a setting must marshal: " + err.Error())
	}
	return line
}
