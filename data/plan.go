package data

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Bounds on the sizes of public settings, far beyond use and far within float64,
// which keep squares and their sums finite for every cell a file can have.
const (
	maxSize = 1e100
	minSize = 1e-100
)

// plan is a checked schema: what to do with each cell.
type plan struct {
	decoders map[string]*decoder // by column name; nil for ignored columns
	names    []string            // of all columns, in the schema's order
	target   string              // name of the target; empty without one

	ignore    bool    // columns that are not in decoders
	intercept float64 // entry of the first design column; 0 without an intercept
	unseen    bool    // any number of records, without responses: see LoadNew
	shape     Shape
	derived   bool // some terms are products
	delimiter byte // between cells; 0 for what the header has
	numbers   numberText
}

// compile checks a schema and fills in its defaults.
func compile(s *Schema) (*plan, error) {
	if s == nil {
		panic("data: the schema is nil")
	}
	p := &plan{decoders: make(map[string]*decoder), ignore: s.IgnoreOther}
	p.shape.Records, p.shape.Radius, p.shape.RowsPerPerson = s.Records, s.Radius, s.RowsPerPerson
	if s.RowsPerPerson == 0 {
		p.shape.RowsPerPerson = 1
	}
	if err := cmp.Or(p.checkNumbers(), p.checkText(s)); err != nil {
		return nil, err
	}
	spread := math.Sqrt(float64(s.sources()))
	p.shape.Spread = spread
	if !s.NoIntercept {
		term := Term{Name: Intercept, Unit: spread, Lower: 1, Upper: 1, PriorSD: s.InterceptPriorSD}
		p.shape.Terms, p.intercept = append(p.shape.Terms, term), term.At(1)
	}
	for i := range s.Columns {
		if err := p.add(&s.Columns[i], spread); err != nil {
			return nil, err
		}
	}
	if err := p.derive(s); err != nil {
		return nil, err
	}
	if s.Radius == 0 {
		p.shape.Radius, p.shape.Usual = p.shape.usualRadius(), true
	}
	if p.shape.Features() == 0 && p.target == "" {
		return nil, fmt.Errorf("data: the schema has neither a feature, an intercept nor a target; give a column the role %q",
			Feature)
	}
	return p, nil
}

// checkNumbers checks the settings that concern the whole table.
func (p *plan) checkNumbers() error {
	t := &p.shape
	if t.Records < 1 {
		return fmt.Errorf("data: records = %d, but it must be at least 1; state the number of records, which is public",
			t.Records)
	}
	if t.RowsPerPerson < 1 || t.RowsPerPerson > t.Records {
		return fmt.Errorf("data: rows_per_person = %d, but it must lie between 1 and records = %d; state how many rows one "+
			"person may own", t.RowsPerPerson, t.Records)
	}
	if t.Radius != 0 && !(t.Radius >= minSize && t.Radius <= maxSize) {
		return fmt.Errorf("data: radius = %v, but it must lie between %g and %g; leave it out for one that few rows exceed",
			t.Radius, minSize, maxSize)
	}
	return nil
}

// checkText checks the settings that concern the file.
func (p *plan) checkText(s *Schema) error {
	switch {
	case s.Delimiter != "" && s.Delimiter != "," && s.Delimiter != ";" && s.Delimiter != "\t":
		return fmt.Errorf("data: delimiter = %q; choose \",\", \";\" or \"\\t\", or leave it out", s.Delimiter)
	case s.Decimal != "" && s.Decimal != "." && s.Decimal != ",":
		return fmt.Errorf("data: decimal = %q; choose \".\" or \",\"", s.Decimal)
	case len(s.Thousands) > 1 || !strings.Contains(",.' ", s.Thousands):
		return fmt.Errorf("data: thousands = %q; choose \",\", \".\", \"'\" or \" \", or leave it out", s.Thousands)
	case s.Thousands != "" && s.Thousands == cmp.Or(s.Decimal, "."):
		return fmt.Errorf("data: thousands and decimal are both %q; state the one that is different", s.Thousands)
	case s.InterceptPriorSD != 0 && (s.NoIntercept || !usableSD(s.InterceptPriorSD)):
		return fmt.Errorf("data: intercept_prior_sd = %v; it must be positive and finite, and needs the intercept",
			s.InterceptPriorSD)
	}
	if s.Delimiter != "" {
		p.delimiter = s.Delimiter[0]
	}
	if s.Thousands != "" {
		p.numbers.thousands = s.Thousands[0]
	}
	if s.Decimal == "," {
		p.numbers.decimal = ','
	}
	return nil
}

