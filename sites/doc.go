// Package sites samples a posterior of records that lie in several places and cannot be
// pooled: hospitals, banks, countries.
//
// Every site seals its own records under its own budget, and answers two looks: the
// gradient and the curvature of its log-likelihood at a public point, with noise of its
// own. Sums over sites are those of the pooled table, and so are their noises' variances.
// [Fit] looks at 0, then where that leads, and samples the posterior given the second
// look (package surrogates). [Walk] goes on from there with chains of which every site
// answers every step with a noisy sum. No record leaves its site, and no sum without noise
// but to an aggregator that all sites trust.
//
// People of one site are in no other. So one person's guarantee is that of their own
// site, whatever the others spend (parallel composition, docs/proofs/sites.md). Sites
// may have budgets of different sizes.
//
// Sites need not trust each other, nor the one who fits: a site's answer is private
// before it leaves, at any point that it is asked about. What that costs beside a pooled
// table is √k times the noise for k sites: docs/sites.md has the figures. Sites that all
// trust one party add one noise ([Aggregate]), at looks and at steps. Models are
// regressions of binary and count responses under their log losses, and linear
// regressions with normal errors, whose sites publish second moments once
// ([ReleaseLinear], [FitLinear]) or trust an aggregator with them
// ([PoolLinear]).
package sites
