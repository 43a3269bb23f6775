// Package planning answers what a privacy budget buys.
//
// Solve finds the one value of a parameter (a noise multiplier, a sampling
// rate, a batch size, a number of iterations, a clip, a temperature, a loss's β)
// at which a release spends as much of a Budget as it can without exceeding it.
// A Parameter is any function from a value to an accountant.Event, so a
// sampler's Cost is one after one line of wrapping. EpsilonCurve
// tabulates the choices around a plan.
//
// Guarantee: the ε of a Plan, as accountant.Event.Epsilon reports it, is never
// above the one asked for, whatever the parameter's function does. If the cost
// is monotone in the parameter, the value is the best one: exactly for integers,
// within 1e-6 relative for real numbers.
//
// Planning looks at no data and spends nothing. A plan made after looking at the
// records, though, is a release of its own that nobody has paid for.
package planning
