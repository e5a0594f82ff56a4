// Package prng regenerates random directions from shared seeds: an address (key, step,
// perturbation, source, block) names the same numbers on every device, so directions never travel.
//
// Most callers need [RecordKey] to derive the key of a record, a [Direction] made with it, and the
// kernels that consume a direction without storing it: [Perturb] to probe a model, [Sum] to apply
// the terms of a step to it. A kernel is given a part of the vector that starts at a multiple of
// [BlockLen]; blocks are independent, so parts may be done in any order and on any goroutine.
//
// # Determinism
//
// Every kernel gives the same bits on every architecture. No product is fused with a sum, no
// function of package math but Sqrt takes part, and the coefficients are literals. One exception:
// the sign and payload of a NaN are not specified.
//
// # Speed
//
// On amd64 the kernels are assembly for AVX-512 or AVX2, whichever the processor has; on arm64
// those of signs are for NEON. Everywhere else, and in a build with the tag purego, they are Go.
// The bits are the same. The assembly of amd64 is written by internal/asm; `go generate` writes it
// anew.
//
// # Compatibility
//
// The numbers are scheme 1, written in SPEC.md and held by the vectors in testdata. They never
// change; another scheme would be another constant.
package prng
