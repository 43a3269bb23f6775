package data

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// Shape is the public half of a table: all that a schema states, and no record. What
// chooses settings takes a Shape, so it cannot depend on a record.
type Shape struct {
	// Records is the number of records.
	Records int
	// Terms describe the features, the columns of the design matrix, in order.
	Terms []Term
	// Target describes the response; its Name is empty without one.
	Target Term
	// Labels are the labels of a response that is one of a list, in order: it is 0
	// for the first, 1 for the second and so on. Nil for a number.
	Labels []string
	// Radius bounds the Euclidean norm of every row of the design matrix.
	Radius float64
	// Usual says that no schema stated the Radius, so that few rows are longer: models whose
	// long rows only weigh less take a smaller one, see Tighten.
	Usual bool
	// Inside says that rows are drawn within the Radius, so that none was shortened:
	// what simulated tables are defined to be.
	Inside bool
	// RowsPerPerson is the largest number of rows that one person may own.
	RowsPerPerson int
	// Spread divides every entry of the design matrix, so that its sources together
	// have norm 1: the root of their number.
	Spread float64

	sources []source // that Simulate follows, nil for columns as the schema states them
}

// Term describes a column of the design matrix or the response: its value, before
// projection, is (x − Center)/Unit, where x is the number in the file, or 1 if the
// cell has the Level and 0 if not, or 1 for the intercept, or what a transform makes of
// the number. A power or an interaction is the product of two other terms, each times
// the shape's Spread, over the Spread; x is then the product, Center 0.
type Term struct {
	Name         string  // column, column=level, or Intercept
	Column       string  // column of the file; empty for the intercept
	Level        string  // level or second label; empty for numbers
	Center, Unit float64 // the map; Unit is positive
	Lower, Upper float64 // public range of x
	Refused      bool    // numbers beyond the range are refused; else they are moved to its nearer end
	Of           [2]int  // of a product: the numbers of its factors, from 1; else 0, 0

	PriorSD    float64 // prior standard deviation of the coefficient; 0 for the model's
	PriorGroup string  // coefficients of a group share an unknown scale; empty for none
}

// Intercept is the name of the constant column.
const Intercept = "(intercept)"

// At returns the term's value at x, a number of the file.
func (t *Term) At(x float64) float64 { return (x - t.Center) / t.Unit }

// Indicates reports whether the term is a number whose bounds are whole numbers, one apart: most such columns have no
// value between.
func (t *Term) Indicates() bool {
	return t.Column != "" && t.Level == "" && t.Of == [2]int{} && t.Upper-t.Lower == 1 && t.Lower == math.Floor(t.Lower)
}

// Features is the number of columns of the design matrix.
func (s *Shape) Features() int { return len(s.Terms) }

// HasTarget reports whether records carry a response.
func (s *Shape) HasTarget() bool { return s.Target.Name != "" }

// Classes is the number of labels of the response, 0 for a number or none.
func (s *Shape) Classes() int { return len(s.Labels) }

// Shape returns what the schema states of every table under it. It does not ask for
// confirmation. Errors are those of Validate.
func (s *Schema) Shape() (*Shape, error) {
	p, err := compile(s)
	if err != nil {
		return nil, err
	}
	return &p.shape, nil
}

// StandardShape is the shape of records with an intercept and standard normal
// features x1, x2 and so on, as a schema with scale = 1 and radius = 1 has it. There is
// no response, and a person owns one row; both are fields to set.
func StandardShape(records, features int) *Shape {
	spread := math.Sqrt(float64(features + 1))
	s := &Shape{Records: records, Radius: 1, Inside: true, RowsPerPerson: 1, Spread: spread,
		Terms: []Term{{Name: Intercept, Unit: spread, Lower: 1, Upper: 1}}}
	for j := range features {
		name := "x" + strconv.Itoa(j+1)
		s.Terms = append(s.Terms, Term{Name: name, Column: name, Unit: spread, Lower: -maxNormal, Upper: maxNormal})
	}
	return s
}

// Simulate draws a table of the shape. fill sets a row; nil draws it column by column,
// numbers normal with the schema's centre and scale, within their bounds, and levels
// equally likely. respond returns the response to a row; nil leaves responses out. rng
// must not be nil.
func (s *Shape) Simulate(rng *rand.Rand, fill func(row []float64), respond func(row []float64) float64) *Table {
	t := &Table{Shape: *s, X: make([]float64, s.Records*s.Features()), Source: "simulated"}
	if fill == nil {
		fill = s.filler(rng)
	}
	if respond != nil {
		t.Y = make([]float64, s.Records)
	}
	for i := range s.Records {
		row := t.Row(i)
		fill(row)
		s.Shorten(row)
		if respond != nil {
			t.Y[i] = respond(row)
		}
	}
	return t
}

