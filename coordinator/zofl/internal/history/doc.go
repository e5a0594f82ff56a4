// Package history records what a run looked like, round by round, beside its log: losses, metrics,
// costs and events. No replica reads it, and no record depends on it. A round whose point was lost
// is a gap.
package history
