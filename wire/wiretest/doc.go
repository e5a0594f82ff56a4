// Package wiretest makes and reads the vectors of package wire: one frame a
// file, each with at most one fault.
//
// It is for the tests of whoever reads frames. [Load] gives the vectors of
// wire/testdata/vectors, for tables and as seeds for fuzzing. Its kit of
// [Value] functions writes msgpack without package wire, so that it can write
// what wire refuses to, and so that wire is not tested against itself.
package wiretest
