// Package proptest tries to break what a target, a kernel, a mechanism or an
// event claims. It is for the tests of this library and of its users, on
// pgregory.net/rapid:
//
//		func TestMyTarget(t *testing.T) {
//			proptest.CheckTarget(t, myTarget{}, proptest.TargetOptions{})
//		}
//
//	  - CheckTarget: the interface's promises, derivatives, state between calls, and
//	    a search for records and parameters that exceed a certificate;
//	  - CheckKernel: conformance, tape replay (everything a chain shows is
//	    post-processing of its releases), reach, invariance, detailed balance;
//	  - CheckMechanism: exact sensitivity, the noise as a whole, independence, and a
//	    classifier of two worlds with Clopper–Pearson bounds against the claim;
//	  - CheckAccountant: the laws of accounting, for one event.
//
// Effort is Quick, Standard or Thorough: about a second, ten seconds, or minutes.
// docs/proptest.md has what each detects, as rates over planted defects.
//
// Records given to a check are public: its curators draw from seeds, so that a
// failure can be reproduced, and protect nothing.
//
// # Failures
//
// A failure says what was claimed and what was seen, prints a Go test with the
// smallest case found where there is one, and ends with the command that
// reproduces it. What is not drawn by rapid depends on a Seed alone, which
// defaults to 1, so the same command gives the same failure. How small its case becomes
// depends on the time that shrinking has. A call that has not returned after an option's
// Limit, by default a minute, fails too, and its goroutine is left behind.
//
// # False alarms
//
// Most properties hold exactly: what is right never fails. The statistical ones
// are invariance, detailed balance and steps in CheckKernel, all but sensitivity
// in CheckMechanism, and the draws of a PriorSampler in CheckTarget. They reject
// what is right with probability at most FalseAlarm, by default 1e-6, over the
// choice of Seed: by exact binomial tests and by empirical Bernstein bounds, which
// hold at every sample size. Three demands of CheckKernel are neither: chains
// must move in every parameter, must not stand still in the end, and must cross the
// borders that their law connects.
//
// # Testing a check
//
// A check that cannot fail shows nothing. Try runs one on something broken.
package proptest
