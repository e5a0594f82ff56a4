// Package mathx holds the replicated numerics of Zofl: the few float
// operations that every replica of a model must carry out with the same bits,
// and the exact sum by which a coordinator averages replies. It is for the
// packages that replay a log and for those that write one; apps need nothing
// of it.
//
// # Determinism
//
// Each function states one order of operations, and each operation rounds
// once, to nearest even, in the precision of its operands. The result is the
// same on every architecture that Go supports. A product is converted before
// it is added, float32(a*x), because Go may otherwise fuse the two and round
// only once where the hardware has such an instruction.
//
// On amd64 with AVX2 assembly does the same operations on eight elements at a
// time; the build tag purego leaves it out.
//
// The last vector of a call is only read, and may be one of the vectors that
// the call writes. No two vectors may overlap otherwise: what that gives
// depends on the machine.
package mathx
