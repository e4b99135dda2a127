#include "textflag.h"

// func lines(p unsafe.Pointer, octets uintptr)
TEXT ·lines(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ octets+8(FP), CX
	ADDQ AX, CX

next:
	PREFETCHT0 (AX)
	ADDQ       $64, AX
	CMPQ       AX, CX
	JB         next
	RET
