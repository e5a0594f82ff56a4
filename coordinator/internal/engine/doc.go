// Package engine runs the rounds of a run: it decides what a coordinator sends, stores and reports.
//
// [Core.Step] takes an [Input], something that happened, with the time of the input. Step returns
// [Output]s, things that the coordinator must do. The package has no goroutine, clock, randomness
// or I/O, so the same inputs at the same times give the same outputs, byte for byte. Package
// coordinator has the clock, the network and the log.
package engine
