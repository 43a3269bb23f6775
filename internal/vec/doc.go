// Package vec holds inner loops of the library: a few elementary functions over slices, and rounding to a
// power-of-two grid. Everything allocates nothing, propagates NaN, and gives the same bits on every machine;
// where the processor has AVX2 some loops use it.
package vec
