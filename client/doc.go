// Package client is the device's side of a Zofl run: it joins over NATS, keeps
// a replica of the model, probes the app's loss along shared directions, and
// sends a few scalars a round.
//
// For most uses, give [New] a connection, the name of the run, an id of the
// device and an [objective.Objective], call [Client.Run] on a goroutine of its own, and
// take the model from [Client.Params] at any time. A loss over a flat vector
// is [objective.Func]; an engine that loads its weights block by block implements
// [objective.Streaming] and never needs a second copy of the model; one that can hold a block
// of many models at a time implements [objective.Batched] and reads each weight once a step.
//
// # Failure
//
// The app's callbacks run one at a time, on a goroutine of their own. What
// they return, and what they do instead of returning (an error, NaN, a panic, a
// hang), ends at most that round's contribution: the device declines, so that
// nobody waits for it, and its [Recorder] is told why. A callback that hangs
// keeps the device out of the rounds until it returns.
//
// Being offline is no error: Run waits. It returns only what no waiting cures;
// see [Client.Run]. [ConnectOptions] are for devices on bad networks.
//
// # What survives
//
// With a [Store] a device may be killed at any point. Its state is kept every
// 64 records or 5 minutes, and when Run ends; its reply, or vector (and, with
// scaffold-2, what it contributed before) before it is sent, so that a device that comes back within a round sends the same bytes. What was
// torn, damaged, or is of another run, model or log is set aside, told, and
// replayed around; a store that fails is told once, and the run goes on in
// memory.
//
// A device that was away replays the records that it missed, one answer's worth
// at a time, or takes a snapshot from a passive replica and replays the rest:
// whichever is cheaper in bytes and seconds as it measures them, or what
// [Config].Horizon says. A snapshot has to be of the run's log; its numbers are
// believed until a reference agrees with a later state. One that led elsewhere
// is undone by a replay, by the end of the run at the latest. Digests are of
// vectors: that a snapshot has the plan's mu, batch and limits as changed so far
// is believed of whoever may answer zo.<run>.s.*, so let nobody else publish
// for the passive replica.
//
// Runs compare states: a device whose digest differs from the run's reference
// rebuilds its state, from its checkpoint or from record 1, and says so with
// [ErrDiverged].
//
// # Methods
//
// The plan says what a round is; an app's loss is the same for all. Scalars are the
// bare difference quotients along directions that all devices share, or those of the
// device's own slot, rounded to the plan's precision before the device goes a step
// along them: what it sends is what it did.
//
// With control=scaffold-1 a round is two records, and a device is asked for each: at
// first for P scalars at the model as it is, then for K steps that are corrected by
// what the fleet found there less what the device did. It keeps the reply to the
// first for that. One that had no part in the first phase, or lost its store since,
// makes those queries in the second: the model and the minibatch are the same, and so
// are the numbers.
//
// With control=scaffold-2 a device corrects by its last contribution that a record
// counted, up to 16 of which its store keeps for runs that roll back. What it did not
// see itself, because it was stopped or took a snapshot, it asks the log for, one
// record, and sits out until it knows. A device that lost its store begins anew
// without; what it had found stays in the fleet's mean then, of which it is 1/N.
//
// # Dense runs
//
// With transport=dense a device sends a vector ([wire.Plan.Object]) in place of scalars,
// and a record names the mean of them, which every device fetches: 4 bytes an element
// up and as many down, a round or a phase of one, whatever K, P and the number of
// devices are. Both travel by requests in pieces of up to 60 KiB, one after the other: a
// round trip each. What was sent or came is not sent again: a device that was killed
// sends the bytes that its store has from where the coordinator says, and a download goes
// on where it stopped. A coordinator that restarted is sent the vector anew.
//
// Each vector takes the place of the one before it, so a device that was away applies
// the records and fetches the last vector, of two phases the last two, however long it
// was away; [Client.Params] is the last model that was whole meanwhile. States in
// between are not reported. Vectors are checked against their records, so they go before
// snapshots, which serve only where the coordinator has a vector no longer. Then, and
// where a vector cannot be had for other reasons, a device waits for the next record, and
// says so in [Progress].Err.
//
// # Permissions
//
// A device publishes zo.<run>.j.<id>, zo.<run>.c.<id>, zo.<run>.s.<id> and
// zo.<run>.p.*.<id>, of a dense run also zo.<run>.u.<id>, for its vectors, and
// zo.<run>.d.<id>, to fetch those of records. It subscribes zo.<run>.a.* and its inbox,
// to which the answers come. What it may not do ends Run with [bus.ErrPermission].
//
// # Private runs
//
// With [Config].RunKey the directions derive from a secret that the devices alone
// have: broker and coordinator see scalars, from which nobody without the key gets the
// model. Digests are keyed, and the snapshots that a passive replica keeps and serves
// are sealed under the key, as docs/sealed.md says. A device's own checkpoint is not: it
// lies where the app's data do. The key hides nothing from the devices, which all have
// it.
//
// # Passive replicas
//
// A client with [Config].Passive follows a run without taking part: an
// operator's witness, which reports digests and serves snapshots.
//
// # Memory
//
// In vectors of the model's size: the parameters, and each vector that the
// plan's rules replicate ([wire.Plan.Vectors]). Then, for a flat objective or one that
// evaluates, the vector that the app sees; for K > 1, the local iterate of the
// parameters and of their momentum, and with control variates the correction. While a snapshot is taken, or replayed
// at a run's end because nothing proved it, the state twice. In a dense run, the vector
// that is sent, as numbers and as bytes, and the bytes of what is fetched, which take
// memory as they come. Checkpoints are
// written without a copy. Each of [Config].Workers takes a block of 16 KiB; what a
// [objective.Streaming] or [objective.Batched] objective reads to is its own: a block, or one for each of
// the 2P or 1+P points of a step. A round allocates nothing of note once the first is
// over.
//
// # Determinism
//
// The parameters a device holds are those of package replica: the same bits as
// every other device of the run has after the same record. A device that finds
// out, from an announcement and the log, that it followed another log than the
// run's starts over from record 1.
package client
