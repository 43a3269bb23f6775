package data

// Role is what a column of the file is for.
type Role string

// The roles of a column.
const (
	Feature Role = "feature" // part of the design row
	Target  Role = "target"  // the response; at most one column
	Ignore  Role = "ignore"  // not read
)

// Kind is what the cells of a column hold.
type Kind string

// The kinds of a column.
const (
	Number   Kind = "number"   // a number within public bounds
	Category Kind = "category" // one of a public list of levels
	Binary   Kind = "binary"   // one of two public labels
)

// Outside is what is done with a number outside its bounds.
type Outside string

// The policies for numbers outside their bounds.
const (
	OutsideClamp  Outside = "clamp"  // moved to the nearer bound
	OutsideRefuse Outside = "refuse" // the file is refused
)

// Transform is what is done to a number before it is standardised.
type Transform string

// The transforms of numbers.
const (
	TransformLog   Transform = "log"   // the natural logarithm; the lower bound must be positive
	TransformLog1p Transform = "log1p" // log(1 + x); the lower bound must be above −1
)

// Missing is what is done with a missing cell. Dropping its record is not
// offered: the number of records is public and may not depend on cells.
type Missing string

// The policies for missing cells.
const (
	MissingRefuse Missing = "refuse" // the file is refused
	MissingImpute Missing = "impute" // read as the public text Impute
	MissingLevel  Missing = "level"  // a level of its own; categories only
)

// MissingTerm names the level that missing cells are under MissingLevel.
const MissingTerm = "(missing)"

// defaultMissingTokens returns the cells that count as missing where a column does
// not say otherwise: the empty cell, NA and ?.
func defaultMissingTokens() []string { return []string{"", "NA", "?"} }

// Schema states what is public about a table. All of it must be known without
// looking at the records.
type Schema struct {
	// Description is free text.
	Description string
	// Confirmed says that a person vouches for the schema. Required: loading under
	// an unconfirmed schema fails with ErrUnconfirmed.
	Confirmed bool
	// Records is the number of records, at least 1; public under substitution. A
	// file with another number is refused. Required.
	Records int
	// RowsPerPerson is the largest number of rows that one person may own. It is
	// the data holder's promise: no column tells. Defaults to 1.
	RowsPerPerson int
	// Radius bounds the Euclidean norm of a design row, intercept included; longer
	// rows are scaled onto it. Defaults to one that no row exceeds, or where columns have
	// a Scale, by the schema about one row in N^⅔.
	Radius float64
	// NoIntercept leaves out the constant column, the first of the design matrix.
	NoIntercept bool
	// IgnoreOther ignores columns of the file that the schema does not name.
	// Otherwise they are refused.
	IgnoreOther bool
	// Columns are the columns of the file, in the order of the design matrix,
	// which need not be the file's. Required.
	Columns []Column
	// Interactions are products of two features, such as "age:income", behind all
	// columns in the design matrix. A category has one for each of its indicators.
	Interactions []string
	// InterceptPriorSD is the prior standard deviation of the intercept. Defaults to
	// the model's.
	InterceptPriorSD float64

	// Delimiter separates cells: ",", ";" or a tab. Defaults to the first of these that
	// the header has.
	Delimiter string
	// Decimal is the decimal point of numbers, "." or ",". Defaults to ".".
	Decimal string
	// Thousands separates groups of three digits in numbers: ",", ".", "'" or a blank.
	// Defaults to none.
	Thousands string
}

// Column states what is public about one column of the file.
type Column struct {
	// Name is the column's name in the header. Required.
	Name string
	// Role is what the column is for. Required.
	Role Role
	// Kind is what the cells hold. Required unless the column is ignored, in which
	// case this and everything below is not looked at.
	Kind Kind

	// Lower and Upper are the bounds of a number, finite, Lower < Upper. Required
	// for numbers.
	Lower, Upper float64
	// Transform is applied to a number between its bounds first: TransformLog or
	// TransformLog1p. Center and Scale are those of what it makes. Defaults to none.
	Transform Transform
	// Degree adds the powers of the standardised number up to this one, behind all
	// columns in the design matrix: 2 to 9. Defaults to 1, none.
	Degree int
	// Center and Scale standardise a number to (x − Center)/Scale. Scale must be
	// positive; zero stands for the default, the middle of the bounds and half
	// their distance, under which Center must be zero too.
	Center, Scale float64
	// Outside is what is done with a number outside its bounds. Defaults to
	// OutsideClamp.
	Outside Outside

	// Levels are the levels of a category, at least two unless a missing cell is
	// one more. Required for categories. Of a target they are 0, 1 and so on.
	Levels []string
	// Reference is the level without an indicator column: coefficients of the
	// others are relative to it. Defaults to the first of Levels. Features only.
	Reference string
	// Labels are the two labels of a binary column, the negative one first.
	// Required for binary columns.
	Labels []string

	// PriorSD is the prior standard deviation of the column's coefficients, in the units
	// of its scaled entries. Defaults to the model's. Features only.
	PriorSD float64
	// PriorGroup names the group of columns whose coefficients share an unknown scale,
	// with a half-Cauchy prior. Features only; not beside a PriorSD.
	PriorGroup string

	// Missing is what is done with a missing cell. Defaults to MissingRefuse, the
	// only policy for a target.
	Missing Missing
	// Impute is the text that a missing cell is read as: a number within the
	// bounds, a level or a label. Required under MissingImpute.
	Impute string
	// MissingTokens are the cells that count as missing. Nil stands for "", "NA" and "?"; an empty
	// list for none.
	MissingTokens []string
}

// Validate returns an error that names the first setting that is not allowed, and
// nil for a schema that Load accepts once it is confirmed.
func (s *Schema) Validate() error {
	_, err := compile(s)
	return err
}
