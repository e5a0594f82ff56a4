#include "textflag.h"

// func mxcsr() uint32
TEXT ·mxcsr(SB), NOSPLIT, $0-4
	STMXCSR ret+0(FP)
	RET

// func setMXCSR(bits uint32)
TEXT ·setMXCSR(SB), NOSPLIT, $0-4
	LDMXCSR bits+0(FP)
	RET
