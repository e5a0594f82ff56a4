// Package secagg computes the sum of devices' numbers so that the coordinator learns the sum and
// nothing else: the secure aggregation of Bonawitz et al. 2017, Fig. 4, with double masks, and from
// 101 devices on with the sparse graph of Bell et al. 2020. docs/secagg.md specifies the bytes.
//
// A device is a [Device], the coordinator a [Server]. A round has four steps. In each, the server
// gives every device that is still in the round some bytes, the device answers with others, and the
// server closes the step when all answered or the time is up. Who did not answer is out.
//
//	step        Server.Give              Device             its answer
//	StepKeys    nothing                  Keys()             two public keys
//	StepShares  keys of neighbors        Shares(given)      a sealed share for each neighbor
//	StepMask    shares from neighbors    Mask(given, x)     x plus masks
//	StepUnmask  which neighbors masked   Unmask(given)      a share of each neighbor
//
// In rounds with Agree there is one more step before the last, in which devices make sure that all
// of them were told the same lists:
//
//	StepAgree   who masked, by which list    Agree(given)   a tag of the lists
//
// Then [Server.Sum] has the sum of all x that came, whoever left in between, as long as each
// neighborhood kept its threshold. All numbers are uint32, and sums wrap: any integers modulo 2^32.
// [Coding] makes such integers of scalars.
//
// A [Request] and an [Answer] are the frames that carry a step, for plans with secure=sum: a device
// asks on its subject zo.<run>.k.<id>, and the answer comes when the step is over. Announcements,
// records and declines are as ever; a device sends no contribution in the clear.
//
// Nothing here knows a network or a clock. Bytes of others may be anything: they are refused with
// an error, never with a panic, and nothing is allocated that they do not carry. Each call can be
// repeated: with the same arguments it returns the same bytes, with others [ErrConflict].
//
// # What it hides, and from whom
//
// A coordinator that follows the protocol learns the sum, together with any colluders of which each
// neighborhood has less than its threshold. With a secret that the devices share and the
// coordinator does not have, the coordinator cannot put its own keys between devices either. With
// Agree, a coordinator that lies about who takes part gets only the sum of all who take part, which
// are at least the threshold. What it can do without is in docs/secagg.md.
package secagg
