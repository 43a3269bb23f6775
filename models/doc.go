// Package models is the one list of built-in models. An entry says all that the rest
// of the library needs to know of a model: how its target is made from the [data.Shape]
// of a table and [Options], what its parameters are called and mean in the units of the
// file, what it predicts, and how records that follow it are simulated. What samples,
// plans, tunes, compares or predicts looks models up here, so a new built-in model is
// its target and one entry.
//
// A [Model] holds no record: everything here is public. [Custom] makes a Model of
// anybody's target, which can be sampled but predicts nothing.
//
// # Values
//
// A chain's state is in the parameters of the target, unconstrained. Draws are written
// as values: the same numbers, except that a scale σ = s + e^ω is written as itself
// ([Model.Output]). Coefficients belong to the columns of the design matrix.
// [Model.InUnits] turns values into what they are per unit of the file's columns:
//
//	coefficient of a number     per unit of the number
//	coefficient of a level      relative to the reference level
//	intercept                   where all numbers are 0 and all levels the reference's
//
// For rows that the radius shortens, both are what they are of the shortened row.
package models
