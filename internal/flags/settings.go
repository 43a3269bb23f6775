package flags

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/forecasts"
)

// whole is a flag of a whole number, which may be written as 100000 or 1e5.
type whole int64

// Set reads the number.
func (w *whole) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		v, notNumber := strconv.ParseFloat(text, 64)
		if notNumber != nil || v != math.Trunc(v) || math.Abs(v) > 1<<53 {
			return fmt.Errorf("%q is not a whole number of at most 16 digits, such as 100000 or 1e5", text)
		}
		n = int64(v)
	}
	*w = whole(n)
	return nil
}

func (w *whole) String() string { return strconv.FormatInt(int64(*w), 10) }

// Type is what --help calls it.
func (w *whole) Type() string { return "int" }

// Whole declares a flag of a whole number.
func Whole(f *pflag.FlagSet, p *int64, name string, value int64, help string) {
	*p = value
	f.Var((*whole)(p), name, help)
}

// BindSettings declares a flag for every setting of the table. What is not given stays
// zero, for package chains to choose.
func BindSettings(f *pflag.FlagSet, s *chains.Settings, except ...string) {
	for _, v := range chains.Table() {
		if slices.Contains(except, v.Name) {
			continue
		}
		switch p := v.At(s).(type) {
		case *float64:
			if v.Name == "temperature" {
				f.Var((*temperature)(p), v.Name, v.About())
				continue
			}
			f.Float64Var(p, v.Name, 0, v.About())
		case *int64:
			Whole(f, p, v.Name, 0, v.About())
		case *bool:
			f.BoolVar(p, v.Name, false, v.About())
		case *string:
			f.StringVar(p, v.Name, "", v.About())
		}
	}
}

// temperature is a flag of a temperature, or auto.
type temperature float64

// Set reads the temperature.
func (t *temperature) Set(text string) error {
	if text == "auto" {
		*t = forecasts.AutoTemperature
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a temperature in (0, 1], nor auto", text)
	}
	*t = temperature(v)
	return nil
}

func (t *temperature) String() string {
	if t == nil || *t == forecasts.AutoTemperature {
		return "auto"
	}
	return strconv.FormatFloat(float64(*t), 'g', -1, 64)
}

// Type is what --help calls it.
func (t *temperature) Type() string { return "float" }

// CheckSettings reports settings given as zero, which would stand for a default.
func CheckSettings(f *pflag.FlagSet, s chains.Settings, except ...string) error {
	for _, v := range chains.Table() {
		flag := f.Lookup(v.Name)
		if flag == nil || !flag.Changed || slices.Contains(except, v.Name) {
			continue
		}
		if value := v.Value(s); value == int64(0) || value == 0.0 {
			return fmt.Errorf("--%s is 0; it must be positive, or left out for the default", v.Name)
		}
	}
	return nil
}
