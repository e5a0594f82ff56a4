// Package tables holds labeled samples that are rows of numbers, dense or sparse, for the
// papers' experiments: [Covertype] and [A9A] read files; [Planted] draws sparse samples of
// two classes that resemble texts. Images are in package data of the program's module.
//
// # Determinism
//
// Planted uses additions, multiplications, divisions and square roots only, and rounds every
// product before adding it, so its samples are the same bytes on every machine.
package tables
