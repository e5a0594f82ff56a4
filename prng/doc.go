// Package prng regenerates random directions from shared seeds: an address (key, step,
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
// On amd64 the kernels are assembly for AVX-512 or AVX2, whichever the processor has; on arm64
// those of signs are assembly for NEON. Elsewhere, and in a build with the tag purego, they are
// Go. All give the same bits. `go generate` runs internal/asm, which generates the assembly for
// amd64.
//
// # Compatibility
//
// The numbers are scheme 1, defined by docs/prng.md and tested by the vectors in testdata.
// They never change; another scheme would be another constant.
package prng
