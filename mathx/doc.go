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
// A vector operand may alias the destination if both begin at the same
// element; any other overlap gives a result of the overlapping loop.
package mathx