func usableSD(sd float64) bool { return sd >= minSize && sd <= maxSize }

// add checks a column and appends its decoder and its terms. Entries of the
// design matrix are divided by spread.
func (p *plan) add(c *Column, spread float64) error {
	if c.Name == "" {
		return fmt.Errorf("data: column %d has no name; give it the name in the file's header", len(p.names)+1)
	}
	if slices.Contains(p.names, c.Name) {
		return columnError(c, "it is stated twice", "state each column once")
	}
	p.names = append(p.names, c.Name)
	switch c.Role {
	case Ignore:
		p.decoders[c.Name] = nil
		return nil
	case Feature:
	case Target:
		if p.target != "" {
			return columnError(c, fmt.Sprintf("a second target beside %s", quote(p.target)), "keep one target")
		}
		p.target, spread = c.Name, 1
	default:
		return columnError(c, fmt.Sprintf("role = %q", c.Role), fmt.Sprintf("choose %q, %q or %q", Feature, Target, Ignore))
	}
	d, terms, err := newDecoder(c, spread, p.numbers)
	if err != nil {
		return err
	}
	for i := range terms {
		terms[i].PriorSD, terms[i].PriorGroup = c.PriorSD, c.PriorGroup
	}
	p.decoders[c.Name] = d
	if c.Role == Target {
		d.target, p.shape.Target, p.shape.Labels = true, terms[0], d.options
		return nil
	}
	d.first, d.width = len(p.shape.Terms), len(terms)
	p.shape.Terms = append(p.shape.Terms, terms...)
	return nil
}

// columnError says what is wrong with a column of a schema.
func columnError(c *Column, found, do string) error {
	return fmt.Errorf("data: column %s: %s; %s", quote(c.Name), found, do)
}

// newDecoder checks everything about a column but its name and role.
func newDecoder(c *Column, spread float64, numbers numberText) (*decoder, []Term, error) {
	d := &decoder{name: c.Name, kind: c.Kind, missing: c.Missing, outside: c.Outside, tokens: c.MissingTokens,
		numbers: numbers}
	if d.tokens == nil {
		d.tokens = defaultMissingTokens()
	}
	for _, token := range d.tokens {
		if v, ok := parseNumber([]byte(token)); ok {
			d.missingNumbers = append(d.missingNumbers, v)
		}
	}
	d.missing = cmp.Or(d.missing, MissingRefuse)
	if err := checkStrays(c); err != nil {
		return nil, nil, err
	}
	d.quick = c.Kind == Number && numbers == (numberText{}) && d.missingNumbers == nil
	var terms []Term
	var err error
	switch c.Kind {
	case Number:
		terms, err = d.number(c, spread)
	case Category:
		terms, err = d.category(c, spread)
	case Binary:
		terms, err = d.binary(c, spread)
	}
	if err == nil {
		err = d.checkMissing(c)
	}
	return d, terms, err
}

// checkStrays refuses kinds that there are not, and settings that the column's kind does not have,
// so that none is silently without effect.
func checkStrays(c *Column) error {
	number := c.Lower != 0 || c.Upper != 0 || c.Center != 0 || c.Scale != 0 || c.Outside != "" || c.Transform != "" ||
		c.Degree != 0
	switch {
	case !slices.Contains([]Kind{Number, Category, Binary}, c.Kind):
		return columnError(c, fmt.Sprintf("kind = %q", c.Kind), fmt.Sprintf("choose %q, %q or %q. A count is a number",
			Number, Category, Binary))
	case (c.PriorSD != 0 || c.PriorGroup != "") && c.Role != Feature:
		return columnError(c, "a prior of a column that is no feature", "remove prior_sd and prior_group")
	case c.PriorSD != 0 && (c.PriorGroup != "" || !usableSD(c.PriorSD)):
		return columnError(c, fmt.Sprintf("prior_sd = %v and prior_group = %q", c.PriorSD, c.PriorGroup),
			"give one of them, prior_sd positive and finite")
	case c.Degree != 0 && (c.Role != Feature || c.Degree < 1 || c.Degree > maxDegree):
		return columnError(c, fmt.Sprintf("degree = %d", c.Degree), fmt.Sprintf("give a feature a degree from 1 to %d",
			maxDegree))
	case number && c.Kind != Number:
		return columnError(c, fmt.Sprintf("bounds, center, scale, outside, transform or degree with kind = %q", c.Kind),
			"remove them, or make it a number")
	case (c.Levels != nil || c.Reference != "") && c.Kind != Category:
		return columnError(c, fmt.Sprintf("levels or reference with kind = %q", c.Kind), "remove them, or make it a category")
	case c.Labels != nil && c.Kind != Binary:
		return columnError(c, fmt.Sprintf("labels with kind = %q", c.Kind), "remove them, or make it binary")
	}
	return nil
}

