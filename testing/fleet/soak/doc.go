// Package soak runs a fleet for as long as one likes while faults happen to it: the production
// coordinator on a file log, a nats-server that listens on TCP, and production devices with
// stores, all in this process. Each party reaches the server through a proxy of its own.
//
// With a seed, faults are drawn from it, several at a time: devices stop, crash and return,
// some without their store; losses fail, are not a number, hang or are slow; policies say no;
// connections are cut or stand still; coordinator and server stop and come back.
//
// At every check all faults are healed and the run is paused. Then the log must verify, and
// all devices must have its state. Goroutines, file descriptors and the heap must not have
// grown since the first check. Between checks no more than Config.Stall may pass without a
// round.
package soak
