// Package filelog stores a run's log in a directory. Once Append has returned nil, the record
// survives a power cut.
package filelog
