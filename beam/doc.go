// Package beam runs the passes over records that an anchored chain pays for, and the
// cells of a sweep, as Apache Beam pipelines: on one machine with Prism, or on Flink and
// Dataflow (docs/beam.md).
//
// [Sums] adds up the integers that curator.SecondMoment releases. Integer addition has no
// order, so a distributed pass gives the sums of a local one bit for bit, however the
// runner splits, retries and combines. curator.Totals charges and releases them. The sums
// are exact and as private as the records: keep them where the records are kept.
//
// [Sweep] runs the shards of dpmcmc compare, which dpmcmc compare merge puts together.
package beam
