// Package starts finds where a private chain starts.
//
// At a small ε the walk from a far start eats the budget (docs/theory.md, section
// 5.6): a part of it is better spent on getting near first. Two starts are charged:
//
//   - Optimum, a private optimum of the logistic log loss by objective perturbation
//     with an approximate minimum (curator.Optimum), for logistic regression
//     under any loss of package targets;
//   - Gradient, a descent along noisy gradients (curator.NoisyGradient), for every
//     target with gradients.
//
// The others are free: a Given public value, by default 0, the mean of the centred
// priors of package targets; and a PriorDraw.
//
// A start is a release like any other: unconditional, charged to the records'
// budget by the curator before a record is read, and public from then on, so all
// chains may use it. Cost is its price, Afford fits it to a part of a budget, and
// Find charges and makes it.
//
// DefaultShare, the part of ε that Afford's callers give a start when nothing is
// said, was chosen by simulation (docs/settings.md): costs add up in
// squares, so a quarter of ε for the start leaves 0.97 of it for the chain.
package starts
