// Package experiment runs comparisons of methods at equal privacy.
//
// A [Config] is a declarative experiment: data, a model, methods with settings, a
// list of ε, a δ, repeats and metrics; [Parse] reads one from TOML. [NewPlan] sets
// every method up from public facts and lists the cells, which are all
// combinations of records, repeat, method and ε, with what each costs. [Plan.Run]
// runs them on all cores and journals every finished cell, so that a run that was
// killed goes on where it was. [Results.Write] writes tidy CSV and JSON.
//
// On public and simulated data the randomness of a cell is a function of the
// experiment's seed and the cell's identifier: results do not depend on the number
// of workers, their order or interruptions, byte for byte. Only wall times do,
// which have a file of their own. Such results are not private.
//
// On private data a comparison is a sequence of releases. [Plan.Total] composes
// the cost of all cells, [Plan.Run] refuses to begin unless the total budget
// covers it, the operating system supplies all noise, and nothing is computed that
// would look at the records for free: no non-private posterior, no held-out
// records, no wall times.
package experiment
