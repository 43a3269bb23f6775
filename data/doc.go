// Package data reads tables under public bounds, and simulates built-in ones.
//
// A [Schema] states everything about a table that is public: the number of
// records, how many rows one person may own, a bound on the norm of a design row,
// and for every column its role, its bounds, levels or labels, and what is done
// with a cell that is missing or out of bounds. [Load] and [Read] turn a CSV file
// into a [Table] under a schema: its [Shape], which is public, and its records. Package schemafile reads
// schemas from TOML, and [Draft] writes a first one for a person to correct and confirm.
//
// # What loading guarantees
//
// Each row of the table is a pure function of one record of the file and of the
// schema: nothing is scaled, imputed or projected by anything computed from other
// records. So files that differ in one record give tables that differ in one row,
// whose norm is at most Radius, in exact arithmetic too.
//
// Loading itself is not a private release. A refusal is an [Error] that shows the
// offending cell to whoever holds the file, before anything is charged and before
// records are sealed; pass it to nobody else. Once a table is loaded, nothing
// about the records can fail any more.
//
// # The design matrix
//
// A schema with F feature columns, and the intercept unless it is turned off, has
// K = F + 1 (or F) sources, and every entry of the design matrix carries the
// factor 1/√K:
//
//	intercept                1/√K
//	number                   (x − Center)/(Scale·√K), x clamped to its bounds
//	category                 1/√K in the indicator column of its level, which the
//	                         reference level does not have; 0 elsewhere
//	binary                   +1/√K for the second label, −1/√K for the first
//
// Without Center and Scale a number is mapped from [Lower, Upper] to [−1, 1], so
// every row has norm at most 1 by construction and the default radius of 1
// distorts nothing. That wastes privacy when bounds are wide and most values lie
// close together: the cost of a chain grows with the square of the radius, what
// it learns with the spread of the rows within it. Then state a Center and a Scale,
// known from elsewhere, that make typical values of (x − Center)/Scale about 1 in
// size. Typical rows then fill the ball, and the few outside are scaled onto it; models may
// weigh them.
//
// Rows are projected here, once: sealing them again moves nothing.
//
// A binary response is 0 for the first label and 1 for the second, and a category is 0
// for the first level, 1 for the second and so on. A response that is a number is (x − Center)/Scale, by
// default in [−1, 1], without the factor and untouched by the projection. The [Term] of each column states
// its map, so that coefficients can be brought back to the units of the file.
package data
