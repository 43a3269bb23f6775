// Four numbers at a time with AVX2, or eight with AVX-512, by the very operations of
// elementary.go in their order and without fused multiply-add: the bits are the same.

#include "textflag.h"

DATA c<>+0(SB)/8, $0x40671547652b82fe  // 128/ln2
DATA c<>+8(SB)/8, $0x4338000000000000  // shift, 1.5·2^52
DATA c<>+16(SB)/8, $0x3f762e42fef80000 // ln2Hi
DATA c<>+24(SB)/8, $0x3d41cf79abc9e3b4 // ln2Lo
DATA c<>+32(SB)/8, $0xc086200000000000 // −708
DATA c<>+40(SB)/8, $0x4086280000000000 // 709
DATA c<>+48(SB)/8, $0x3fe0000000000000 // 1/2
DATA c<>+56(SB)/8, $0x3fc5555555555555 // 1/6
DATA c<>+64(SB)/8, $0x3fa5555555555555 // 1/24
DATA c<>+72(SB)/8, $0x3f81111111111111 // 1/120
DATA c<>+80(SB)/8, $127
DATA c<>+88(SB)/8, $0x8000000000000000 // the sign bit
DATA c<>+96(SB)/8, $0x3ff0000000000000 // 1
DATA c<>+104(SB)/8, $0x42c8000000000000 // log1pShift, 1.5·2^45
DATA c<>+112(SB)/8, $255
DATA c<>+120(SB)/8, $0x3fd5555555555555 // 1/3
DATA c<>+128(SB)/8, $0x3fd0000000000000 // 1/4
DATA c<>+136(SB)/8, $0x3fc999999999999a // 1/5
DATA c<>+144(SB)/8, $0x3fc2492492492492 // 1/7
DATA c<>+152(SB)/8, $0x403ff80000000000 // tailMax, 32 − 1/32
DATA c<>+160(SB)/8, $0x42e8000000000000 // tailShift, 1.5·2^47
DATA c<>+168(SB)/8, $1023
DATA c<>+176(SB)/8, $0x3fb999999999999a // 1/10
DATA c<>+184(SB)/8, $0x3f56c16c16c16c17 // 1/720
GLOBL c<>(SB), RODATA, $192

// ENTRIES leaves the first numbers of the entries at BX that Y4 counts in Y2, and the
// second ones in Y6. It uses Y5 and R9 to R12: VGATHERQPD is slower on many processors.
#define ENTRIES \
	VPSLLQ $4, Y4, Y4 \
	VEXTRACTI128 $1, Y4, X5 \
	VMOVQ X4, R9 \
	VPEXTRQ $1, X4, R10 \
	VMOVQ X5, R11 \
	VPEXTRQ $1, X5, R12 \
	VMOVUPD (BX)(R9*1), X2 \
	VMOVUPD (BX)(R10*1), X5 \
	VINSERTF128 $1, (BX)(R11*1), Y2, Y2 \
	VINSERTF128 $1, (BX)(R12*1), Y5, Y5 \
	VUNPCKHPD Y5, Y2, Y6 \
	VUNPCKLPD Y5, Y2, Y2

// POWER leaves head in Y2 and e^r − 1 + tail in Y6 for the exponents in Y0, from
// the table at BX. It uses Y1 to Y7.
#define POWER \
	VMULPD Y0, Y8, Y1 \ // z
	VADDPD Y9, Y1, Y1 \
	VSUBPD Y9, Y1, Y2 \ // n
	VMULPD Y10, Y2, Y3 \
	VSUBPD Y3, Y0, Y3 \
	VMULPD Y11, Y2, Y2 \
	VSUBPD Y2, Y3, Y3 \ // r
	VPAND Y14, Y1, Y4 \
	ENTRIES \ // head, tail
	VPSRLQ $7, Y1, Y1 \
	VPSLLQ $52, Y1, Y1 \
	VPADDQ Y1, Y2, Y2 \
	VMULPD Y3, Y3, Y1 \ // r²
	VBROADCASTSD c<>+56(SB), Y4 \
	VMULPD Y3, Y4, Y4 \
	VADDPD Y13, Y4, Y4 \
	VMULPD Y4, Y1, Y4 \
	VADDPD Y4, Y6, Y6 \
	VBROADCASTSD c<>+72(SB), Y4 \
	VMULPD Y3, Y4, Y4 \
	VBROADCASTSD c<>+64(SB), Y5 \
	VADDPD Y5, Y4, Y4 \
	VMULPD Y1, Y1, Y1 \
	VMULPD Y4, Y1, Y4 \
	VADDPD Y4, Y6, Y6 \
	VADDPD Y6, Y3, Y6

