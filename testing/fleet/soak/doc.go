// Package soak runs a fleet for a chosen time while faults happen to the fleet: the production
// coordinator on a file log, a nats-server that listens on TCP, and production devices with stores,
// all in this process. Each party reaches the server through its own proxy.
//
// A seed, if given, determines the faults, of which several happen at a time. Devices stop, crash
// and return, some without their store. Losses fail, are not a number, hang or are slow. Policies
// refuse work. Connections break or stall. Coordinator and server stop and come back.
//
// At every check the soak ends all faults and pauses the run. Then the log must verify, and all
// devices must have the log's state. Goroutines, file descriptors and the heap must not have grown
// since the first check by more than the limits. Between checks a round must end at least once in
// Config.Stall.
package soak
