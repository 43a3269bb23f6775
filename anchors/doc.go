// Package anchors runs anchored chains: score and curvature of the log-likelihood are
// released once, at a private optimum, and steps decide only what those do not say.
//
// A chain that buys the likelihood ratio of every move anew cannot afford to move. Near
// an anchor θ₀ almost all of that ratio is its quadratic part, which is the same for
// every move. With G and H its released gradient and curvature, δ = θ − θ₀, and r what
// the quadratic polynomial leaves of a record's loss,
//
//	π(θ) ∝ prior(θ)·exp{−τ[G·δ + ½δᵀHδ]}·exp{−τΣr(z; θ)},
//
// the acceptance bits see r alone, which is of third order in δ: hundreds of times
// smaller, and its price thousands of times. The optimum gives G for nothing.
//
// What is sampled is an [Aim]. Remainder is the posterior above with the noise of G in
// the normal part, so that intervals contain it; Score is the posterior given the
// release alone, which is calibrated where noise dominates; Sums does the same for linear
// regressions with an unknown scale. Perturbed takes the release for true.
//
// [Afford] chooses shares, noise, clip and aim from public facts. [Prepare] asks for all
// releases of anchor and chains as one grant, and [Chains.Begin] makes the first ones
// and returns kernels. docs/anchored-figures.md and docs/public-tables.md have the figures.
package anchors