// filler draws rows column by column.
func (s *Shape) filler(rng *rand.Rand) func(row []float64) {
	columns := s.sources
	if columns == nil {
		columns = s.columns()
	}
	return func(row []float64) {
		for _, c := range columns {
			c.draw(row, s.Terms, rng)
		}
		s.fill(row)
	}
}

// source is a column of the file: its terms, for numbers how far typical values
// spread, and for levels how likely the first ones are, cumulated. With nil all are alike. A number with such a share
// is its lower bound that often, and else its upper one.
type source struct {
	first, terms int
	scale        float64
	upTo         []float64
}

// Uneven returns the shape with columns as tables have them, drawn from rng, which Simulate then
// follows. A number whose scale the schema does not state has a standard deviation between an
// eighth and a half of half the distance of its bounds: so it is in three columns of four of nine
// simulated tables with bounds that a user would state. Levels have shares drawn from a Dirichlet law of parameters 2.
// A number that is likely to be one of its bounds is (Term.Indicates), the rarer in 1/50 to 1/2 of the records.
func (s *Shape) Uneven(rng *rand.Rand) *Shape {
	out := *s
	out.sources = s.columns()
	for i := range out.sources {
		c := &out.sources[i]
		first := s.Terms[c.first]
		switch {
		case first.Name == Intercept:
		case first.Level != "":
			c.upTo = unevenShares(c.terms+1, rng)
		case first.Indicates():
			c.upTo = []float64{rarer(rng)}
		case c.loose(first):
			c.scale = (first.Upper - first.Lower) / 16 * math.Pow(4, rng.Float64())
		}
	}
	return &out
}

// Loose reports whether the schema says of some number no more than bounds: its scale is half their
// distance then, and columns spread less.
func (s *Shape) Loose() bool {
	for _, c := range s.columns() {
		if first := s.Terms[c.first]; first.Name != Intercept && first.Level == "" && c.loose(first) {
			return true
		}
	}
	return false
}

// loose reports whether the scale of a number, of the term, is half the distance of its bounds.
func (c source) loose(first Term) bool {
	half := (first.Upper - first.Lower) / 2
	return math.Abs(c.scale-half) <= 1e-9*half
}

// rarer is a share of one of two values, or of the other, from a fiftieth to a half.
func rarer(rng *rand.Rand) float64 {
	share := math.Pow(25, -rng.Float64()) / 2
	if rng.IntN(2) == 0 {
		share = 1 - share
	}
	return share
}

// unevenShares are cumulated, without the last, which is 1.
func unevenShares(levels int, rng *rand.Rand) []float64 {
	upTo, sum := make([]float64, levels), 0.0
	for k := range upTo {
		sum += rng.ExpFloat64() + rng.ExpFloat64()
		upTo[k] = sum
	}
	for k := range upTo {
		upTo[k] /= sum
	}
	return upTo[:levels-1]
}

// columns groups the terms by their columns, products left out.
func (s *Shape) columns() []source {
	var all []source
	for j, t := range s.Terms {
		switch {
		case t.Of != [2]int{}:
		case j > 0 && t.Column != "" && t.Column == s.Terms[j-1].Column:
			all[len(all)-1].terms++
		default:
			all = append(all, source{first: j, terms: 1, scale: t.Unit / s.Spread})
		}
	}
	return all
}

// draw fills the column's entries.
func (c source) draw(row []float64, terms []Term, rng *rand.Rand) {
	first := terms[c.first]
	if first.Name == Intercept {
		row[c.first] = first.At(1)
		return
	}
	if first.Level == "" && c.upTo != nil {
		x := first.Upper
		if rng.Float64() < c.upTo[0] {
			x = first.Lower
		}
		row[c.first] = first.At(x)
		return
	}
	if first.Level == "" {
		row[c.first] = first.At(min(max(first.Center+c.scale*rng.NormFloat64(), first.Lower), first.Upper))
		return
	}
	level := 0 // the last is the reference, which has no term
	if c.upTo == nil {
		level = rng.IntN(c.terms + 1)
	} else {
		level, _ = slices.BinarySearch(c.upTo, rng.Float64())
	}
	for j := range c.terms {
		x := 0.0
		if j == level {
			x = 1
		}
		row[c.first+j] = terms[c.first+j].At(x)
	}
}
