// Package targets holds the models whose posteriors dpmcmc samples, and the
// small interfaces through which the rest of the library sees them.
//
// A target is a prior p₀(θ) and a per-record loss ℓ(z; θ); the posterior it
// stands for is π(θ) ∝ p₀(θ)·exp(−τ·Σᵢ ℓ(zᵢ; θ)). The temperature τ belongs to
// the curator and the samplers, not to the target: a target never sees it.
//
// The loss is the log loss −log f or the β-divergence loss of Jewson et al.
// (2023), chosen by a [Loss]. The least a target must do is [Target], about
// twenty lines; the other interfaces are abilities that make a chain faster
// ([RatioTarget], [LinearTarget]), let it use gradients ([GradTarget]), or bound
// what one record can do ([RangeCertificate], [RatioCertificate],
// [GradCertificate]).
//
// A user's target is not trusted. A certificate is a claim that the curator enforces by
// clipping, so a wrong one can bias a chain but never leak a record. Records are shown
// to it one at a time, as copies. A record that makes a loss NaN contributes nothing,
// one that makes it infinite is clipped: a target returns such values and never panics
// or fails on data.
//
// What remains assumed of it ([Assumed]):
//
//   - No call leaves anything of a record behind:
//     in the target, in a global, in a goroutine, in a file or on the network.
//   - It prints and logs nothing.
//   - It does not end or crash the process,
//     nor use up its memory. A panic, or the end of
//     its goroutine, costs only the record's contribution.
//   - It returns, on every record.
//   - LogPrior, Dim, Shape and certificates look at no record.
//
// The targets of this package are trusted ([Ours]): they see the sealed records, and
// are tested to write nothing else than their answers, each a record's own.
//
// Every target of this package is immutable after construction and safe for
// concurrent use.
package targets
