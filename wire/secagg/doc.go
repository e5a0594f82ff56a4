// Package secagg computes the sum of devices' numbers so that the coordinator learns the sum and
// nothing else: the secure aggregation of Bonawitz et al. 2017, Fig. 4, with double masks, and from
// 101 devices on with the sparse graph of Bell et al. 2020. docs/secagg.md specifies the bytes.
//
// Type [Device] is a device's part, type [Server] the coordinator's part. A round has four steps.
// In each step the server gives some bytes to every device that is still in the round. The device
// answers with other bytes. The coordinator closes the step when all devices have answered or the
// time is up. A device that did not answer is out.
//
//	step        Server.Give              Device             its answer
//	StepKeys    nothing                  Keys()             two public keys
//	StepShares  keys of neighbors        Shares(given)      a sealed share for each neighbor
//	StepMask    shares from neighbors    Mask(given, x)     x plus masks
//	StepUnmask  which neighbors masked   Unmask(given)      a share of each neighbor
//
// Rounds with Agree have one more step before the last, in which devices check that the server gave
// all of them the same lists:
//
//	StepAgree   who masked, by which list    Agree(given)   a tag of the lists
//
// After the last step [Server.Sum] returns the sum of all x that the server received. Devices may
// drop out during the round, as long as each neighborhood keeps at least the threshold of devices.
// All numbers are uint32, and sums wrap: any integers modulo 2^32. [Coding] turns scalars into such
// integers.
//
// A [Request] and an [Answer] are the frames that carry a step, for plans with secure=sum: a device
// asks on its subject zo.<run>.k.<id>, and the answer comes when the step is over. Announcements,
// records and declines do not change. A device sends no contribution in the clear.
//
// This package uses no network and no clock. For bad bytes from other parties its functions return
// an error and never panic. What they allocate is limited by the bytes that they got. A caller can
// repeat each call: the same arguments return the same bytes, other arguments return [ErrConflict].
//
// # What it hides, and from whom
//
// A coordinator that follows the protocol learns only the sum. Devices that collude with the
// coordinator learn no more either, if each neighborhood has fewer colluders than its threshold. If
// the devices share a secret that the coordinator does not have, the coordinator cannot replace the
// devices' keys by its own keys either. With Agree, a coordinator that lies about who takes part
// gets only the sum of all devices that take part, and their number is at least the threshold.
// docs/secagg.md says what such a coordinator can do without Agree.
package secagg
