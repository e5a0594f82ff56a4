// Package ideas simulates the recipe of the preset zofl with one idea added, to find out which
// ideas the library should implement.
//
// The package is a quick simulation for comparing ideas, not the production code. The simulation
// trains in memory with the recipe's directions, scalars of 4 bits, momentum divided by the
// scalars' root mean square, decay and cosine. A scalar is the exact slope <gradient, z> of a
// device's minibatch, the limit of a difference for mu to 0, so that it costs one gradient
// instead of P+1 losses. The simulation counts the queries that black boxes would make, although
// gradients replace them, and computes the traffic with package cost. A simulated run has no
// messages, no records and no faults.
package ideas
