#include "textflag.h"

// MULTIPLY multiplies the halves of each 16 octets of a by the factors in k, into a and t:
// the sum of both is what a is that much further on.
#define MULTIPLY(k, a, t) \
	VPCLMULQDQ $0x00, k, a, t \
	VPCLMULQDQ $0x11, k, a, a

// func fold(register uint32, b []byte, by *[8]factors) uint32
TEXT ·fold(SB), NOSPLIT, $0-44
	MOVL register+0(FP), AX
	MOVQ b_base+8(FP), SI
	MOVQ b_len+16(FP), CX
	MOVQ by+32(FP), DI

	// 256 octets in four registers; that of the CRC is added to the first four.
	VMOVDQU64       (SI), Z0
	VMOVDQU64       64(SI), Z1
	VMOVDQU64       128(SI), Z2
	VMOVDQU64       192(SI), Z3
	VMOVD           AX, X4
	VPXORQ          Z4, Z0, Z0
	VBROADCASTI32X4 (DI), Z8
	VBROADCASTI32X4 16(DI), Z9
	VBROADCASTI32X4 32(DI), Z10
	VBROADCASTI32X4 48(DI), Z11
	ADDQ            $256, SI
	SUBQ            $256, CX

	// Each is added to what comes 256 octets later.
loop:
	CMPQ       CX, $256
	JB         merge
	MULTIPLY(Z8, Z0, Z4)
	MULTIPLY(Z8, Z1, Z5)
	MULTIPLY(Z8, Z2, Z6)
	MULTIPLY(Z8, Z3, Z7)
	VPTERNLOGQ $0x96, (SI), Z4, Z0
	VPTERNLOGQ $0x96, 64(SI), Z5, Z1
	VPTERNLOGQ $0x96, 128(SI), Z6, Z2
	VPTERNLOGQ $0x96, 192(SI), Z7, Z3
	ADDQ       $256, SI
	SUBQ       $256, CX
	JMP        loop

	// The first three are added to the last one.
merge:
	MULTIPLY(Z9, Z0, Z4)
	MULTIPLY(Z10, Z1, Z5)
	MULTIPLY(Z11, Z2, Z6)
	VPTERNLOGQ $0x96, Z4, Z0, Z3
	VPTERNLOGQ $0x96, Z5, Z1, Z3
	VPTERNLOGQ $0x96, Z6, Z2, Z3

	// 64 octets at a time.
some:
	CMPQ       CX, $64
	JB         parts
	MULTIPLY(Z11, Z3, Z4)
	VPTERNLOGQ $0x96, (SI), Z4, Z3
	ADDQ       $64, SI
	SUBQ       $64, CX
	JMP        some

	// The four parts are added to the last one of them, whose own factors are zero.
parts:
	VMOVDQU64     64(DI), Z8
	VEXTRACTI32X4 $3, Z3, X6
	MULTIPLY(Z8, Z3, Z4)
	VPXORQ        Z4, Z3, Z3
	VEXTRACTI64X4 $1, Z3, Y4
	VPXOR         Y4, Y3, Y3
	VEXTRACTI128  $1, Y3, X4
	VPXOR         X4, X3, X3
	VPXOR         X6, X3, X3

	// 16 octets at a time.
	VMOVDQU 96(DI), X8
few:
	CMPQ  CX, $16
	JB    last
	MULTIPLY(X8, X3, X4)
	VPXOR X4, X3, X3
	VPXOR (SI), X3, X3
	ADDQ  $16, SI
	SUBQ  $16, CX
	JMP   few

	// These have the CRC of the whole, but for the last octets.
last:
	VMOVQ   X3, BX
	VPEXTRQ $1, X3, DX
	XORL    AX, AX
	CRC32Q  BX, AX
	CRC32Q  DX, AX
	TESTQ   $8, CX
	JZ      four
	CRC32Q  (SI), AX
	ADDQ    $8, SI
four:
	TESTQ   $4, CX
	JZ      two
	CRC32L  (SI), AX
	ADDQ    $4, SI
two:
	TESTQ   $2, CX
	JZ      one
	CRC32W  (SI), AX
	ADDQ    $2, SI
one:
	TESTQ   $1, CX
	JZ      done
	CRC32B  (SI), AX
done:
	VZEROUPPER
	MOVL    AX, ret+40(FP)
	RET
