package data

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"

	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// BuiltinPrefix begins the name of every built-in table.
const BuiltinPrefix = "builtin:"

// maxEntries bounds N×P of a built-in table, at 2 GiB.
const maxEntries = 1 << 28

// Simulated is a table drawn from a model, and what it was drawn with.
type Simulated struct {
	Table *Table
	Model string    // name of the model: logistic, linear or mixture
	Names []string  // names of the parameters
	Truth []float64 // their true values, in the units of the table
}

// builtin is a model that tables can be drawn from.
type builtin struct {
	name     string // as Builtin takes it, without settings
	records  int    // default of the setting n
	features int    // default of the setting d; 0 if there is none
	shape    func(n, d int) *Shape
	draw     func(t *Table, r *stream) *Simulated
}

var builtins = []builtin{
	// An intercept, d standard normal features and a binary response.
	{"builtin:logistic", 10_000, 3, logisticShape, drawLogistic},
	// An intercept, d standard normal features and normal errors of standard deviation 0.5.
	{"builtin:linear", 10_000, 3, linearShape, drawLinear},
	// ½N(θ₁,2) + ½N(θ₁+θ₂,2) at θ = (0,1): Heikkilä et al. (2019), section 4.
	{"builtin:mixture", 1_000_000, 0, mixtureShape, drawMixture},
}

// Builtin simulates the table called name, such as "builtin:logistic" or
// "builtin:logistic?n=1000&d=5&seed=7". Settings are n, the number of records; d,
// the number of features, unless the model has none to choose; and seed, by default
// 1. The same name gives the same table, bit for bit, on every machine.
//
// Features of the regressions are z/√(d+1) with standard normal z, and the
// intercept is 1/√(d+1), as a schema with scale = 1 would have it; rows outside the
// unit ball are projected onto it before responses are drawn, so that the model is
// exactly true of the table. Coefficients are √(d+1)/2 for the intercept and
// ±1.5·√((d+1)/d) for the features, which spreads linear predictors by about 1.3
// whatever d is.
//
// It returns an error for a name or setting that does not exist.
func Builtin(name string) (*Simulated, error) {
	b, shape, seed, err := lookUp(name)
	if err != nil {
		return nil, err
	}
	t := &Table{Shape: *shape, X: make([]float64, shape.Records*shape.Features()), Source: name}
	if shape.HasTarget() {
		t.Y = make([]float64, shape.Records)
	}
	sim := b.draw(t, newStream(seed))
	sim.Table, sim.Model = t, strings.TrimPrefix(b.name, BuiltinPrefix)
	return sim, nil
}

// BuiltinShape is the shape of the table that Builtin simulates. Errors are Builtin's.
func BuiltinShape(name string) (*Shape, error) {
	_, shape, _, err := lookUp(name)
	return shape, err
}

// lookUp reads the name of a built-in table.
func lookUp(name string) (*builtin, *Shape, uint64, error) {
	base, query, _ := strings.Cut(name, "?")
	names := make([]string, len(builtins))
	for i := range builtins {
		b := &builtins[i]
		if names[i] = b.name; b.name != base {
			continue
		}
		n, d, seed, err := b.settings(query)
		if err != nil {
			return nil, nil, 0, fmt.Errorf("data: %s: %w", quote(name), err)
		}
		return b, b.shape(n, d), seed, nil
	}
	return nil, nil, 0, fmt.Errorf("data: there is no built-in table %s; choose %s", quote(name),
		strings.Join(names, ", "))
}

// settings reads the part of a name behind the question mark.
func (b *builtin) settings(query string) (n, d int, seed uint64, err error) {
	n, d, seed = b.records, b.features, 1
	values, err := url.ParseQuery(query)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("settings %s cannot be read; write key=value, joined by &", quote(query))
	}
	for key, given := range values {
		if len(given) > 1 {
			return 0, 0, 0, fmt.Errorf("setting %s is given %d times; give it once", key, len(given))
		}
		switch {
		case key == "n":
			n, err = strconv.Atoi(given[0])
		case key == "d" && b.features > 0:
			d, err = strconv.Atoi(given[0])
		case key == "seed":
			seed, err = strconv.ParseUint(given[0], 10, 64)
		default:
			return 0, 0, 0, fmt.Errorf("no setting %s; the settings are %s", quote(key), b.keys())
		}
		if err != nil {
			return 0, 0, 0, fmt.Errorf("setting %s = %s is not a whole number from 0 on", key, quote(given[0]))
		}
	}
	if n < 1 || d < min(1, b.features) || d >= maxEntries || n > maxEntries/(d+1) {
		return 0, 0, 0, fmt.Errorf("n = %d and d = %d, but both must be at least 1 and n·(d+1) at most %d", n, d, maxEntries)
	}
	return n, d, seed, nil
}

