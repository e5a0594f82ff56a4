// Package simulation runs whole fleets from seeds: the coordinators and devices
// of production, over a network, disks and logs on which nothing happens until
// a scheduler says so, in virtual time. It is for tests alone.
//
// The scheduler does one thing, waits until everybody has done what followed
// from it, checks what must always hold, and goes on: it delivers one of the
// messages that are on the way, loses it, doubles it or keeps it for later; lets
// the log take a record, or not, or take it and say that it did not; lets time
// pass; or crashes a party at its next operation or one soon after, cuts its
// network, takes the lease from a coordinator, loses the log's tail, pauses the
// run or rolls it back. After some hundred such things it heals everything, and
// the run must come to its end, on every device, with the same bits.
//
// In some runs devices send vectors, in pieces of a few bytes: frames are cut on their
// way as if they were that short.
//
// # Use
//
// All seeds from 1 on, as many as fit a test command:
//
//	go -C testing test ./fleet/simulation
//
// Millions, on all cores, until the first finding:
//
//	go -C testing test ./fleet/simulation -run 'TestSeeds$' -timeout 0 -v -seeds 1000000 -first 1
//
// One seed, with its transcript:
//
//	go -C testing test ./fleet/simulation -run 'TestSeed$' -v -seed 17
//
// planted.sh puts faults into copies of the production code, one at a time, and
// fails unless the simulator finds each of them.
//
// # Determinism
//
// A seed does the same on every run of the same code: choices come from the
// seed alone, and what parties do at one moment is put into one order before
// anything is chosen among it. TestSameSeedSameTranscript holds it to that.
package simulation
