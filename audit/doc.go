// Package audit tries to prove the library wrong: it attacks mechanisms and whole runs,
// and turns what the attacker guesses into lower bounds on ε beside what is claimed.
//
//   - [Mechanisms] attacks every mechanism of the curator on the worst neighbours of its
//     clip, each many times, with a likelihood-ratio test ([Attack]).
//   - [Canaries] attacks whole runs of a logistic model, each with many canaries at once,
//     in three ways ([OneRun]; Steinke, Nasr and Jagielski 2023; Mahloujifar, Melis and
//     Chaudhuri 2025; Agrawal et al. 2026).
//   - [Play] plays the membership-inference game with an attacker of the caller's;
//     [Trials] turns counts into rates and a lower bound.
//
// Rates are taken within their own class: false positives over the rounds without the
// member, false negatives over those with it. (The published code of Jewson et al. 2023
// divides both by all rounds, so that a coin flip scores ε ≥ 1.0986 and errors of 0.4
// count as 1.386 instead of 0.405.)
//
// A lower bound proves a violation when it exceeds the claimed ε. It proves no
// guarantee: an attack may be weak. [Finding] says what the attack could have shown at
// most. With r rounds that is about log(r/2/3.7), 7.2 for 10 000.
package audit
