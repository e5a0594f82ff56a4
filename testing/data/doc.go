// Package data holds the labeled samples that Zofl's experiments train on, and
// the ways to split them among clients.
//
// For most uses, take [Digits]: handwriting-like digits that the program draws
// itself, as many as are asked for, with nothing to download. [MNIST] reads the
// real thing from a directory of IDX files, [FashionMNIST] its successor. [IID],
// [Shards] and [Dirichlet] deal the samples out to clients.
//
// [Covertype] and [A9A] read tables; [Planted] draws sparse samples of two
// classes in the manner of texts.
//
// # Determinism
//
// Digits uses additions, multiplications, divisions and square roots only, with
// every product rounded before it is added, and so does Planted: they are the
// same bytes on every machine, and a fleet of unlike devices may each draw its own. The
// splits are functions of their arguments; Dirichlet uses math.Log and
// math.Exp, so it promises the same split on the same architecture only.
package data