// number checks the settings of a number.
func (d *decoder) number(c *Column, spread float64) ([]Term, error) {
	t := Term{Name: c.Name, Column: c.Name, Center: c.Center, Unit: c.Scale, Lower: c.Lower, Upper: c.Upper}
	switch c.Outside {
	case "":
		d.outside = OutsideClamp
	case OutsideClamp:
	case OutsideRefuse:
		t.Refused = true
	default:
		return nil, columnError(c, fmt.Sprintf("outside = %q", c.Outside), fmt.Sprintf("choose %q or %q", OutsideClamp,
			OutsideRefuse))
	}
	if !usableBounds(c.Lower, c.Upper) {
		return nil, columnError(c, fmt.Sprintf("bounds [%v, %v]", c.Lower, c.Upper),
			fmt.Sprintf("state finite public bounds, lower below upper, at most %g in size", maxSize))
	}
	d.lower, d.upper, d.transform = c.Lower, c.Upper, c.Transform
	switch c.Transform {
	case "":
	case TransformLog, TransformLog1p:
		t.Name = fmt.Sprintf("%s(%s)", c.Transform, c.Name)
		if t.Lower, t.Upper = d.transformed(c.Lower), d.transformed(c.Upper); !usableBounds(t.Lower, t.Upper) {
			return nil, columnError(c, fmt.Sprintf("transform = %q of numbers from %v", c.Transform, c.Lower),
				"raise the lower bound above 0 for log, above −1 for log1p")
		}
	default:
		return nil, columnError(c, fmt.Sprintf("transform = %q", c.Transform), fmt.Sprintf("choose %q or %q, or leave it out",
			TransformLog, TransformLog1p))
	}
	if c.Scale == 0 {
		if c.Center != 0 {
			return nil, columnError(c, fmt.Sprintf("center = %v without a scale", c.Center), "state both or neither")
		}
		t.Unit = (t.Upper - t.Lower) / 2
		t.Center = t.Lower + t.Unit
	}
	t.Unit *= spread
	if !(t.Unit >= minSize) || math.IsInf(t.Unit, 0) || math.IsNaN(t.Center) ||
		!(max(math.Abs(t.At(t.Lower)), math.Abs(t.At(t.Upper))) <= maxSize) {
		return nil, columnError(c, fmt.Sprintf("center = %v, scale = %v", c.Center, c.Scale),
			"choose a positive scale of the size of a typical deviation from the center")
	}
	d.term = t
	return []Term{t}, nil
}

// usableBounds reports whether a number can have these bounds.
func usableBounds(lower, upper float64) bool {
	return lower >= -maxSize && upper <= maxSize && (upper-lower)/2 >= minSize
}

