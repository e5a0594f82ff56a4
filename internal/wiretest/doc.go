// Package wiretest generates and reads the vectors of package wire: one frame a
// file, each with at most one fault.
//
// It is for tests of code that reads frames. [Load] returns the vectors of
// wire/testdata/vectors, for tables and as seeds for fuzzing. The [Value]
// functions write msgpack without package wire, so that they can write frames
// that wire would not, and so that wire is not tested against itself.
package wiretest
