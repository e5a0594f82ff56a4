//go:build !purego

#include "textflag.h"

// A fused product is exact here: it is by 1, so l + 1*h rounds once, as l + h does.

// Registers: V0-V15 = a row's two tables each, of eight sums, as that row sees them. V16 = bytes 0,
// 1, 2, 3, four times; V17 = 0x1c in each byte; V18 = sign bits; V19 = ones; V20 = bytes 0, 1, 2, 3,
// four of each; V21, V22 = bytes 0 to 31. V23 = bytes of signs, V24-V27 = what they say.
// R0 = dst, R1-R3 = steps to the next rows, R4 = columns, R5 = groups, R6 = a, R7 = its step, R8 =
// b, R9 = its step, R10 = sums.

#define CONSTANTS \
	MOVD $0x03020100, R11 \
	VDUP R11, V16.S4 \
	VMOVI $0x1c, V17.B16 \
	MOVD $0x80000000, R11 \
	VDUP R11, V18.S4 \
	MOVD $0x3f800000, R11 \
	VDUP R11, V19.S4 \
	MOVD $0x0101010100000000, R11 \
	VMOV R11, V20.D[0] \
	MOVD $0x0303030302020202, R11 \
	VMOV R11, V20.D[1] \
	MOVD $0x0706050403020100, R11 \
	VMOV R11, V21.D[0] \
	MOVD $0x0f0e0d0c0b0a0908, R11 \
	VMOV R11, V21.D[1] \
	VMOVI $16, V22.B16 \
	VORR V21.B16, V22.B16, V22.B16

// INDEX: V24, V25 = 4 times the low and the high place of V23; V26, V27 = their signs.
#define INDEX \
	VSHL $2, V23.B16, V24.B16 \
	VUSHR $2, V23.B16, V25.B16 \
	VSHL $28, V23.S4, V26.S4 \
	VAND V17.B16, V24.B16, V24.B16 \
	VAND V17.B16, V25.B16, V25.B16 \
	VAND V18.B16, V26.B16, V26.B16 \
	VAND V18.B16, V23.B16, V27.B16

// ROW: L0, L1 and H0, H1 = the group's tables, V28-V31, as the row of the next byte at R11 sees them.
#define ROW(L0, L1, H0, H1) \
	MOVBU.P 1(R11), R12 \
	VDUP R12, V23.B16 \
	INDEX \
	VEOR V21.B16, V24.B16, L0.B16 \
	VEOR V22.B16, V24.B16, L1.B16 \
	VEOR V21.B16, V25.B16, H0.B16 \
	VEOR V22.B16, V25.B16, H1.B16 \
	VTBL L0.B16, [V28.B16, V29.B16], L0.B16 \
	VTBL L1.B16, [V28.B16, V29.B16], L1.B16 \
	VTBL H0.B16, [V30.B16, V31.B16], H0.B16 \
	VTBL H1.B16, [V30.B16, V31.B16], H1.B16 \
	VEOR V26.B16, L0.B16, L0.B16 \
	VEOR V26.B16, L1.B16, L1.B16 \
	VEOR V27.B16, H0.B16, H0.B16 \
	VEOR V27.B16, H1.B16, H1.B16

// COLUMNS: what the next four bytes at R13 say, the places with the bytes of a float.
#define COLUMNS \
	MOVWU.P 4(R13), R12 \
	VMOV R12, V23.S[0] \
	VTBL V20.B16, [V23.B16], V23.B16 \
	INDEX \
	VORR V16.B16, V24.B16, V24.B16 \
	VORR V16.B16, V25.B16, V25.B16

// ADD: adds the group's sums to four elements at X.
#define ADD4(L0, L1, H0, H1, X) \
	VTBL V24.B16, [L0.B16, L1.B16], V28.B16 \
	VTBL V25.B16, [H0.B16, H1.B16], V29.B16 \
	VLD1 (X), [V30.S4] \
	VEOR V26.B16, V28.B16, V28.B16 \
	VEOR V27.B16, V29.B16, V29.B16 \
	VFMLA V19.S4, V29.S4, V28.S4 \
	VFMLA V19.S4, V28.S4, V30.S4 \
	VST1.P [V30.S4], 16(X)

#define GROUP \
	VLD1.P 64(R10), [V28.B16, V29.B16, V30.B16, V31.B16] \
	MOVD R6, R11 \
	MOVD R8, R13 \
	ADD R7, R6 \
	ADD R9, R8

#define PARAMETERS \
	MOVD dst+0(FP), R0 \
	MOVD stride+8(FP), R1 \
	MOVD columns+16(FP), R4 \
	MOVD groups+24(FP), R5 \
	MOVD a+32(FP), R6 \
	MOVD aNext+40(FP), R7 \
	MOVD b+48(FP), R8 \
	MOVD bNext+56(FP), R9 \
	MOVD sums+64(FP), R10

// func addRowNEON(dst *float32, stride, columns, groups int, a *uint8, aNext int, b *uint8, bNext int, sums *[2][8]float32)
TEXT ·addRowNEON(SB), NOSPLIT, $0-72
	PARAMETERS
	CONSTANTS

group:
	GROUP
	ROW(V0, V1, V2, V3)
	MOVD R0, R14
	MOVD R4, R19

four:
	COLUMNS
	ADD4(V0, V1, V2, V3, R14)
	SUBS $4, R19
	BNE four
	SUBS $1, R5
	BNE group
	RET

// func addFourNEON(dst *float32, stride, columns, groups int, a *uint8, aNext int, b *uint8, bNext int, sums *[2][8]float32)
TEXT ·addFourNEON(SB), NOSPLIT, $0-72
	PARAMETERS
	CONSTANTS

group:
	GROUP
	ROW(V0, V1, V2, V3)
	ROW(V4, V5, V6, V7)
	ROW(V8, V9, V10, V11)
	ROW(V12, V13, V14, V15)
	MOVD R0, R14
	ADD R1, R14, R15
	ADD R1, R15, R16
	ADD R1, R16, R17
	MOVD R4, R19

four:
	COLUMNS
	ADD4(V0, V1, V2, V3, R14)
	ADD4(V4, V5, V6, V7, R15)
	ADD4(V8, V9, V10, V11, R16)
	ADD4(V12, V13, V14, V15, R17)
	SUBS $4, R19
	BNE four
	SUBS $1, R5
	BNE group
	RET