#define CONSTANTS \
	VBROADCASTSD c<>+0(SB), Y8 \
	VBROADCASTSD c<>+8(SB), Y9 \
	VBROADCASTSD c<>+16(SB), Y10 \
	VBROADCASTSD c<>+24(SB), Y11 \
	VBROADCASTSD c<>+32(SB), Y12 \
	VBROADCASTSD c<>+48(SB), Y13 \
	VBROADCASTSD c<>+80(SB), Y14

// func expNegAbs4(dst, x *float64, n int, table *exp2Entry) int
TEXT ·expNegAbs4(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ table+24(FP), BX
	XORQ AX, AX
	CONSTANTS
	VBROADCASTSD c<>+88(SB), Y15
	SUBQ $3, CX

negLoop:
	CMPQ AX, CX
	JGE  negDone
	VMOVUPD (SI)(AX*8), Y0
	VORPD Y15, Y0, Y0 // −|x|
	VCMPPD $0x0d, Y12, Y0, Y1
	VMOVMSKPD Y1, DX
	CMPL DX, $15
	JNE  negDone
	POWER
	VMULPD Y6, Y2, Y6
	VADDPD Y6, Y2, Y6
	VMOVUPD Y6, (DI)(AX*8)
	ADDQ $4, AX
	JMP  negLoop

negDone:
	VZEROUPPER
	MOVQ AX, ret+32(FP)
	RET

// func expm1All4(dst, x *float64, n int, table *exp2Entry) int
TEXT ·expm1All4(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ table+24(FP), BX
	XORQ AX, AX
	CONSTANTS
	VBROADCASTSD c<>+96(SB), Y15
	SUBQ $3, CX

m1Loop:
	CMPQ AX, CX
	JGE  m1Done
	VMOVUPD (SI)(AX*8), Y0
	VBROADCASTSD c<>+40(SB), Y2
	VCMPPD $0x0d, Y12, Y0, Y1
	VCMPPD $0x02, Y2, Y0, Y2
	VANDPD Y1, Y2, Y1
	VMOVMSKPD Y1, DX
	CMPL DX, $15
	JNE  m1Done
	POWER
	VMULPD Y6, Y2, Y6
	VSUBPD Y15, Y2, Y2
	VADDPD Y6, Y2, Y6
	VMOVUPD Y6, (DI)(AX*8)
	ADDQ $4, AX
	JMP  m1Loop

m1Done:
	VZEROUPPER
	MOVQ AX, ret+32(FP)
	RET

// func addLog1p4(dst, x, u *float64, n int, table *log1pEntry)
TEXT ·addLog1p4(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ u+16(FP), R8
	MOVQ n+24(FP), CX
	MOVQ table+32(FP), BX
	XORQ AX, AX
	VBROADCASTSD c<>+104(SB), Y8
	VBROADCASTSD c<>+112(SB), Y9
	VBROADCASTSD c<>+120(SB), Y10
	VBROADCASTSD c<>+48(SB), Y11
	VBROADCASTSD c<>+136(SB), Y12
	VBROADCASTSD c<>+128(SB), Y13
	VBROADCASTSD c<>+144(SB), Y14
	VBROADCASTSD c<>+56(SB), Y15
	SUBQ $3, CX

logLoop:
	CMPQ AX, CX
	JGE  logDone
	VMOVUPD (R8)(AX*8), Y0
	VADDPD Y8, Y0, Y1 // z
	VPAND Y9, Y1, Y4
	ENTRIES // 1/(1+c), log(1+c)
	VMOVAPD Y6, Y4
	VSUBPD Y8, Y1, Y1
	VSUBPD Y1, Y0, Y0
	VMULPD Y2, Y0, Y0 // r
	VMULPD Y0, Y0, Y1 // r²
	VMULPD Y10, Y0, Y2
	VSUBPD Y2, Y11, Y2
	VMULPD Y2, Y1, Y2
	VSUBPD Y2, Y0, Y2 // r − r²(½ − r/3)
	VMULPD Y14, Y0, Y3
	VSUBPD Y3, Y15, Y3
	VMULPD Y3, Y1, Y3
	VMULPD Y12, Y0, Y0
	VSUBPD Y0, Y13, Y0
	VADDPD Y3, Y0, Y0
	VMULPD Y1, Y1, Y1
	VMULPD Y0, Y1, Y0
	VSUBPD Y0, Y2, Y2
	VADDPD Y2, Y4, Y4
	VXORPD Y5, Y5, Y5
	VMOVUPD (SI)(AX*8), Y6
	VMAXPD Y5, Y6, Y6
	VADDPD Y4, Y6, Y6
	VMOVUPD Y6, (DI)(AX*8)
	ADDQ $4, AX
	JMP  logLoop

logDone:
	VZEROUPPER
	RET

// TAILS holds what softplus of four and of eight numbers need in registers.
#define TAILS(shift, mask, one, tenth, e120, sixth, most, sign) \
	VBROADCASTSD c<>+160(SB), shift \
	VBROADCASTSD c<>+168(SB), mask \
	VBROADCASTSD c<>+96(SB), one \
	VBROADCASTSD c<>+176(SB), tenth \
	VBROADCASTSD c<>+72(SB), e120 \
	VBROADCASTSD c<>+56(SB), sixth \
	VBROADCASTSD c<>+152(SB), most \
	VBROADCASTSD c<>+88(SB), sign

// SERIES leaves softplus in x for its x, r, q and log, as softplus of elementary.go.
#define SERIES(x, r, q, log, w, s, r2, odd, one, tenth, e120, sixth) \
	VMULPD q, q, w \
	VSUBPD w, q, w \
	VADDPD q, q, s \
	VSUBPD s, one, s \
	VMULPD r, q, q \ // q·r
	VMULPD r, r, r2 \
	VMULPD tenth, w, odd \
	VSUBPD odd, e120, odd \
	VMULPD r2, odd, odd \
	VADDPD sixth, odd, odd \
	VMULPD s, odd, odd \
	VMULPD r, odd, odd \
	VBROADCASTSD c<>+64(SB), s \
	VMULPD sixth, w, r \ // even
	VSUBPD s, r, r \
	VMULPD w, r, r \
	VBROADCASTSD c<>+184(SB), s \
	VADDPD s, r, r \
	VMULPD r2, r, r \
	VBROADCASTSD c<>+128(SB), s \
	VMULPD w, s, s \
	VSUBPD s, r, r \
	VBROADCASTSD c<>+64(SB), s \
	VADDPD s, r, r \
	VMULPD r2, r, r \
	VBROADCASTSD c<>+48(SB), s \
	VADDPD s, r, r \
	VMULPD r2, w, w \
	VSUBPD odd, r, r \
	VMULPD w, r, r \
	VSUBPD q, r, r \
	VADDPD log, r, r \
	VXORPD odd, odd, odd \
	VMAXPD odd, x, x \
	VADDPD r, x, x

// func softplus4(dst, x *float64, n int, table *tailEntry) int
TEXT ·softplus4(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ table+24(FP), BX
	XORQ AX, AX
	TAILS(Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15)
	SUBQ $3, CX

softLoop:
	CMPQ AX, CX
	JGE  softDone
	VMOVUPD (SI)(AX*8), Y7
	VANDNPD Y7, Y15, Y0 // t
	VCMPPD $0x02, Y14, Y0, Y1
	VMOVMSKPD Y1, DX
	CMPL DX, $15
	JNE  softDone
	VADDPD Y8, Y0, Y1 // z
	VPAND Y9, Y1, Y4
	ENTRIES // log, q
	VSUBPD Y8, Y1, Y1
	VSUBPD Y1, Y0, Y0 // r
	SERIES(Y7, Y0, Y6, Y2, Y1, Y3, Y4, Y5, Y10, Y11, Y12, Y13)
	VMOVUPD Y7, (DI)(AX*8)
	ADDQ $4, AX
	JMP  softLoop

softDone:
	VZEROUPPER
	MOVQ AX, ret+32(FP)
	RET

// func softplus8(dst, x *float64, n int, table *tailEntry) int
TEXT ·softplus8(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ table+24(FP), BX
	XORQ AX, AX
	TAILS(Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15)
	SUBQ $7, CX

softLoop8:
	CMPQ AX, CX
	JGE  softDone8
	VMOVUPD (SI)(AX*8), Z7
	VANDNPD Z7, Z15, Z0 // t
	VCMPPD $0x02, Z14, Z0, K1
	KMOVB K1, DX
	CMPL DX, $255
	JNE  softDone8
	VADDPD Z8, Z0, Z1 // z
	VPANDQ Z9, Z1, Z4
	VPSLLQ $4, Z4, Z4
	VEXTRACTI64X4 $1, Z4, Y3
	VEXTRACTI128 $1, Y4, X5
	VEXTRACTI128 $1, Y3, X6
	VMOVQ X4, R9
	VPEXTRQ $1, X4, R10
	VMOVQ X5, R11
	VPEXTRQ $1, X5, R12
	VMOVUPD (BX)(R9*1), X2
	VMOVUPD (BX)(R10*1), X5
	VINSERTF64X2 $1, (BX)(R11*1), Z2, Z2
	VINSERTF64X2 $1, (BX)(R12*1), Z5, Z5
	VMOVQ X3, R9
	VPEXTRQ $1, X3, R10
	VMOVQ X6, R11
	VPEXTRQ $1, X6, R12
	VINSERTF64X2 $2, (BX)(R9*1), Z2, Z2
	VINSERTF64X2 $2, (BX)(R10*1), Z5, Z5
	VINSERTF64X2 $3, (BX)(R11*1), Z2, Z2
	VINSERTF64X2 $3, (BX)(R12*1), Z5, Z5
	VUNPCKHPD Z5, Z2, Z6 // q
	VUNPCKLPD Z5, Z2, Z2 // log
	VSUBPD Z8, Z1, Z1
	VSUBPD Z1, Z0, Z0 // r
	SERIES(Z7, Z0, Z6, Z2, Z1, Z3, Z4, Z5, Z10, Z11, Z12, Z13)
	VMOVUPD Z7, (DI)(AX*8)
	ADDQ $8, AX
	JMP  softLoop8

softDone8:
	VZEROUPPER
	MOVQ AX, ret+32(FP)
	RET

// func against4(dst, eta, y *float64, n int)
TEXT ·against4(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ eta+8(FP), SI
	MOVQ y+16(FP), R8
	MOVQ n+24(FP), CX
	VBROADCASTSD c<>+48(SB), Y8
	VBROADCASTSD c<>+88(SB), Y9
	XORQ AX, AX
	SUBQ $3, CX

againstLoop:
	CMPQ AX, CX
	JGE  againstDone
	PREFETCHT0 1024(R8)(AX*8)
	VMOVUPD (R8)(AX*8), Y0
	VSUBPD Y8, Y0, Y1
	VANDPD Y9, Y1, Y1 // the sign of y − ½
	VXORPD (SI)(AX*8), Y1, Y1
	VSUBPD Y0, Y0, Y0
	VADDPD Y0, Y1, Y1
	VXORPD Y9, Y1, Y1
	VMOVUPD Y1, (DI)(AX*8)
	ADDQ $4, AX
	JMP  againstLoop

againstDone:
	VZEROUPPER
	RET
