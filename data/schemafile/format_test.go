package schemafile_test

import (
	"reflect"
	"testing"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/schemafile"
)

// TestFormatIsRead: what is written is read back as it was, every field.
func TestFormatIsRead(t *testing.T) {
	s := &data.Schema{
		Description: "a \"survey\"\nof 2 lines", Confirmed: true, Records: 20, RowsPerPerson: 3, Radius: 2.5,
		IgnoreOther: true, Interactions: []string{"age:income"}, InterceptPriorSD: 4, Delimiter: ";", Decimal: ",",
		Thousands: ".",
		Columns: []data.Column{
			{Name: "age", Role: data.Feature, Kind: data.Number, Lower: 0, Upper: 1e21, Center: -3, Scale: 1e-7,
				Outside: data.OutsideRefuse, Degree: 2, PriorSD: 0.5, Missing: data.MissingImpute, Impute: "7"},
			{Name: "income", Role: data.Feature, Kind: data.Number, Lower: 1, Upper: 9, Transform: data.TransformLog,
				PriorGroup: "g", MissingTokens: []string{}},
			{Name: "größe \\ \"x\"", Role: data.Feature, Kind: data.Category, Levels: []string{"0", "b 'c'"}, Reference: "0"},
			{Name: "y", Role: data.Target, Kind: data.Binary, Labels: []string{"no", "yes"}, Missing: data.MissingRefuse},
			{Name: "id", Role: data.Ignore},
		},
	}
	without := *s
	without.NoIntercept, without.InterceptPriorSD = true, 0
	for _, s := range []*data.Schema{s, &without} {
		text := schemafile.Format(s)
		back, err := schemafile.Parse("s.toml", text)
		if err != nil || !reflect.DeepEqual(back, s) {
			t.Errorf("error %v\n%+v became\n%+v\nby\n%s", err, s, back, text)
		}
	}
}
