// Package data holds labeled images, the ways to split them among clients, and the minibatches
// that a client picks of its share.
//
// Most programs need only [Digits]. Digits draws any number of digits that look like handwriting,
// and downloads nothing. [MNIST] reads the published images, or their successor Fashion-MNIST, from
// a directory of IDX files. [IID], [Shards] and [Dirichlet] deal samples out to clients. A
// [Batcher] picks the samples of each minibatch.
//
// # Determinism
//
// Digits uses additions, multiplications, divisions and square roots only, and rounds every product
// before adding it. So Digits makes the same bytes on every machine, and devices with different
// processors can each draw the same images. Splits and minibatches are functions of their
// arguments. Dirichlet uses math.Log and math.Exp, so it promises the same split only on machines
// of one architecture.
package data
