// Four records at a time with AVX2, by the operations of clip.go and Grid.Round in their order.

#include "textflag.h"

DATA k<>+0(SB)/8, $0x4338000000000000  // 1.5·2^52: adding it rounds
DATA k<>+8(SB)/8, $0x8000000000000000  // the sign bit
DATA k<>+16(SB)/8, $0x3f00000000000000 // 2^−CoarseShift
GLOBL k<>(SB), RODATA, $24

// func clip4(parts *[3][4]float64, loss, next, along *float64, n int, c *clipping)
TEXT ·clip4(SB), NOSPLIT, $0-48
	MOVQ parts+0(FP), DI
	MOVQ loss+8(FP), SI
	MOVQ next+16(FP), R8
	MOVQ along+24(FP), R9
	MOVQ n+32(FP), CX
	MOVQ c+40(FP), BX
	VBROADCASTSD 0(BX), Y8   // τ
	VBROADCASTSD 8(BX), Y9   // slope
	VBROADCASTSD 24(BX), Y10 // inverse
	VBROADCASTSD 32(BX), Y11 // top
	VBROADCASTSD k<>+0(SB), Y12
	VBROADCASTSD k<>+8(SB), Y13
	VBROADCASTSD k<>+16(SB), Y14
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	XORQ AX, AX
	SUBQ $3, CX

records:
	CMPQ AX, CX
	JGE  done
	PREFETCHT0 1024(SI)(AX*8) // those of records to come
	PREFETCHT0 1024(R8)(AX*8)
	VMOVUPD (R9)(AX*8), Y3
	VANDNPD Y3, Y13, Y3 // |x·δ|
	VMULPD Y9, Y3, Y3
	VMULPD Y10, Y3, Y3
	VMINPD Y11, Y3, Y3 // the bound: top unless this is less
	VMOVUPD (SI)(AX*8), Y4
	VSUBPD (R8)(AX*8), Y4, Y4
	VMULPD Y8, Y4, Y4
	VMULPD Y10, Y4, Y4
	VADDPD Y12, Y4, Y4
	VSUBPD Y12, Y4, Y4 // rounded
	VMINPD Y4, Y3, Y4 // the bound where it is less, else itself, and NaN
	VXORPD Y13, Y3, Y3
	VMAXPD Y4, Y3, Y4
	VCMPPD $7, Y4, Y4, Y3
	VANDPD Y3, Y4, Y4 // NaN is 0
	VROUNDPD $3, Y4, Y4 // towards zero
	VADDPD Y4, Y0, Y0
	VMULPD Y14, Y4, Y4
	VROUNDPD $3, Y4, Y4 // coarse
	VADDPD Y4, Y1, Y1
	VMULPD Y4, Y4, Y4
	VADDPD Y4, Y2, Y2
	ADDQ $4, AX
	JMP  records

done:
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VZEROUPPER
	RET
