#include "textflag.h"

// MULTIPLY multiplies the halves of each 16 octets of a by the factors in k, into a and t:
// the sum of both is what a is that much further on.
#define MULTIPLY(k, a, t) \
	VPCLMULQDQ $0x00, k, a, t \
	VPCLMULQDQ $0x11, k, a, a

// ADD adds the halves of the words in a to the sums: the low ones to l, the high ones to h. It
// waits for nothing that the multiplications wait for, so it takes no time beside them.
#define ADD(a, l, h, t) \
	VPSRLQ $32, a, t  \
	VPANDQ Z28, a, a  \
	VPADDQ a, l, l    \
	VPADDQ t, h, h

// SPLIT begins sums with the halves of the words in a.
#define SPLIT(a, l, h) \
	VPSRLQ $32, a, h \
	VPANDQ Z28, a, l

// func fold512(register uint32, b []byte, by *[8]factors) (crc uint32, low, high uint64)
TEXT ·fold512(SB), NOSPLIT, $0-64
	MOVL register+0(FP), AX
	MOVQ b_base+8(FP), SI
	MOVQ b_len+16(FP), CX
	MOVQ by+32(FP), DI

	VPTERNLOGQ $0xff, Z28, Z28, Z28
	VPSRLQ     $32, Z28, Z28

	// 256 octets in four registers; that of the CRC is added to the first four.
	VMOVDQU64       (SI), Z0
	VMOVDQU64       64(SI), Z1
	VMOVDQU64       128(SI), Z2
	VMOVDQU64       192(SI), Z3
	SPLIT(Z0, Z16, Z17)
	SPLIT(Z1, Z18, Z19)
	SPLIT(Z2, Z20, Z21)
	SPLIT(Z3, Z22, Z23)
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
	VMOVDQU64  (SI), Z12
	VMOVDQU64  64(SI), Z13
	VMOVDQU64  128(SI), Z14
	VMOVDQU64  192(SI), Z15
	MULTIPLY(Z8, Z0, Z4)
	MULTIPLY(Z8, Z1, Z5)
	MULTIPLY(Z8, Z2, Z6)
	MULTIPLY(Z8, Z3, Z7)
	VPTERNLOGQ $0x96, Z12, Z4, Z0
	VPTERNLOGQ $0x96, Z13, Z5, Z1
	VPTERNLOGQ $0x96, Z14, Z6, Z2
	VPTERNLOGQ $0x96, Z15, Z7, Z3
	ADD(Z12, Z16, Z17, Z24)
	ADD(Z13, Z18, Z19, Z25)
	ADD(Z14, Z20, Z21, Z26)
	ADD(Z15, Z22, Z23, Z27)
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
	VMOVDQU64  (SI), Z12
	MULTIPLY(Z11, Z3, Z4)
	VPTERNLOGQ $0x96, Z12, Z4, Z3
	ADD(Z12, Z16, Z17, Z24)
	ADDQ       $64, SI
	SUBQ       $64, CX
	JMP        some

	// The last octets are added to the sums with zeros behind them. Eight sums each become one.
parts:
	MOVQ          $-1, AX
	BZHIQ         CX, AX, AX
	KMOVQ         AX, K1
	VMOVDQU8.Z    (SI), K1, Z12
	ADD(Z12, Z18, Z19, Z25)
	VPADDQ        Z18, Z16, Z16
	VPADDQ        Z19, Z17, Z17
	VPADDQ        Z22, Z20, Z20
	VPADDQ        Z23, Z21, Z21
	VPADDQ        Z20, Z16, Z0
	VPADDQ        Z21, Z17, Z1
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
	VMOVQ         X0, low+48(FP)
	VMOVQ         X1, high+56(FP)

	// The four parts are added to the last one of them, whose own factors are zero.
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
	MOVL    AX, crc+40(FP)
	RET

// SUM adds the halves of the words in a to the sums in Y9 and Y10, and leaves a as it is.
#define SUM(a, t) \
	VPSRLQ $32, a, t   \
	VPADDQ t, Y10, Y10 \
	VPAND  Y15, a, t   \
	VPADDQ t, Y9, Y9

// STEP adds what is in a to the octets at from, which are summed.
#define STEP(k, a, from, t) \
	MULTIPLY(k, a, t)  \
	VMOVDQU from, Y12  \
	VPXOR   Y12, t, t  \
	VPXOR   t, a, a    \
	SUM(Y12, Y13)

