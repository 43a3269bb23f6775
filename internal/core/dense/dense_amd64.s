// Four numbers at a time with AVX2, by the operations of dense.go in their order and
// without fused multiply-add: the bits are the same.

#include "textflag.h"

// func mulVec4(dst, x, v *float64, n, d int)
TEXT ·mulVec4(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), R8
	MOVQ v+16(FP), BX
	MOVQ n+24(FP), CX
	MOVQ d+32(FP), DX
	SHLQ $3, DX
	LEAQ -8(DX), R12 // the last column

rows:
	SUBQ $4, CX
	JLT  end
	LEAQ (R8)(DX*1), R9 // rows are at R8 to R11
	LEAQ (R8)(DX*2), R10
	LEAQ (R9)(DX*2), R11
	VXORPD Y0, Y0, Y0
	XORQ AX, AX

columns: // two at a time
	CMPQ AX, R12
	JGE  odd
	PREFETCHT0 10240(R8)(AX*4) // rows to come; outside x is no fault
	VMOVUPD (R8)(AX*1), X1
	VINSERTF128 $1, (R10)(AX*1), Y1, Y1
	VMOVUPD (R9)(AX*1), X2
	VINSERTF128 $1, (R11)(AX*1), Y2, Y2
	VUNPCKLPD Y2, Y1, Y3 // the first of each row
	VUNPCKHPD Y2, Y1, Y4 // the second
	VBROADCASTSD (BX)(AX*1), Y5
	VMULPD Y3, Y5, Y3
	VADDPD Y3, Y0, Y0
	VBROADCASTSD 8(BX)(AX*1), Y6
	VMULPD Y4, Y6, Y4
	VADDPD Y4, Y0, Y0
	ADDQ $16, AX
	JMP  columns

odd:
	JGT  store
	VMOVSD (R8)(AX*1), X1
	VMOVHPD (R9)(AX*1), X1, X1
	VMOVSD (R10)(AX*1), X2
	VMOVHPD (R11)(AX*1), X2, X2
	VINSERTF128 $1, X2, Y1, Y1
	VBROADCASTSD (BX)(AX*1), Y5
	VMULPD Y1, Y5, Y1
	VADDPD Y1, Y0, Y0

store:
	VMOVUPD Y0, (DI)
	ADDQ $32, DI
	LEAQ (R8)(DX*4), R8
	JMP  rows

end:
	VZEROUPPER
	RET

// func mulVecs4(dst, other, x, v, w *float64, n, d int)
TEXT ·mulVecs4(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ other+8(FP), SI
	MOVQ x+16(FP), R8
	MOVQ v+24(FP), BX
	MOVQ w+32(FP), R13
	MOVQ n+40(FP), CX
	MOVQ d+48(FP), DX
	SHLQ $3, DX
	LEAQ -8(DX), R12

rows2:
	SUBQ $4, CX
	JLT  end2
	LEAQ (R8)(DX*1), R9
	LEAQ (R8)(DX*2), R10
	LEAQ (R9)(DX*2), R11
	VXORPD Y0, Y0, Y0 // sums with v
	VXORPD Y7, Y7, Y7 // sums with w
	XORQ AX, AX

columns2:
	CMPQ AX, R12
	JGE  odd2
	PREFETCHT0 10240(R8)(AX*4) // rows to come; outside x is no fault
	VMOVUPD (R8)(AX*1), X1
	VINSERTF128 $1, (R10)(AX*1), Y1, Y1
	VMOVUPD (R9)(AX*1), X2
	VINSERTF128 $1, (R11)(AX*1), Y2, Y2
	VUNPCKLPD Y2, Y1, Y3
	VUNPCKHPD Y2, Y1, Y4
	VBROADCASTSD (BX)(AX*1), Y5
	VMULPD Y3, Y5, Y5
	VADDPD Y5, Y0, Y0
	VBROADCASTSD (R13)(AX*1), Y6
	VMULPD Y3, Y6, Y6
	VADDPD Y6, Y7, Y7
	VBROADCASTSD 8(BX)(AX*1), Y5
	VMULPD Y4, Y5, Y5
	VADDPD Y5, Y0, Y0
	VBROADCASTSD 8(R13)(AX*1), Y6
	VMULPD Y4, Y6, Y6
	VADDPD Y6, Y7, Y7
	ADDQ $16, AX
	JMP  columns2

odd2:
	JGT  store2
	VMOVSD (R8)(AX*1), X1
	VMOVHPD (R9)(AX*1), X1, X1
	VMOVSD (R10)(AX*1), X2
	VMOVHPD (R11)(AX*1), X2, X2
	VINSERTF128 $1, X2, Y1, Y1
	VBROADCASTSD (BX)(AX*1), Y5
	VMULPD Y1, Y5, Y5
	VADDPD Y5, Y0, Y0
	VBROADCASTSD (R13)(AX*1), Y6
	VMULPD Y1, Y6, Y6
	VADDPD Y6, Y7, Y7

store2:
	VMOVUPD Y0, (DI)
	VMOVUPD Y7, (SI)
	ADDQ $32, DI
	ADDQ $32, SI
	LEAQ (R8)(DX*4), R8
	JMP  rows2

end2:
	VZEROUPPER
	RET

// func gather4(dst, x, y *float64, d int, index *int32, n, rows int) (copied int)
TEXT ·gather4(SB), NOSPLIT, $0-64
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), R10
	MOVQ d+24(FP), DX
	MOVQ index+32(FP), BX
	MOVQ n+40(FP), CX
	MOVQ rows+48(FP), R11
	LEAQ -4(DX), R12 // where the last four of a row are
	LEAQ -48(CX), R13
	XORQ AX, AX

row:
	CMPQ AX, CX
	JGE  copied
	CMPQ AX, R13
	JGE  here
	MOVLQSX 192(BX)(AX*4), R8 // ask for the row that is 48 ahead; one outside x is no fault
	PREFETCHT0 (R10)(R8*8)
	IMULQ DX, R8
	LEAQ (SI)(R8*8), R8
	PREFETCHT0 (R8)
	PREFETCHT0 64(R8)
	PREFETCHT0 (R8)(R12*8)

here:
	MOVLQSX (BX)(AX*4), R8
	CMPQ R8, R11
	JCC  copied // unsigned: below 0 too
	IMULQ DX, R8
	LEAQ (SI)(R8*8), R8
	XORQ R9, R9

four:
	CMPQ R9, R12
	JGE  last
	VMOVUPD (R8)(R9*8), Y0
	VMOVUPD Y0, (DI)(R9*8)
	ADDQ $4, R9
	JMP  four

last:
	VMOVUPD (R8)(R12*8), Y0
	VMOVUPD Y0, (DI)(R12*8)
	LEAQ (DI)(DX*8), DI
	INCQ AX
	JMP  row

copied:
	VZEROUPPER
	MOVQ AX, copied+56(FP)
	RET

// func extensions() (features, kept uint32)
TEXT ·extensions(SB), NOSPLIT, $0-8
	MOVL $0, features+0(FP)
	MOVL $0, kept+4(FP)
	MOVL $0, AX
	CPUID
	CMPL AX, $7
	JLT  no
	MOVL $1, AX
	MOVL $0, CX
	CPUID
	ANDL $0x18000000, CX // OSXSAVE and AVX
	CMPL CX, $0x18000000
	JNE  no
	MOVL $0, CX
	XGETBV
	MOVL AX, kept+4(FP)
	MOVL $7, AX
	MOVL $0, CX
	CPUID
	MOVL BX, features+0(FP)

no:
	RET
