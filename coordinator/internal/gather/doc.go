// Package gather combines the contributions to a round: exact sums, contributions held for medians
// and relay, control variates, and vectors that arrive in pieces. It also knows which devices have
// answered. It also watches the loss. It has no clock, goroutine or randomness; the coordinator's
// core owns its values.
package gather
