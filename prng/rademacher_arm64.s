//go:build !purego

#include "textflag.h"

// A fused product is exact here: the sign is 1 or -1, so x + a*sign rounds once,
// as x + a or x - a do.

// CONSTANTS: V20 = a, V21 = 1, V22 = -1, V24-V27 = bits 0-15 of a word, four each.
#define CONSTANTS \
	VDUP R3, V20.S4 \
	MOVD $0x3f800000, R3 \
	VDUP R3, V21.S4 \
	MOVD $0xbf800000, R3 \
	VDUP R3, V22.S4 \
	MOVD $0x0000000200000001, R3 \
	VMOV R3, V24.D[0] \
	MOVD $0x0000000800000004, R3 \
	VMOV R3, V24.D[1] \
	VSHL $4, V24.S4, V25.S4 \
	VSHL $8, V24.S4, V26.S4 \
	VSHL $12, V24.S4, V27.S4

// SIGNS: V4-V7 = 1 or -1 by the low 16 bits of R6, which go.
#define SIGNS \
	VDUP R6, V8.S4 \
	LSR $16, R6 \
	VCMTST V24.S4, V8.S4, V4.S4 \
	VCMTST V25.S4, V8.S4, V5.S4 \
	VCMTST V26.S4, V8.S4, V6.S4 \
	VCMTST V27.S4, V8.S4, V7.S4 \
	VBSL V21.B16, V22.B16, V4.B16 \
	VBSL V21.B16, V22.B16, V5.B16 \
	VBSL V21.B16, V22.B16, V6.B16 \
	VBSL V21.B16, V22.B16, V7.B16

// func perturbSignsNEON(dst, x *float32, words int, a float32, s *uint64)
TEXT ·perturbSignsNEON(SB), NOSPLIT, $0-40
	MOVD dst+0(FP), R0
	MOVD x+8(FP), R1
	MOVD words+16(FP), R2
	MOVWU a+24(FP), R3
	MOVD s+32(FP), R5
	CONSTANTS

word:
	MOVD.P 8(R5), R6
	MOVD $4, R4

quarter:
	VLD1.P 64(R1), [V0.S4, V1.S4, V2.S4, V3.S4]
	SIGNS
	VFMLA V4.S4, V20.S4, V0.S4
	VFMLA V5.S4, V20.S4, V1.S4
	VFMLA V6.S4, V20.S4, V2.S4
	VFMLA V7.S4, V20.S4, V3.S4
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	SUBS $1, R4
	BNE quarter
	SUBS $1, R2
	BNE word
	RET

// func perturbPairSignsNEON(plus, minus, x *float32, words int, a float32, s *uint64)
TEXT ·perturbPairSignsNEON(SB), NOSPLIT, $0-48
	MOVD plus+0(FP), R0
	MOVD minus+8(FP), R7
	MOVD x+16(FP), R1
	MOVD words+24(FP), R2
	MOVWU a+32(FP), R3
	MOVD s+40(FP), R5
	CONSTANTS

word:
	MOVD.P 8(R5), R6
	MOVD $4, R4

quarter:
	VLD1.P 64(R1), [V0.S4, V1.S4, V2.S4, V3.S4]
	SIGNS
	VMOV V0.B16, V16.B16
	VMOV V1.B16, V17.B16
	VMOV V2.B16, V18.B16
	VMOV V3.B16, V19.B16
	VFMLA V4.S4, V20.S4, V0.S4
	VFMLA V5.S4, V20.S4, V1.S4
	VFMLA V6.S4, V20.S4, V2.S4
	VFMLA V7.S4, V20.S4, V3.S4
	VFMLS V4.S4, V20.S4, V16.S4
	VFMLS V5.S4, V20.S4, V17.S4
	VFMLS V6.S4, V20.S4, V18.S4
	VFMLS V7.S4, V20.S4, V19.S4
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R7)
	SUBS $1, R4
	BNE quarter
	SUBS $1, R2
	BNE word
	RET
