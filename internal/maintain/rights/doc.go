// Package rights lists right targets and kernels of every package, which the checks
// of package proptest must pass and never reject.
package rights
