// Package engine runs the rounds of a run: it decides what a coordinator sends, stores and reports.
//
// [Core.Step] takes an [Input], something that happened, with its time, and returns [Output]s,
// things to do. There is no goroutine, clock, randomness or I/O here, so the same inputs at the
// same times give the same outputs, byte for byte. Package coordinator has the clock, the network
// and the log.
package engine