// func fold256(register uint32, b []byte, by *[5]factors) (crc uint32, low, high uint64)
TEXT ·fold256(SB), NOSPLIT, $0-64
	MOVL register+0(FP), AX
	MOVQ b_base+8(FP), SI
	MOVQ b_len+16(FP), CX
	MOVQ by+32(FP), DI

	VPCMPEQQ Y15, Y15, Y15
	VPSRLQ   $32, Y15, Y15
	VPXOR    Y9, Y9, Y9
	VPXOR    Y10, Y10, Y10

	// 128 octets in four registers; that of the CRC is added to the first four.
	VMOVDQU        (SI), Y0
	VMOVDQU        32(SI), Y1
	VMOVDQU        64(SI), Y2
	VMOVDQU        96(SI), Y3
	SUM(Y0, Y4)
	SUM(Y1, Y5)
	SUM(Y2, Y6)
	SUM(Y3, Y7)
	VMOVD          AX, X4
	VPXOR          Y4, Y0, Y0
	VBROADCASTI128 (DI), Y8
	VBROADCASTI128 48(DI), Y11
	ADDQ           $128, SI
	SUBQ           $128, CX

	// Each is added to what comes 128 octets later.
loop:
	CMPQ CX, $128
	JB   merge
	STEP(Y8, Y0, (SI), Y4)
	STEP(Y8, Y1, 32(SI), Y5)
	STEP(Y8, Y2, 64(SI), Y6)
	STEP(Y8, Y3, 96(SI), Y7)
	ADDQ $128, SI
	SUBQ $128, CX
	JMP  loop

	// The first three are added to the last one.
merge:
	VBROADCASTI128 16(DI), Y8
	MULTIPLY(Y8, Y0, Y4)
	VBROADCASTI128 32(DI), Y8
	MULTIPLY(Y8, Y1, Y5)
	MULTIPLY(Y11, Y2, Y6)
	VPXOR          Y4, Y0, Y0
	VPXOR          Y5, Y1, Y1
	VPXOR          Y6, Y2, Y2
	VPXOR          Y0, Y3, Y3
	VPXOR          Y1, Y2, Y2
	VPXOR          Y2, Y3, Y3

	// 32 octets at a time.
some:
	CMPQ CX, $32
	JB   parts
	STEP(Y11, Y3, (SI), Y4)
	ADDQ $32, SI
	SUBQ $32, CX
	JMP  some

	// Four sums each become one.
parts:
	VEXTRACTI128 $1, Y9, X4
	VEXTRACTI128 $1, Y10, X5
	VPADDQ       X4, X9, X9
	VPADDQ       X5, X10, X10
	VPSRLDQ      $8, X9, X4
	VPSRLDQ      $8, X10, X5
	VPADDQ       X4, X9, X9
	VPADDQ       X5, X10, X10
	VMOVQ        X9, R8
	VMOVQ        X10, R9

	// The first half is added to the second one, which then has the CRC of the whole, but for the last octets.
	VMOVDQU      64(DI), X8
	VEXTRACTI128 $1, Y3, X6
	MULTIPLY(X8, X3, X4)
	VPXOR        X4, X3, X3
	VPXOR        X6, X3, X3
	VMOVQ        X3, BX
	VPEXTRQ      $1, X3, DX
	VZEROUPPER
	XORL         AX, AX
	CRC32Q       BX, AX
	CRC32Q       DX, AX

	// 8 octets at a time.
words:
	CMPQ   CX, $8
	JB     last
	MOVQ   (SI), BX
	CRC32Q BX, AX
	MOVL   BX, DX
	SHRQ   $32, BX
	ADDQ   DX, R8
	ADDQ   BX, R9
	ADDQ   $8, SI
	SUBQ   $8, CX
	JMP    words

	// The last octets are added to the sums with zeros behind them: they are the end of a word
	// that begins in front of them.
last:
	TESTQ CX, CX
	JZ    done
	MOVQ  -8(SI)(CX*1), BX
	MOVQ  CX, R10
	SHLQ  $3, CX
	NEGQ  CX
	SHRQ  CX, BX
	MOVL  BX, DX
	SHRQ  $32, BX
	ADDQ  DX, R8
	ADDQ  BX, R9
	TESTQ $4, R10
	JZ    two
	CRC32L (SI), AX
	ADDQ   $4, SI
two:
	TESTQ  $2, R10
	JZ     one
	CRC32W (SI), AX
	ADDQ   $2, SI
one:
	TESTQ  $1, R10
	JZ     done
	CRC32B (SI), AX
done:
	MOVL   AX, crc+40(FP)
	MOVQ   R8, low+48(FP)
	MOVQ   R9, high+56(FP)
	RET

// func features7() uint32
TEXT ·features7(SB), NOSPLIT, $0-4
	MOVL $7, AX
	XORL CX, CX
	CPUID
	MOVL CX, ret+0(FP)
	RET
