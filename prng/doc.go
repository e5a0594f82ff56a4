// Package prng regenerates random directions from shared seeds. An address (key, step,
// perturbation, source, block) gives the same numbers on every device, so directions are never
// sent.
//
// Most callers need [RecordKey] to derive the key of a record, a [Direction] made with it, and the
// kernels that use a direction without storing it: [Perturb] to probe a model, [Sum] to apply the
// terms of a step to it. A kernel takes a part of the vector that starts at a multiple of
// [BlockLen]. Blocks are independent, so parts may be processed in any order on any goroutine.
//
// # Determinism
//
// Every kernel gives the same bits on every architecture: no product is fused with a sum, Sqrt is
// the only function used of package math, and coefficients are literals. One exception: the sign
// and payload of a NaN are not specified.
//
// # Speed
//
// On amd64 the kernels are assembly for AVX-512 or AVX2, whichever the processor has. On arm64 the
// kernels of signs are assembly for NEON. Elsewhere, and in a build with the tag purego, they are
// Go. All give the same bits. `go generate` runs internal/asm, which generates the assembly for
// amd64.
//
// # Compatibility
//
// docs/prng.md defines the numbers as scheme 1; the vectors in testdata test them. The numbers
// never change: another scheme would get another constant.
package prng
