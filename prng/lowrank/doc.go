// Package lowrank has directions of rank 1: over a matrix of a model, the sign of each element is
// the product of a sign of its row and a sign of its column. Such a direction takes rows + columns
// random signs instead of rows x columns, and the kernels of a step handle eight directions at
// once.
//
// A [Layout] says which parts of a vector are matrices. The signs of rows and columns, the factors,
// are elements of a Rademacher direction of package prng in the domain of factors.
//
//   - To apply the terms of a step, call [Layout.Load] once for its directions and [Sums.Set] once
//     for its coefficients, and then [Layout.Sum] for each part of the vector.
//     [Layout.Tiles] has the parts in which sums are fast, for [Layout.SumTile].
//   - To probe along one direction, call [Layout.LoadOne] once, and then [Layout.Perturb],
//     [Layout.PerturbPair], [Layout.Fill] or [Layout.Dot] for each part.
//
// Parts may begin and end anywhere, may come in any order, and may be processed on any goroutine:
// the bits are the same, on every architecture. docs/prng.md defines the numbers, section
// "Directions of rank 1"; the vectors in testdata test them.
//
// On amd64 with AVX2 or AVX-512, and on arm64, the kernels of sums are assembly. Those of one
// direction are package prng's.
package lowrank
