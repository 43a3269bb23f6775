package dense

// Proof: docs/proofs/curator.md.

// Wide says that the processor has AVX2 and the system keeps its registers, so that loops
// may work on four numbers at a time, with the same bits as one by one.
var Wide = supported(1<<5, 6)

// Wider says the same of eight numbers, with AVX-512 (F and DQ).
var Wider = Wide && supported(3<<16, 0xe6)

// supported says whether the processor has features and the system keeps registers.
func supported(features, registers uint32) bool {
	has, kept := extensions()
	return has&features == features && kept&registers == registers
}

// extensions are what CPUID says of leaf 7, in EBX, and XGETBV of the registers that the
// system keeps. Both are 0 without AVX.
func extensions() (features, kept uint32)

// mulVec4 is MulVec for n rows, rounded down to fours, and a v of d > 0 numbers.
//
//go:noescape
func mulVec4(dst, x, v *float64, n, d int)

// mulVecs4 is MulVecs for n rows, rounded down to fours, and vectors of d > 0 numbers.
//
//go:noescape
func mulVecs4(dst, other, x, v, w *float64, n, d int)

// gather4 copies rows of d ≥ 4 numbers until all n are copied, or one is not in [0, rows).
// It has rows that come later, and their numbers in y, brought into the cache.
//
//go:noescape
func gather4(dst, x, y *float64, d int, index *int32, n, rows int) (copied int)
