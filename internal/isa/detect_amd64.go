//go:build !purego

package isa

//go:generate go -C ../asm run ./isa -out ../isa/cpuid_amd64.s -stubs ../isa/cpuid_amd64.go -pkg isa

// Bits of CPUID and XGETBV: Intel's Software Developer's Manual, volume 2A,
// CPUID, and volume 1, 13.3.
const (
	osxsave = 1 << 27 // leaf 1, ecx
	avx     = 1 << 28

	avx2     = 1 << 5 // leaf 7, ebx
	avx512f  = 1 << 16
	avx512dq = 1 << 17
	avx512bw = 1 << 30
	avx512vl = 1 << 31

	stateYMM = 0x06 // XCR0: the system saves XMM and YMM registers
	stateZMM = 0xe0 // and masks and ZMM registers
)

func detect() []Level {
	if highest, _, _ := cpuid(0, 0); highest < 7 {
		return []Level{Generic}
	}
	_, _, features := cpuid(1, 0)
	if features&(osxsave|avx) != osxsave|avx {
		return []Level{Generic}
	}
	saved, extended := xgetbv(), uint32(0)
	if _, extended, _ = cpuid(7, 0); extended&avx2 == 0 || saved&stateYMM != stateYMM {
		return []Level{Generic}
	}
	const all = avx512f | avx512dq | avx512bw | avx512vl
	if extended&all != all || saved&stateZMM != stateZMM {
		return []Level{Generic, AVX2}
	}
	return []Level{Generic, AVX2, AVX512}
}
