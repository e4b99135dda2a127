#include "textflag.h"

// func lines(p unsafe.Pointer, octets uintptr)
TEXT ·lines(SB), NOSPLIT, $0-16
	MOVD p+0(FP), R0
	MOVD octets+8(FP), R1
	ADD  R0, R1

next:
	PRFM (R0), PLDL1KEEP
	ADD  $64, R0
	CMP  R1, R0
	BLO  next
	RET
