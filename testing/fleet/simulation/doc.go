// Package simulation runs whole fleets from seeds, for tests: the production coordinators
// and devices, in virtual time, over a network, disks and logs on which nothing happens
// until a scheduler decides it.
//
// The scheduler does one thing, waits until everybody has reacted, checks the invariants,
// and continues. It delivers a message, loses it, duplicates it or delays it. It lets the
// log accept a record, or reject it, or accept it and report failure. It lets time pass. It
// makes a party crash at one of its next operations, cuts its network, takes the lease from
// a coordinator, loses the log's tail, pauses the run or rolls it back. After some hundred
// such steps it heals everything. Then the run must come to its end, on every device, with
// the same bits.
//
// In some runs devices send vectors in pieces of a few bytes: frames are cut on their way
// as if the limit were that small.
//
// # Use
//
// All seeds from 1 on, as many as fit one test command:
//
//	go -C testing test ./fleet/simulation
//
// Millions of seeds, on all cores, until the first finding:
//
//	go -C testing test ./fleet/simulation -run 'TestSeeds$' -timeout 0 -v -seeds 1000000 -first 1
//
// One seed, with its transcript:
//
//	go -C testing test ./fleet/simulation -run 'TestSeed$' -v -seed 17
//
// planted.sh puts bugs into copies of the production code, one at a time, and fails unless
// the simulator finds each of them.
//
// # Parts
//
// This package has the parties and their events. Below it, package scenario draws the content of a
// seed, book knows the truth and finds violations of it, and frame tells messages apart.
//
// # Determinism
//
// A seed gives the same run every time, for the same code. All choices come from the seed. Actions
// of several parties at one moment are put into a fixed order before the scheduler chooses among
// them. TestSameSeedSameTranscript checks this.
package simulation
