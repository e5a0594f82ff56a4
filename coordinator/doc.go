// Package coordinator runs the rounds of a Zofl run. It announces the rounds, checks and combines
// the replies of devices, and commits each round to a log as one record (two where rounds have two
// phases). It serves the log to devices that missed a part of it. It never holds the model.
//
// Give [New] a connection, a plan and a log (package filelog or jetlog), and call
// [Coordinator.Run], which blocks until the run has ended. Meanwhile any goroutine may call the
// other methods.
//
// # Packages
//
// Package runlog defines a log; filelog and jetlog are logs. Package report has the events and the
// status that a coordinator reports. internal/engine decides; internal/gather combines the
// contributions of a round for it; internal/robust limits what one device can do to a round.
// internal/catchup answers devices that missed records. This package is the shell around the
// engine: it has the clock, the network and the log.
//
// # Records
//
// The plan decides what the record of a round holds. The coordinator rounds scalars once to
// float32, and then to the plan's precision.
//
//   - transport=mean: one term. Each of its scalars is the exact weighted mean, the median, the
//     trimmed mean, or the mean of clipped contributions.
//   - transport=relay: a term for each contributor, ascending by slot, clipped if the plan says so,
//     and weights if they differ.
//   - control=scaffold-1: two records. The record of phase 1 holds the mean of P scalars at the
//     round's first point. That of phase 2 holds the mean of K*P scalars and the mean of the
//     contributions' control variates. A change or a rollback may come between the two. The round
//     has the number of the second.
//   - control=svrg: two records as well, but the second holds only its mean.
//   - control=scaffold-2: the mean; for each older round with control variates, their sum divided
//     by the weight of all contributors; the contributors' slots; and the number of members.
//   - transport=dense: the digest of the exact weighted mean of the contributors' vectors, and no
//     terms. Where rounds have two phases, each has a record and a vector.
//
// With Plan.Late, contributions to earlier records become terms of later ones: one term for each
// earlier record with transport=mean, one for each contribution with transport=relay. Each counts
// once. Only the coordinator that closed a record knows whose contribution counted. So it accepts
// late contributions only to its own records. It drops contributions to records from before a
// restart, and to records of another coordinator.
//
// A round accepts contributions up to its target, also while paused. So records stay within the
// size that package plan/valid computed.
//
// # Commit
//
// A round is announced only after the record before it is stored, and nobody learns of a record
// before it is stored. So a coordinator that stopped at any point continues from its log. It asks
// for the same work again, and replies that devices have computed still count.
//
// A restart loses everything that is not in the log: a request whose event was not
// reported yet, the number of the open attempt, unfinished evaluations and digests, late
// contributions that waited for the next record, the history of the loss, what Plan.Trust
// remembers, and the claims that Plan.ClaimBound compares if contributions are vectors. The scale
// of Plan.Bound survives, because it depends only on the round and the log.
//
// # Vectors
//
// With transport=dense a device sends its vector in pieces. Each piece is answered with the offset
// to continue at; a piece without data only asks for it. When the round closes, partial vectors are
// dropped. A coordinator that takes over starts every vector anew; devices still have the same
// bytes. Config.UploadMemory and one sum for each element bound the memory, whatever devices send.
//
// The log stores a vector before the record that names it ([runlog.Objects]). It keeps the vector
// for as many rounds as the plan's DenseKeep says, and always keeps the last vector of each phase.
// A rollback can return only to states whose vectors the log still has. If the log loses or damages
// a vector, devices learn that it is gone, and [report.Status] names it in ObjectError. The remedy
// is a snapshot, a later round, a rollback or a restored copy of the vector.
//
// # Failing and shared logs
//
// The log decides. While it is unknown whether a record was stored, the run pauses and hands the
// same bytes to the log again and again. It continues by itself once it knows. If coordinators
// share a log, the first stored record counts, whichever coordinator wrote it. A coordinator falls
// silent when it learns of one that began later: Run then returns [runlog.ErrDeposed], and New with
// the same log stands by.
//
// # Digests
//
// The coordinator has no model of its own to compare with devices. The reference is the digest of a
// witness (Config.Witnesses), or a digest on which three devices agree. Announcements carry it to
// the devices. A device with another digest rebuilds its state.
//
// # Catching up
//
// Devices fetch missed records in segments with fixed borders, one reply each. However many devices
// ask at once, an announcement waits behind at most a MiB of replies; with transport=dense, behind
// another MiB of pieces of vectors.
//
// # Permissions
//
// A coordinator subscribes to zo.<run>.p.*.*, zo.<run>.j.* and zo.<run>.c.*; with transport=dense
// also to zo.<run>.u.* and zo.<run>.d.*. It publishes to zo.<run>.a.* and to the inboxes of
// devices. A coordinator that does not share its log publishes and subscribes to zo.<run>.l, to
// find a second coordinator of the run. A jetlog.Log subscribes to its own inbox and publishes to
// zo.<run>.h, zo.<run>.m, $JS.API.>, $KV.ZO_<run>_LEASE.> and $KV.ZO_<run>_EPOCH.>; with
// transport=dense also to $O.ZO_<run>_OBJECTS.>. In addition to the log, the program zofl publishes
// losses and metrics to zo.<run>.t. Devices need none of these. A user who may publish to
// $O.ZO_<run>_OBJECTS.> can remove vectors, but cannot change them, because records hold their
// digests. Package client says what devices publish. The last token of a device's subjects is its
// id, and the broker must bind that token to the device.
//
// # Determinism
//
// internal/engine has no goroutine, clock or randomness: the same inputs at the same times give the
// same frames and records, byte for byte. A record does not depend on the order in which replies
// arrived.
package coordinator
