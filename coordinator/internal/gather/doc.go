// Package gather combines the contributions to a round: exact sums, contributions held for medians
// and relay, and control variates. The package knows no device, and has no clock, goroutine or
// randomness.
package gather