// keys lists the settings.
func (b *builtin) keys() string {
	if b.features > 0 {
		return "n, d and seed"
	}
	return "n and seed"
}

// stream is the public generator of simulated tables.
type stream struct{ pcg rand.PCG }

func newStream(seed uint64) *stream {
	s := new(stream)
	s.pcg.Seed(seed, 0x64706d636d63) // "dpmcmc"
	return s
}

// uniform turns the upper 52 bits into an odd multiple of 2⁻⁵³ in (0, 1). With one
// bit more the sum could round to 1.
func uniform(bits uint64) float64 {
	return (float64(bits>>12) + 0.5) * 0x1p-52
}

// maxNormal exceeds the size of every normal quantile of a uniform.
const maxNormal = 8.3

func (s *stream) normal() float64 { return normalQuantile(uniform(s.pcg.Uint64())) }

// logistic draws from the standard logistic distribution.
func (s *stream) logistic() float64 {
	u := uniform(s.pcg.Uint64())
	return logarithm(u / (1 - u))
}

// errorSD is the standard deviation of the errors of builtin:linear.
const errorSD = 0.5

func logisticShape(n, d int) *Shape {
	s := StandardShape(n, d)
	s.Target = Term{Name: "y", Column: "y", Level: "1", Unit: 1, Upper: 1}
	s.Labels = []string{"0", "1"}
	return s
}

func linearShape(n, d int) *Shape {
	s := StandardShape(n, d)
	most := record.Norm(coefficients(d)) + errorSD*maxNormal
	s.Target = Term{Name: "y", Column: "y", Unit: 1, Lower: -most, Upper: most}
	return s
}

func mixtureShape(n, _ int) *Shape {
	const most = 1 + maxNormal*math.Sqrt2
	return &Shape{Records: n, Radius: most, RowsPerPerson: 1, Spread: 1, Terms: []Term{{Name: "x", Column: "x", Unit: 1,
		Lower: -most, Upper: most}}}
}

// coefficients are those that the regressions are drawn with.
func coefficients(d int) []float64 {
	spread := math.Sqrt(float64(d + 1))
	truth := []float64{spread / 2}
	for j := range d {
		size := 1.5 * spread / math.Sqrt(float64(d))
		if j%2 == 1 {
			size = -size
		}
		truth = append(truth, size)
	}
	return truth
}

func drawLogistic(t *Table, r *stream) *Simulated {
	return drawRegression(t, r, func(eta float64) float64 {
		if eta+r.logistic() > 0 {
			return 1
		}
		return 0
	})
}

func drawLinear(t *Table, r *stream) *Simulated {
	sim := drawRegression(t, r, func(eta float64) float64 {
		return eta + float64(errorSD*r.normal())
	})
	sim.Names, sim.Truth = append(sim.Names, "sigma"), append(sim.Truth, errorSD)
	return sim
}

// drawRegression draws features, and a response for each linear predictor.
func drawRegression(t *Table, r *stream, respond func(eta float64) float64) *Simulated {
	sim := &Simulated{Truth: coefficients(t.Features() - 1)}
	spread := math.Sqrt(float64(t.Features()))
	for j := range t.Terms {
		sim.Names = append(sim.Names, "beta."+strconv.Itoa(j+1))
	}
	for i := range t.Y {
		row := t.Row(i)
		row[0] = 1 / spread
		for j := 1; j < len(row); j++ {
			row[j] = r.normal() / spread
		}
		t.Shorten(row)
		eta := 0.0
		for j, x := range row {
			eta += float64(x * sim.Truth[j])
		}
		t.Y[i] = respond(eta)
	}
	return sim
}

func drawMixture(t *Table, r *stream) *Simulated {
	for i := range t.X {
		bits := r.pcg.Uint64()
		// The lowest bit, which uniform leaves unused, chooses the component.
		t.X[i] = float64(bits&1) + float64(math.Sqrt2*normalQuantile(uniform(bits)))
	}
	return &Simulated{Names: []string{"theta.1", "theta.2"}, Truth: []float64{0, 1}}
}
