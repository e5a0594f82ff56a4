// Package ideas simulates the recipe of the preset zofl with one idea added, to see which
// ideas are worth a place in the product.
//
// It is a screening simulation, not the product. It trains in memory with the recipe's directions,
// scalars of 4 bits, momentum divided by the scalars' root mean square, decay and cosine. A scalar
// is the exact slope <gradient, z> of a device's minibatch, the limit of a difference for mu to 0,
// so that it costs one gradient instead of P+1 losses. Evaluations of black boxes are counted as
// queries although gradients replace them, and package cost prices the traffic. A run has no
// messages, no records and no faults.
package ideas
