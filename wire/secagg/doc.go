// Package secagg computes the sum of devices' numbers so that the coordinator learns the sum and
// nothing else: the secure aggregation of Bonawitz et al. 2017, Fig. 4, with double masks, and from
// 101 devices on with the sparse graph of Bell et al. 2020. docs/secagg.md specifies the bytes.
//
// A device is a [Device], the coordinator a [Server]. A round has four steps. In each step the
// server gives some bytes to every device that is still in the round. The device answers with
// others. The server closes the step when all answered or the time is up. A device that did not
// answer is out.
//
//	step        Server.Give              Device             its answer
//	StepKeys    nothing                  Keys()             two public keys
//	StepShares  keys of neighbors        Shares(given)      a sealed share for each neighbor
//	StepMask    shares from neighbors    Mask(given, x)     x plus masks
//	StepUnmask  which neighbors masked   Unmask(given)      a share of each neighbor
//
// Rounds with Agree have one more step before the last, in which devices check that the server told
// all of them the same lists:
//
//	StepAgree   who masked, by which list    Agree(given)   a tag of the lists
//
// Then [Server.Sum] returns the sum of all x that came. Devices may leave in between, as long as
// each neighborhood keeps its threshold. All numbers are uint32, and sums wrap: any integers modulo
// 2^32. [Coding] turns scalars into such integers.
//
// A [Request] and an [Answer] are the frames that carry a step, for plans with secure=sum: a device
// asks on its subject zo.<run>.k.<id>, and the answer comes when the step is over. Announcements,
// records and declines do not change. A device sends no contribution in the clear.
//
// This package knows no network and no clock. It refuses bad bytes from others with an error, never
// with a panic, and allocates nothing that they do not carry. Each call can be repeated: the same
// arguments return the same bytes, other arguments return [ErrConflict].
//
// # What it hides, and from whom
//
// A coordinator that follows the protocol learns only the sum. So do colluders, if each
// neighborhood has fewer of them than its threshold. If the devices share a secret that the
// coordinator does not have, the coordinator cannot put its own keys between devices either. With
// Agree, a coordinator that lies about who takes part gets only the sum of all who take part, and
// these are at least the threshold. docs/secagg.md says what such a coordinator can do without
// Agree.
package secagg