// category checks the settings of a category: an indicator for every level but the
// reference, and one for missing cells if they are a level.
func (d *decoder) category(c *Column, spread float64) ([]Term, error) {
	if len(c.Levels) < 2 && (d.missing != MissingLevel || len(c.Levels) == 0) {
		return nil, columnError(c, fmt.Sprintf("%d levels", len(c.Levels)),
			"list every level that a cell may have, two or more")
	}
	if c.Role == Target {
		return d.classes(c)
	}
	reference := cmp.Or(c.Reference, c.Levels[0])
	if !slices.Contains(c.Levels, reference) {
		return nil, columnError(c, fmt.Sprintf("reference = %q", reference), "choose one of the levels")
	}
	var terms []Term
	indicator := func(level string) code {
		t := Term{Name: c.Name + "=" + level, Column: c.Name, Level: level, Unit: spread, Upper: 1}
		terms = append(terms, t)
		return code{at: len(terms) - 1, value: t.At(1)}
	}
	d.codes = make(map[string]code, len(c.Levels))
	for _, level := range c.Levels {
		if _, twice := d.codes[level]; twice {
			return nil, columnError(c, fmt.Sprintf("level %s twice", quote(level)), "list each level once")
		}
		d.codes[level] = code{}
		if level != reference {
			d.codes[level] = indicator(level)
		}
	}
	if d.missing == MissingLevel {
		d.imputed = indicator(MissingTerm)
	}
	d.options = c.Levels
	return terms, d.checkTokens(c)
}

// classes checks the settings of a category that is the target: 0 for the first level,
// 1 for the second and so on.
func (d *decoder) classes(c *Column) ([]Term, error) {
	if len(c.Levels) < 2 || c.Reference != "" {
		return nil, columnError(c, fmt.Sprintf("%d levels and reference = %q as the target", len(c.Levels), c.Reference),
			"list every level, two or more, without a reference")
	}
	d.codes, d.options = make(map[string]code, len(c.Levels)), c.Levels
	for i, level := range c.Levels {
		if _, twice := d.codes[level]; twice {
			return nil, columnError(c, fmt.Sprintf("level %s twice", quote(level)), "list each level once")
		}
		d.codes[level] = code{value: float64(i)}
	}
	last := len(c.Levels) - 1
	return []Term{{Name: c.Name, Column: c.Name, Level: c.Levels[last], Unit: 1, Upper: float64(last)}}, d.checkTokens(c)
}

// binary checks the settings of a binary column: ±1 over spread for a feature, 0
// and 1 for a target.
func (d *decoder) binary(c *Column, spread float64) ([]Term, error) {
	if len(c.Labels) != 2 || c.Labels[0] == c.Labels[1] {
		return nil, columnError(c, fmt.Sprintf("labels [%s]", quoteList(c.Labels)),
			"state two different labels, the negative one first")
	}
	t := Term{Name: c.Name, Column: c.Name, Level: c.Labels[1], Unit: 1, Upper: 1}
	if c.Role == Feature {
		t.Name += "=" + c.Labels[1]
		t.Center, t.Unit = 0.5, spread/2
	}
	d.codes = map[string]code{c.Labels[0]: {value: t.At(0)}, c.Labels[1]: {value: t.At(1)}}
	d.options = c.Labels
	return []Term{t}, d.checkTokens(c)
}

// checkTokens refuses a level or label that also counts as missing, such as
// Namibia's NA.
func (d *decoder) checkTokens(c *Column) error {
	for _, option := range d.options {
		if d.isMissing([]byte(option)) {
			return columnError(c, fmt.Sprintf("%s is both allowed and a missing cell", quote(option)),
				"state the column's own missing_tokens")
		}
	}
	return nil
}

// checkMissing checks the policy for missing cells and encodes what they become.
func (d *decoder) checkMissing(c *Column) error {
	if c.Impute != "" && d.missing != MissingImpute {
		return columnError(c, fmt.Sprintf("impute without missing = %q", MissingImpute), "state both or neither")
	}
	switch d.missing {
	case MissingRefuse:
		return nil
	case MissingLevel:
		if c.Kind == Category && c.Role == Feature {
			return nil
		}
	case MissingImpute:
		if c.Role == Target {
			break
		}
		strict := *d
		strict.outside = OutsideRefuse
		imputed, fault := strict.encode([]byte(c.Impute))
		if fault != 0 {
			return columnError(c, fmt.Sprintf("impute = %s", quote(c.Impute)),
				"impute a number within the bounds, a level or a label")
		}
		d.imputed = imputed
		return nil
	}
	choices := fmt.Sprintf("choose %q", MissingRefuse)
	if c.Role == Feature {
		choices += fmt.Sprintf(", %q, or %q for a category", MissingImpute, MissingLevel)
	}
	return columnError(c, fmt.Sprintf("missing = %q for a %s of kind %s", d.missing, c.Role, c.Kind), choices)
}
