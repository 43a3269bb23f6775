// Package packed keeps tables that do not fit into memory: the rows of the design
// matrix, clipped and projected, in a file that is mapped instead of read.
//
// A file is written once, by [Create] and [Writer.Append], from any source: [FromCSV]
// packs a CSV file. [Open] maps it, checks it against its checksums and its schema, and
// gives it as a [data.Table] that package chains seals without copying it. Full passes
// read it from front to back, and minibatches touch the pages of their rows only.
//
// # What is exact
//
// In double precision the table is the one that data.Load gives, bit for bit. In single
// precision every entry of a row is brought nearer to zero, by less than 2⁻²³ of itself,
// so that a row's norm does not grow: whatever is charged for is charged exactly, and the
// table is a rounded one. Responses are always kept in double precision.
//
// # What is assumed
//
// Nothing of the file is relied upon for privacy: a curator projects each row that it
// reads of a mapped table. A file that another program changes while it is mapped biases
// the result. One that is cut short ends the process, which an operating system does to
// any program that reads a mapping beyond its file's end.
//
// # The format
//
// One page of 4096 bytes with a line of JSON, then the rows, from the next page on the
// responses. All numbers are little-endian IEEE 754.
package packed
