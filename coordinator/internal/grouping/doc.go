// Package grouping chooses the devices of a round's groups, which share directions. It knows which
// members are present and which have contributed; it does not know frames or the clock. The same
// inputs give the same groups.
package grouping
