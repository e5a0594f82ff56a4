// Package history records the losses, metrics, costs and events of a run, round by round, beside
// its log. No replica reads it, and no record depends on it. If a point was lost, the history has a
// gap at its round.
package history
