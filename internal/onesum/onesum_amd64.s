#include "textflag.h"

// ADD adds the halves of the words in a: the low ones to l, the high ones to h.
#define ADD(a, l, h, t) \
	VPSRLQ $32, a, t \
	VPANDQ Z8, a, a  \
	VPADDQ a, l, l   \
	VPADDQ t, h, h

// func halves(b []byte) (low, high uint64)
TEXT ·halves(SB), NOSPLIT, $0-40
	MOVQ       b_base+0(FP), SI
	MOVQ       b_len+8(FP), CX
	VPXORQ     Z0, Z0, Z0
	VPXORQ     Z1, Z1, Z1
	VPXORQ     Z2, Z2, Z2
	VPXORQ     Z3, Z3, Z3
	VPTERNLOGQ $0xff, Z8, Z8, Z8
	VPSRLQ     $32, Z8, Z8

	// 128 octets at a time.
loop:
	CMPQ      CX, $128
	JB        some
	VMOVDQU64 (SI), Z4
	VMOVDQU64 64(SI), Z5
	ADD(Z4, Z0, Z1, Z6)
	ADD(Z5, Z2, Z3, Z7)
	ADDQ      $128, SI
	SUBQ      $128, CX
	JMP       loop

some:
	CMPQ      CX, $64
	JB        rest
	VMOVDQU64 (SI), Z4
	ADD(Z4, Z0, Z1, Z6)
	ADDQ      $64, SI
	SUBQ      $64, CX

	// The last ones, and zeros behind them.
rest:
	MOVQ       $-1, AX
	BZHIQ      CX, AX, AX
	KMOVQ      AX, K1
	VMOVDQU8.Z (SI), K1, Z4
	ADD(Z4, Z2, Z3, Z6)

	// Eight sums each become one.
	VPADDQ        Z2, Z0, Z0
	VPADDQ        Z3, Z1, Z1
	VEXTRACTI64X4 $1, Z0, Y4
	VEXTRACTI64X4 $1, Z1, Y5
	VPADDQ        Y4, Y0, Y0
	VPADDQ        Y5, Y1, Y1
	VEXTRACTI128  $1, Y0, X4
	VEXTRACTI128  $1, Y1, X5
	VPADDQ        X4, X0, X0
	VPADDQ        X5, X1, X1
	VPSRLDQ       $8, X0, X4
	VPSRLDQ       $8, X1, X5
	VPADDQ        X4, X0, X0
	VPADDQ        X5, X1, X1
	VMOVQ         X0, AX
	VMOVQ         X1, BX
	VZEROUPPER
	MOVQ          AX, low+24(FP)
	MOVQ          BX, high+32(FP)
	RET
