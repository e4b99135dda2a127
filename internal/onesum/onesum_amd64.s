#include "textflag.h"

// ADD adds the halves of the words at from: the low ones to l, the high ones to h.
#define ADD(from, l, h, a, t) \
	VMOVDQU from, a   \
	VPSRLQ  $32, a, t \
	VPAND   Y8, a, a  \
	VPADDQ  a, l, l   \
	VPADDQ  t, h, h

// func halves(b []byte) (low, high uint64)
TEXT ·halves(SB), NOSPLIT, $0-40
	MOVQ     b_base+0(FP), SI
	MOVQ     b_len+8(FP), CX
	VPXOR    Y0, Y0, Y0
	VPXOR    Y1, Y1, Y1
	VPXOR    Y2, Y2, Y2
	VPXOR    Y3, Y3, Y3
	VPCMPEQQ Y8, Y8, Y8
	VPSRLQ   $32, Y8, Y8

	// 64 octets at a time.
loop:
	CMPQ CX, $64
	JB   rest
	ADD((SI), Y0, Y1, Y4, Y6)
	ADD(32(SI), Y2, Y3, Y5, Y7)
	ADDQ $64, SI
	SUBQ $64, CX
	JMP  loop

rest:
	CMPQ CX, $32
	JB   join
	ADD((SI), Y0, Y1, Y4, Y6)

	// Four sums each become one.
join:
	VPADDQ       Y2, Y0, Y0
	VPADDQ       Y3, Y1, Y1
	VEXTRACTI128 $1, Y0, X4
	VEXTRACTI128 $1, Y1, X5
	VPADDQ       X4, X0, X0
	VPADDQ       X5, X1, X1
	VPSRLDQ      $8, X0, X4
	VPSRLDQ      $8, X1, X5
	VPADDQ       X4, X0, X0
	VPADDQ       X5, X1, X1
	VMOVQ        X0, AX
	VMOVQ        X1, BX
	VZEROUPPER
	MOVQ         AX, low+24(FP)
	MOVQ         BX, high+32(FP)
	RET
