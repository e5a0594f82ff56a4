// Package gather combines what devices contribute to a round: exact sums, contributions
// held for medians and relay, control variates, vectors that arrive in pieces, and who
// has answered. It also watches the loss. It has no clock, goroutine or randomness; the
// coordinator's core owns its values.
package gather
