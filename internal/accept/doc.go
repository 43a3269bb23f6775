// Package accept holds the acceptance tests of private Metropolis-type chains:
// functions a(u; v), the probability of accepting a move whose log-odds were
// estimated as u with a batch variance of v. The trusted curator evaluates one
// and releases a bit of that probability.
//
// Three tests are offered.
//
//   - [Logistic], a(u) = 1/(1+e^−u): Barker's test. Exact on the full data.
//   - [Corrected], P(u + N(0, C−v) + V > 0), where V is a fitted correction with
//     N(0, C) + V ≈ Logistic(0, 1): the noise of a minibatch takes the place of
//     the missing N(0, v) (Heikkilä et al. 2019, §3.3).
//   - [Penalty], P(u + N(0, C−v) + E − C/2 > 0), E ~ Exp(1): the penalty test of
//     Ceperley & Dewing 1999 and Yıldırım & Ermiş 2019, which absorbs the noise
//     of a minibatch without any approximation of a density.
//
// What a bit costs follows from how fast its log-odds move: each test has
// Lipschitz constants in u and in v ([Test].Lipschitz), computed as certified
// suprema (theory 2.3). The curator turns them into a price.
//
// Statements and proofs: docs/proofs/acceptance.md.
package accept
