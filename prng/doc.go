// Package prng generates random directions from shared seeds. The same address (key, step,
// perturbation, source, block) gives the same numbers on every device, so no device has to send a
// direction.
//
// Most callers derive the key of a record with [RecordKey], and make a [Direction] with this key.
// Then they call the kernels that use a direction without storing it: [Perturb] to probe a model,
// and [Sum] to apply the terms of a step to a model. A kernel processes a part of the vector that
// starts at a multiple of [BlockLen]. Blocks are independent, so callers may process the parts in
// any order, on any goroutine.
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
// kernels of signs are assembly for NEON. On other processors, and in a build with the tag purego,
// the kernels are Go code. All kernels give the same bits. `go generate` runs internal/asm, which
// generates the assembly for amd64.
//
// # Compatibility
//
// docs/prng.md defines the numbers as scheme 1; the vectors in testdata test them. The numbers of
// scheme 1 never change: other numbers would get another scheme number.
package prng
