// Package coordinator runs the rounds of a Zofl run: it announces them, checks
// and combines what devices reply, commits one record a round to a log (two where
// rounds have two phases), and serves the log to devices that missed some of it.
// It never holds the model.
//
// For most uses, give [New] a connection, a plan and a log ([OpenFileLog]),
// and call [Coordinator.Run], which blocks until the run ended. The other
// methods may be called from any goroutine meanwhile.
//
// # Records
//
// What a round's record holds follows from the plan; in all of it, scalars are
// rounded once to float32, and then to the plan's precision.
//
//   - Transport mean: one term, of each scalar the exact weighted mean, the median,
//     the trimmed mean, or the mean of clipped contributions.
//   - Transport relay: a term for each contributor, ascending by slot, clipped
//     where the plan says so, with weights if they are not equal.
//   - scaffold-1: a record of phase 1 with the mean of P scalars at the round's first
//     point, and one of phase 2 with the mean of K*P scalars and that of the control
//     variates that each of its contributions brings. A change or a rollback may
//     stand between the two, and the round's number counts with the second.
//   - scaffold-2: the mean, and for each older round that a control variate is of
//     their sum divided by all contributors; the contributors' slots; and how many
//     members the roster has.
//   - Transport dense: the digest of the exact weighted mean of the contributors'
//     vectors, and no terms. Of two phases each has a record, and a vector.
//
// A round takes contributions up to its target, paused or not, so that what
// [wire.Plan.Validate] says of the size of records holds.
//
// # Commit
//
// A round is announced only after the record before it is stored, and a
// record is stored before anybody is told of it. A coordinator that stopped at
// any point therefore continues from its log: it asks for the same work again,
// and replies that devices have computed already still count.
//
// What is not in the log does not survive: a pause, a request whose event was
// not told yet, the number of the open attempt, evaluations and digests that
// were being collected, and how the loss went.
//
// # Vectors
//
// In runs with [wire.DenseVectors] a device sends its vector in pieces, each of
// which is answered. It goes on where the answer says; a piece without data only
// asks. What has arrived is dropped when the round closes, and a coordinator that
// takes over begins every vector anew; the device has the same bytes still. Memory
// is bounded by Config.UploadMemory and one sum for each element, whoever sends
// how much.
//
// A vector is in the log before the record that names it ([Objects]), and stays
// there for as many rounds as the plan's DenseKeep; the last one of each phase
// always does. A rollback can return to states whose vectors are there. One that the
// log lost or damaged is told to be gone, and [Status].ObjectError says so: a snapshot,
// a later round, a rollback or a copy of it put back helps.
//
// # Failing and shared logs
//
// Nothing but the log decides. If it is unknown whether a record was stored, the
// run pauses, hands the log the same bytes again and again, and goes on by itself
// once it is known. Where coordinators share a log, the record that is stored
// first counts, whoever wrote it. A coordinator that learns of one that began
// after it says nothing more: Run returns [ErrDeposed], and New with the same log
// stands by.
//
// # Digests
//
// The coordinator holds no state to compare devices with. What a witness reports
// ([Config].Witnesses) or three devices agree on is the reference, which
// announcements bring, and by which devices find that they have to rebuild.
//
// # Catching up
//
// Devices that missed records get them in segments with fixed borders, each
// packed into one reply. However many ask at once, an announcement waits behind
// a MiB of replies at most; in a dense run, behind another one of vectors' pieces.
//
// # Permissions
//
// A coordinator subscribes zo.<run>.p.*.*, zo.<run>.j.* and zo.<run>.c.*, of a dense
// run also zo.<run>.u.* and zo.<run>.d.*, and publishes zo.<run>.a.* and to the inboxes
// of devices. A [JetStreamLog] subscribes an inbox of its own and publishes zo.<run>.h
// and zo.<run>.m, $JS.API.>, $KV.ZO_<run>_LEASE.>, $KV.ZO_<run>_EPOCH.> and, of a dense
// run, $O.ZO_<run>_OBJECTS.>. Devices need none of these: who may publish the last one
// can take vectors away, though not change them, as records have their digests. What a
// device publishes, package client says; the last token of it is its id, which the
// broker has to bind to it.
//
// # Determinism
//
// The rounds are made by a core without goroutine, clock or randomness: the
// same inputs at the same times give the same frames and records, byte for
// byte. A record does not depend on the order in which replies arrived.
package coordinator
