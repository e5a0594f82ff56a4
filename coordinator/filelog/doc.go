// Package filelog stores a run's log in a directory. Every append survives a power cut
// once it has returned.
package filelog
