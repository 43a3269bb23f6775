// Package suffstat perturbs sufficient statistics and takes the posterior from
// them (Foulds, Geumlek, Welling, Chaudhuri 2016; Bernstein, Sheldon 2018). What
// is released are the noisy statistics, so any number of posterior draws may
// follow at no further cost, and the guarantee is unconditional.
//
// [Counts] are those of a Beta-Bernoulli or Dirichlet-categorical model, with the
// plug-in posterior and, for two categories, the exact posterior given the noisy
// count: the noise-aware one, whose intervals cover. [Moments] are the second
// moments of a linear regression on clipped records, with the plug-in posterior.
package suffstat
