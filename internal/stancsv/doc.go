// Package stancsv writes and reads draws in the CSV shape of CmdStan, which
// stansummary, rstan, cmdstanr, cmdstanpy and ArviZ read.
//
// A file is a header of comment lines "# key = value", one line of column names,
// one line per draw, and a footer of comment lines with the elapsed time. The
// first three columns describe the sampler; the others are parameters, with dots
// where their names have brackets: beta.1 is beta[1], L.2.1 is L[2,1].
//
// The writer can only write what may be released: lp__, which readers need, is 0,
// accept_stat__ is the released bit, stepsize__ is public, and no field takes a log
// density. What describes Hamiltonian trajectories (treedepth__, n_leapfrog__,
// divergent__, energy__) is left out, so that a check of it fails instead of passing. A file is never
// overwritten ([Create]). One that was left unfinished is still read ([Read]), and is gone on with after its
// last whole draw ([Continue]).
package stancsv
