// Package simulation runs whole fleets from seeds, for tests. The coordinators and devices are
// those of production. Time is virtual. On the network, the disks and the logs nothing happens
// until a scheduler decides it.
//
// The scheduler makes one event happen, waits until all parties have reacted, checks the
// invariants, and continues. The scheduler delivers, loses, duplicates or delays a message. It lets
// the log accept a record, reject the record, or accept the record and report failure. It lets time
// pass. It makes a party crash at one of the party's next operations, or restart in a loop, cuts a
// party's network one way or both, takes the lease from a coordinator, loses the log's tail,
// damages files of a log or of a device's state, sends a write to another place, slows a disk down,
// and gives the commands of an operator. After some hundred such events the scheduler ends all
// faults. Then the run must end on every device, with the same bits. In some runs only a core
// heals: a coordinator, the log and a quorum of devices. Then the run must end on the core.
//
// In some runs the simulator cuts the frames of a vector into pieces of a few bytes, as if the
// limit of a message were that small.
//
// # Use
//
// The simulator runs all seeds from 1 on, as many as fit one test command:
//
//	go -C testing test ./fleet/simulation
//
// The simulator runs millions of seeds, on all cores, until the first finding:
//
//	go -C testing test ./fleet/simulation -run 'TestSeeds$' -timeout 0 -v -seeds 1000000 -first 1
//
// The simulator runs one seed, and prints its transcript:
//
//	go -C testing test ./fleet/simulation -run 'TestSeed$' -v -seed 17
//
// Seeds with some kinds of faults only, and often, find more with fewer seeds; see fault:
//
//	go -C testing test ./fleet/simulation -run 'TestSeeds$' -seeds 1000 -only 'rot a log,crash'
//
// planted.sh puts bugs into copies of the production code, one at a time, and fails unless
// the simulator finds each of them.
//
// # Parts
//
// This package has the parties and their events. Below this package, package scenario draws the
// content of a seed, package book records the true history and finds violations of the invariants,
// and package frame tells the kinds of messages apart.
//
// # Determinism
//
// A seed gives the same run every time, for the same code. All choices come from the seed. If
// several parties act at one moment, the simulator puts the actions into a fixed order before the
// scheduler chooses among them. TestSameSeedSameTranscript checks the determinism.
package simulation
