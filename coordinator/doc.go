// Package coordinator runs the rounds of a Zofl run. It announces them, checks and combines what
// devices reply, commits each round to a log as one record (two where rounds have two phases), and
// serves the log to devices that missed some of it. It never holds the model.
//
// Give [New] a connection, a plan and a log (package filelog or jetlog), and call
// [Coordinator.Run], which blocks until the run has ended. Meanwhile any goroutine may call the
// other methods.
//
// # Packages
//
// runlog is the contract of a log; filelog and jetlog are logs. report has the events and the
// status that a coordinator reports. internal/engine decides, and internal/gather combines the
// contributions of a round for it; internal/guard limits what one device can do to a round.
// internal/serve answers devices that missed something. This
// package is the shell around the engine: it has the clock, the network and the log.
//
// # Records
//
// The plan decides what a round's record holds. Scalars are rounded once to float32, and then to
// the plan's precision.
//
//   - transport=mean: one term. Each of its scalars is the exact weighted mean, the median, the
//     trimmed mean, or the mean of clipped contributions.
//   - transport=relay: a term for each contributor, ascending by slot, clipped where the plan says
//     so, and weights if they differ.
//   - control=scaffold-1: a record of phase 1 with the mean of P scalars at the round's first
//     point, and one of phase 2 with the mean of K*P scalars and the mean of the control variates
//     that its contributions bring. A change or a rollback may stand between the two. The round's
//     number is that of the second.
//   - control=svrg: the same two records, the second with its mean alone.
//   - control=scaffold-2: the mean; for each older round along which there are control variates,
//     their sum divided by the weight of all contributors; the contributors' slots; and the number
//     of members.
//   - transport=dense: the digest of the exact weighted mean of the contributors' vectors, and no
//     terms. Where rounds have two phases, each has a record and a vector.
//
// With Plan.Late, contributions to earlier records join as terms of these: with transport=mean one
// for each such record, with transport=relay one for each contribution. Each counts once. As
// only the coordinator that closed a record knows who counted in it, it takes late contributions to
// records of its own alone: those from before a restart, or to another coordinator's record, it
// drops.
//
// A round takes contributions up to its target, paused or not. So records stay within the size that
// package plan/valid has computed.
//
// # Commit
//
// A round is announced only after the record before it is stored, and a record is stored before
// anybody is told of it. So a coordinator that stopped anywhere continues from its log. It asks for
// the same work again, and replies that devices have already computed still count.
//
// What is not in the log is lost: a pause, a request whose event was not yet told, the number of
// the open attempt, evaluations and digests that were being collected, late contributions that
// waited for the next record, the course of the loss, whom Plan.Trust trusts, and the claims that
// Plan.ClaimBound compares with where contributions are vectors. The scale of Plan.Bound is a
// function of the round and of the log.
//
// # Vectors
//
// With transport=dense a device sends its vector in pieces. Each is answered with the offset to
// continue at; a piece without data only asks. When the round closes, partial vectors are dropped.
// A coordinator that takes over starts every vector anew, and devices still have the same bytes.
// Memory is bounded by Config.UploadMemory and one sum for each element, whoever sends how much.
//
// A vector is in the log before the record that names it ([runlog.Objects]). It stays there for as
// many rounds as the plan's DenseKeep; the last one of each phase always stays. A rollback can
// return to states whose vectors are there. If the log loses or damages a vector, devices are told
// that it is gone, and [report.Status] says so in ObjectError. A snapshot, a later round, a
// rollback or a restored copy of the vector then helps.
//
// # Failing and shared logs
//
// The log decides. While nobody knows whether a record was stored, the run pauses, hands the same
// bytes to the log again and again, and goes on by itself once it knows. Where coordinators share a
// log, the record that is stored first counts, whoever wrote it. A coordinator that learns of one
// that began later falls silent: Run returns [runlog.ErrDeposed], and New with the same log stands
// by.
//
// # Digests
//
// The coordinator holds no state to compare devices with. The reference is the digest that a
// witness reports (Config.Witnesses), or one on which three devices agree. Announcements bring it
// to the devices. One whose digest differs from it rebuilds its state.
//
// # Catching up
//
// Devices fetch missed records in segments with fixed borders, one reply each. However many ask at
// once, an announcement waits behind at most a MiB of replies; with transport=dense, behind another
// MiB of vectors' pieces.
//
// # Permissions
//
// A coordinator subscribes to zo.<run>.p.*.*, zo.<run>.j.* and zo.<run>.c.*; with transport=dense
// also to zo.<run>.u.* and zo.<run>.d.*. It publishes to zo.<run>.a.* and to the inboxes of
// devices. One that does not share its log publishes and subscribes zo.<run>.l, to find a second
// coordinator of the run. A jetlog.Log subscribes to an inbox of its own and publishes to
// zo.<run>.h, zo.<run>.m, $JS.API.>, $KV.ZO_<run>_LEASE.> and $KV.ZO_<run>_EPOCH.>; with
// transport=dense also to $O.ZO_<run>_OBJECTS.>. The program zofl publishes losses and metrics
// beside the log to zo.<run>.t. Devices need none of these. Whoever may publish to
// $O.ZO_<run>_OBJECTS.> can remove vectors, but not change them, because records have their
// digests. Package client says what a device publishes. The last token of its subjects is its id,
// and the broker has to bind that to the device.
//
// # Determinism
//
// internal/engine has no goroutine, clock or randomness: the same inputs at the same times give the
// same frames and records, byte for byte. A record does not depend on the order in which
// replies arrived.
package coordinator
