// Package gather combines the contributions to a round: exact sums, contributions held for medians
// and relay, control variates, and what comes late. It also knows which devices have answered, and
// what they measured of a state. It has no clock, goroutine or randomness; the coordinator's core
// owns its values.
package gather
