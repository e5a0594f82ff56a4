// Package coordinator runs the rounds of a Zofl run. A coordinator announces the rounds, checks and
// combines the replies of devices, and commits each round to a log as one record (two where rounds
// have two phases). The coordinator serves the log to devices that missed a part of the log. A
// coordinator never holds the model.
//
// Give [New] a connection, a plan and a log (package filelog or jetlog), and call
// [Coordinator.Run], which blocks until the run has ended. While Run blocks, any goroutine may call
// the other methods.
//
// # Packages
//
// Package runlog defines the interface of a log, and packages filelog and jetlog implement that
// interface. Package report has the events and the status that a coordinator reports.
// internal/engine decides what happens in a round. internal/gather combines the contributions of a
// round for the engine. internal/robust limits what one device can do to a round. internal/catchup
// answers devices that missed records. Package coordinator connects the engine to the clock, the
// network and the log.
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
//     round's first point. The record of phase 2 holds the mean of K*P scalars and the mean of the
//     contributions' control variates. A change or a rollback may come between the two records. The
//     round has the number of its second record.
//   - control=svrg: two records as well, but the second record holds only the mean of the scalars.
//   - control=scaffold-2: the mean; for each older round with control variates, their sum divided
//     by the weight of all contributors; the contributors' slots; and the number of members.
//   - transport=dense: the digest of the exact weighted mean of the contributors' vectors, and no
//     terms. Where rounds have two phases, each phase has a record and a vector.
//
// With Plan.Late, contributions to earlier records become terms of later records: one term for each
// earlier record with transport=mean, one term for each contribution with transport=relay. Each
// late contribution counts once. Only the coordinator that closed a record knows whose
// contributions are in that record. So a coordinator accepts late contributions only to records
// that it closed since it started, and drops late contributions to all other records.
//
// A round accepts contributions up to the plan's target, also while the run is paused. So records
// stay within the size that package plan/valid computed.
//
// # Commit
//
// The coordinator announces a round only after the log has stored the record before that round.
// Until the log has stored a record, no device learns of that record. So a coordinator that stopped
// at any point continues from its log. The restarted coordinator asks for the same work again, and
// replies that devices have already computed still count.
//
// A restart loses everything that is not in the log: a request whose event was not reported yet,
// the number of the open attempt, unfinished evaluations and digests, late contributions that
// waited for the next record, the history of the loss, what Plan.Trust remembers, and the claims
// that Plan.ClaimBound compares if contributions are vectors. A restart keeps the scale of
// Plan.Bound, because that scale depends only on the round and the log.
//
// # Vectors
//
// With transport=dense a device sends its vector in pieces. The coordinator answers each piece with
// the offset at which the device must continue. A piece without data only asks for that offset.
// When the round closes, the coordinator drops vectors that have arrived only in part. A
// coordinator that takes over collects every vector from the start again; devices still have the
// same bytes. Config.UploadMemory and one sum for each element bound the memory, whatever devices
// send.
//
// The log stores a vector before the record that names that vector ([runlog.Objects]). The log
// keeps the vector for as many rounds as the plan's DenseKeep says, and always keeps the last
// vector of each phase. A rollback can return only to states whose vectors the log still has. If
// the log loses or damages a vector, the coordinator tells devices that the vector is gone, and
// [report.Status] names the vector in ObjectError. The remedy for a lost vector is a snapshot, a
// later round, a rollback or a restored copy of the vector.
//
// # Failing and shared logs
//
// While the coordinator does not know whether the log stored a record, the run pauses and the
// coordinator gives the same bytes to the log again and again. The run continues by itself once the
// coordinator knows. If coordinators share a log, the first record that the log stored counts,
// whichever coordinator wrote that record. A coordinator stops sending when it learns of a
// coordinator that began later: Run then returns [runlog.ErrDeposed], and a call of New with the
// same log waits as standby.
//
// # Digests
//
// The coordinator has no model of its own to compare with devices. The reference digest is the
// digest of a witness (Config.Witnesses), or a digest on which three devices agree. Announcements
// carry the reference digest to the devices. A device with another digest rebuilds its state.
//
// # Catching up
//
// Devices fetch missed records in segments with fixed borders, one reply for each segment. However
// many devices ask at once, an announcement waits behind at most 1 MiB of these replies; with
// transport=dense, also behind at most 1 MiB of pieces of vectors.
//
// # Permissions
//
// A coordinator subscribes to zo.<run>.p.*.*, zo.<run>.j.* and zo.<run>.c.*; with transport=dense
// also to zo.<run>.u.* and zo.<run>.d.*. A coordinator publishes to zo.<run>.a.* and to inboxes of
// devices. A coordinator that does not share its log publishes and subscribes to zo.<run>.l, to
// find a second coordinator of the run. A jetlog.Log subscribes to its own inbox and publishes to
// zo.<run>.h, zo.<run>.m, $JS.API.>, $KV.ZO_<run>_LEASE.> and $KV.ZO_<run>_EPOCH.>; with
// transport=dense also to $O.ZO_<run>_OBJECTS.>. In addition to the log, the program zofl publishes
// losses and metrics to zo.<run>.t. Devices need none of these permissions. A user who may publish
// to $O.ZO_<run>_OBJECTS.> can remove vectors, but cannot change vectors, because records hold the
// vectors' digests. The documentation of package client says what devices publish. The last token
// of a device's subjects is the device's id, and the broker must bind that token to the device.
//
// # Determinism
//
// internal/engine has no goroutine, clock or randomness: the same inputs at the same times give the
// same frames and records, byte for byte. The content of a record does not depend on the order in
// which replies arrived.
package coordinator
