// Package vec holds the inner loops of the library: row-major matrix by vector,
// a few elementary functions over slices, and rounding to a power-of-two grid.
// Everything allocates nothing, propagates NaN, and gives the same bits on every
// machine; where the processor has AVX2 some loops use it.
package vec
